package pack_test

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// lawSeeds is how many random problems a law is tried on: a fifth of those given where
// the race detector watches, which slows packing down tenfold and looks for something
// else than the laws do.
func lawSeeds(all uint64) uint64 {
	switch {
	case !testlong.On():
		return max(all/10, 20)
	case testlong.UnderRace:
		return all / 5
	}
	return all
}

// TestAgainstOptimum compares with the best of all packings. Both the cost and
// the bound are held to it: no cost is below, no bound above. How often the
// cost is the optimum, and how far it may be off, are what was measured, with a
// little room.
//
// Where limits bind, which pods to leave out matters too; the engine places as
// many as can be placed nearly always.
func TestAgainstOptimum(t *testing.T) {
	t.Parallel()
	seeds := lawSeeds(2000)
	tests := []struct {
		features
		optimal float64 // at least this share of the problems
		worst   float64 // never more than this over the optimum
		fewer   int     // at most the given number of problems with fewer pods than can be placed
	}{
		{features{}, 0.995, 1.2, 0},
		{features{pools: true}, 0.995, 1.2, 0},
		{features{minValues: true}, 0.995, 1.2, 0},
		// Two ways to place a pod are two traits: the engine takes the way that
		// it comes to first, and that may keep other pods off the node.
		{features{traits: true}, 0.99, 2, 0},
		{features{pools: true, traits: true, minValues: true}, 0.99, 1.5, 0},
		{features{limits: true}, 0.99, 1.5, 50},
		{features{pools: true, traits: true, minValues: true, limits: true}, 0.99, 1.5, 30},
	}
	for _, tt := range tests {
		t.Run(tt.String(), func(t *testing.T) {
			optimal, total, fewer, worst := 0, 0, 0, 1.0
			for seed := range seeds {
				p := tiny(seed, tt.features)
				r := solve(t, p)
				o := newOracle(p)
				placed := o.placed(r)
				least, got := o.least(placed), cost(r)
				require.GreaterOrEqual(t, got, least*(1-1e-9), "seed %d: cheaper than the optimum\n%s", seed, describe(p))
				require.LessOrEqual(t, r.Bound, least*(1+1e-9), "seed %d: the bound is above the optimum\n%s", seed, describe(p))
				if placed != 0 {
					total++
					if got <= least*(1+1e-9) {
						optimal++
					} else {
						worst = max(worst, got/least)
					}
				}
				if bits.OnesCount(uint(placed)) < o.most() {
					fewer++
				}
			}
			t.Logf("%d of %d optimal, worst %.3f, %d with fewer pods", optimal, total, worst, fewer)
			require.Greater(t, total, int(seeds/2))
			require.GreaterOrEqual(t, float64(optimal), tt.optimal*float64(total))
			require.LessOrEqual(t, worst, tt.worst)
			require.LessOrEqual(t, fewer, tt.fewer)
		})
	}
}

// TestRandomProblemsObeyTheRules has the referee look at every mix of features,
// in sizes from tiny to a few hundred pods.
func TestRandomProblemsObeyTheRules(t *testing.T) {
	t.Parallel()
	for i, f := range everySet() {
		t.Run(f.String(), func(t *testing.T) {
			for seed := range lawSeeds(60) {
				solve(t, tiny(seed, f))
			}
			if !testlong.On() && i%4 != 1 {
				return
			}
			for seed := range uint64(testlong.Seeds(1, 6)) {
				solve(t, random(seed, f, 30, 40, 2))
				solve(t, random(seed, f, 60, 400, 10))
			}
		})
	}
}

// TestFewSteps shows that a search cut short leaves nobody out.
func TestFewSteps(t *testing.T) {
	for _, maxSteps := range []int{-1, 0, 1, 2, 10} {
		for seed := range uint64(100) {
			solveWithin(t, tiny(seed, features{pools: true, traits: true, minValues: true}), maxSteps)
		}
		r := solveWithin(t, generic(1, 300, 30, 100), maxSteps)
		require.Zero(t, left(r))
	}
}

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

// TestGap holds the gap between cost and bound on a market like that of a cloud
// to what it was measured to be, with a little room.
func TestGap(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	tests := []struct {
		pods        int
		worst, mean float64
	}{
		{100, 0.08, 0.05}, {1000, 0.02, 0.01}, {5000, 0.02, 0.01},
	}
	for _, tt := range tests {
		worst, total := 0.0, 0.0
		seeds := testlong.Seeds(5, 10)
		for seed := range uint64(seeds) {
			p := generic(seed, tt.pods, 50, 700)
			r := solve(t, p)
			require.Zero(t, left(r))
			gap := cost(r)/r.Bound - 1
			worst, total = max(worst, gap), total+gap
		}
		t.Logf("%d pods: worst gap %.4f, mean %.4f", tt.pods, worst, total/float64(seeds))
		require.LessOrEqual(t, worst, tt.worst, "%d pods", tt.pods)
		require.LessOrEqual(t, total/float64(seeds), tt.mean, "%d pods", tt.pods)
	}
}

// TestManyClasses has pods of which no two are alike: nothing can be done for
// many at once.
func TestManyClasses(t *testing.T) {
	r := solve(t, diverse(1, 5000, 200))
	require.Zero(t, left(r))
	require.Less(t, cost(r), 1.02*r.Bound)
	t.Logf("gap %.4f in %d steps", cost(r)/r.Bound-1, r.Steps)
}

// TestQuickIsNotCheaper shows that the search of a problem includes that of its coarse
// version: where it stops before, it is near the bound.
func TestQuickIsNotCheaper(t *testing.T) {
	cheaper, apart := 0, pack.Rule{Kind: pack.Apart}
	for seed := range uint64(5) {
		p := diverse(seed, 150, 80)
		p.Rules = []pack.Rule{apart}
		for c := 0; c < len(p.Classes); c += 4 {
			p.Classes[c].Memberships = []pack.Membership{{Rule: 0, Owners: 1, Members: 1, Both: 1}}
		}
		quick := *p
		quick.Coarse, quick.NoBound = true, true
		coarse, err := pack.New(&quick).Solve(t.Context(), 1)
		require.NoError(t, err)
		full := solve(t, p)
		require.Zero(t, left(full)+left(coarse))
		if cost(coarse) > cost(full)*(1+1e-5) {
			cheaper++
		}
		require.LessOrEqual(t, cost(full), max(cost(coarse), full.Bound*1.015)*(1+1e-5), "seed %d", seed)
	}
	t.Logf("a full search is cheaper for %d", cheaper)
	require.Greater(t, cheaper, 2)
}
