package pack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

func TestMinValues(t *testing.T) {
	// Four options of growing size; each shows a value of its own.
	values := [][]int32{{0}, {1}, {2}, {3}}
	problem := func(need int, bestEffort bool) *pack.Problem {
		p := shop([2]float64{1, 10}, [2]float64{2, 20}, [2]float64{3, 30}, [2]float64{4, 40})
		p.Pools[0].MinValues = []pack.MinValue{{Need: need, Count: 4, Values: values}}
		p.Pools[0].BestEffort = bestEffort
		add(p, 10, 4)
		for c := range p.Classes {
			keepMinValues(p, p.Classes[c].Variants[0])
		}
		return p
	}
	for need := range 5 {
		r := solve(t, problem(need, false))
		require.Zero(t, left(r), "need %d", need)
		for _, l := range r.New {
			require.GreaterOrEqual(t, l.Options.Len(), need)
		}
	}
	require.Equal(t, 4, left(solve(t, problem(5, false))), "more is asked than there is")

	r := solve(t, problem(5, true))
	require.Zero(t, left(r))
	for _, l := range r.New {
		require.True(t, l.Relaxed)
		require.Equal(t, 4, l.Options.Len(), "no lower than it has to be")
	}

	// Pods that take the largest option leave one value.
	p := problem(3, true)
	add(p, 35, 1)
	r = solve(t, p)
	require.Zero(t, left(r))
	for _, l := range r.New {
		large := slices.ContainsFunc(l.Shares, func(s pack.Share) bool { return s.Class == 1 })
		require.Equal(t, large, l.Relaxed)
	}
}

func TestMinValuesWithinLimits(t *testing.T) {
	p := shop([2]float64{1, 10}, [2]float64{2, 20}, [2]float64{3, 30})
	p.Pools[0].MinValues = []pack.MinValue{{Need: 2, Count: 3, Values: [][]int32{{0}, {1}, {2}}}}
	p.Pools[0].Limits = []int64{40}
	p.Pools[0].Uses = [][]int64{{10}, {20}, {30}}
	add(p, 10, 3)
	r := solve(t, p)
	require.Equal(t, 1, left(r), "each node names two options, and may become the larger")
}
