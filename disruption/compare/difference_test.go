package compare_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
)

// seeds is how many clusters a law looks at by default, in the long run, and at all; under
// the race detector a fifth of those by default, four at least: as many sides at once as are
// of use.
func seeds(few, many, all int) int {
	switch {
	case testlong.UnderRace:
		return max(4, few/5)
	case testlong.All():
		return all
	}
	return testlong.Seeds(few, many)
}

// TestLawSameIsNoDifference: a side compared with itself, its lists in another order, has
// no difference, and comes to rest at a cost no higher than today's.
func TestLawSameIsNoDifference(t *testing.T) {
	t.Parallel()
	rounds, saved := 0, 0
	for seed := range uint64(seeds(6, 80, 300)) {
		s := random(seed)
		c, err := compare.Compare(t.Context(), noon, s, shuffled(s, seed), &compare.Options{Parallel: 1 + int(seed%4)})
		require.NoError(t, err, "seed %d", seed)
		require.Empty(t, c.Differences, "seed %d", seed)
		require.True(t, c.Old.Settled.Rested, "seed %d: %s", seed, c.Old.Settled.Why)
		atLeast, atMost := c.FreshChange()
		require.LessOrEqual(t, atLeast, 1e-9, "seed %d", seed)
		require.GreaterOrEqual(t, atMost, -1e-9, "seed %d", seed)
		rounds += len(c.Old.Settled.Rounds)
		if c.Old.Settled.Bill.Cost < c.Old.Settled.Today.Cost-1e-9 {
			saved++
		}
		if len(s.Input.Pods) == 0 { // nodes for pods that wait are not there today
			require.LessOrEqual(t, c.Old.Settled.Bill.Cost, c.Old.Settled.Today.Cost+1e-9, "seed %d", seed)
		}
	}
	t.Logf("%d rounds, %d clusters are cheaper at rest", rounds, saved)
	require.Positive(t, saved)
}

// TestLawAdviceIsWhatCompareFinds: the saving that advice names is what the bill from empty
// is less when the change is made, on the cluster as it runs.
func TestLawAdviceIsWhatCompareFinds(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	prices := 0
	for seed := range uint64(seeds(8, 67, 200)) {
		s := random(seed)
		empty, err := compare.Emptied(noon, s)
		require.NoError(t, err)
		r, err := advice.Ask(t.Context(), empty.Input, &advice.Options{Questions: 5})
		require.NoError(t, err)
		before, err := compare.FromEmpty(t.Context(), noon, s)
		require.NoError(t, err)
		require.InDelta(t, before.Cost, r.Cost, 1e-9, "seed %d", seed)
		for _, list := range [][]advice.Price{r.Prices, r.Pairs, r.Requests} {
			for _, p := range list {
				after := s
				for _, c := range p.Constraints {
					after.Input.Input = c.Without(after.Input.Input)
				}
				fresh, err := compare.FromEmpty(t.Context(), noon, after)
				require.NoError(t, err)
				require.InDelta(t, p.Saves, before.Cost-fresh.Cost, 1e-9, "seed %d: %s", seed, p)
				require.LessOrEqual(t, len(fresh.Plan.Unplaced), len(before.Plan.Unplaced), "seed %d: %s", seed, p)
				prices++
			}
		}
	}
	t.Logf("%d prices", prices)
	require.Greater(t, prices, seeds(26, 100, 100))
}
