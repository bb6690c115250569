package pack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// perfect cuts the given number of full nodes into two to seven pods each. No packing is
// cheaper than to put them together again: nothing sells any resource for less
// than the nodes cut up do.
func perfect(seed uint64, nodes int) (p *pack.Problem, optimum float64) {
	rng := splitmix(seed)
	const size = 1000
	p = &pack.Problem{Dims: 2, Options: []pack.Option{
		{Price: 0.6, Capacity: []int64{size / 2, size / 2}},
		{Price: 1, Capacity: []int64{size, size}},
		{Price: 1.1, Capacity: []int64{size, size + 100}},
		{Price: 2.1, Capacity: []int64{2 * size, 2 * size}},
	}}
	p.Pools = []pack.Pool{{First: 0, Last: len(p.Options)}}
	seen := map[[2]int64]int{}
	for range nodes {
		n := rng.between(2, 7)
		cpu, memory := cut(&rng, size, n), cut(&rng, size, n)
		for i := range n {
			request := [2]int64{cpu[i], memory[i]}
			if _, ok := seen[request]; !ok {
				seen[request] = len(p.Classes)
				p.Classes = append(p.Classes, open(p, request[:], 0))
			}
			p.Classes[seen[request]].Count++
		}
	}
	return p, float64(nodes)
}

// cut cuts a length into n pieces of whole tenths or hundredths.
func cut(rng *splitmix, length, n int) []int64 {
	unit := purchaseOf(rng, []int{length / 20, length / 100})
	marks := []int{0, length}
	for len(marks) <= n {
		if m := unit * rng.between(1, length/unit-1); !slices.Contains(marks, m) {
			marks = append(marks, m)
		}
	}
	slices.Sort(marks)
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(marks[i+1] - marks[i])
	}
	return out
}

// TestPerfectPackings has problems that are hard to pack and too large to try
// everything, and whose optimum is known all the same.
func TestPerfectPackings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		nodes       int
		worst, mean float64 // of cost over optimum, less one
	}{
		{2, 0.2, 0.05}, {5, 0.2, 0.08}, {20, 0.1, 0.06}, {60, 0.08, 0.05},
	}
	for _, tt := range tests {
		worst, total := 0.0, 0.0
		seeds := testlong.Seeds(6, 30)
		for seed := range uint64(seeds) {
			p, optimum := perfect(seed, tt.nodes)
			r := solve(t, p)
			require.Zero(t, left(r))
			require.LessOrEqual(t, r.Bound, optimum, "seed %d: the bound is above the optimum", seed)
			require.GreaterOrEqual(t, r.Bound, optimum*(1-1e-5), "seed %d: fractions of nodes would do", seed)
			require.GreaterOrEqual(t, cost(r), optimum*(1-1e-9), "seed %d: cheaper than the optimum", seed)
			gap := cost(r)/optimum - 1
			worst, total = max(worst, gap), total+gap
		}
		t.Logf("%d nodes: worst %.3f, mean %.3f", tt.nodes, worst, total/float64(seeds))
		require.LessOrEqual(t, worst, tt.worst, "%d nodes", tt.nodes)
		require.LessOrEqual(t, total/float64(seeds), tt.mean, "%d nodes", tt.nodes)
	}
}
