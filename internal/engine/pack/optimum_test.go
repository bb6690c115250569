package pack_test

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

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
