package provisioning_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
)

// TestPreferencesCostNoMoreThanAllowed: whatever preferences seem to cost on
// paper, a whole plan costs no more for them than Options.PreferenceCost says,
// beside a plan for as many pods that follows none.
func TestPreferencesCostNoMoreThanAllowed(t *testing.T) {
	t.Parallel()
	preferred, followed := 0, 0
	seeds := lawSeeds(1_500, 300)
	late := []uint64{7811, 8357, 19745, 29965} // of 40,000: small plans, far cheaper than what was packed, or beside nodes
	for i := range seeds + uint64(len(late)) {
		seed := i
		if i >= seeds {
			seed = late[i-seeds]
		}
		c := randproblem.Config{}
		if seed%2 == 0 {
			c.Without = randproblem.All &^ (randproblem.Preferences | randproblem.Crowds | randproblem.Spread)
		}
		in, opts := richProblem(seed, c)
		opts.Preferences = provisioning.Respect
		problem := problemOf(t, in, opts)
		without, share, err := problem.SolveWithoutPreferences(context.Background())
		require.NoError(t, err)
		if without == nil {
			continue
		}
		preferred++
		plan := planOf(t, problem)
		if slices.Compare(allLeftOver(without), allLeftOver(plan)) > 0 {
			continue // nobody is left pending to save money, or for one of lower priority
		}
		price := func(p *provisioning.Plan) float64 { return p.Cost + opts.NodeFee*float64(len(p.Create)) }
		require.LessOrEqual(t, price(plan), price(without)*(1+share)*(1+1e-6), "seed %d", seed)
		if price(plan) > price(without)*1.001 {
			followed++
		}
	}
	t.Logf("%d problems with preferences worth their price, %d plans that cost more for them", preferred, followed)
	require.Greater(t, preferred, enough(50))
	if seeds > 1_000 { // one in two hundred
		require.Greater(t, followed, 5)
	}
}

// allLeftOver lists the priorities of all pods that a plan leaves over, highest first.
func allLeftOver(plan *provisioning.Plan) []int32 {
	all := map[*corev1.Pod]bool{}
	for _, u := range plan.Unplaced {
		all[u.Pod] = true
	}
	return leftOver(plan, math.MinInt32, all)
}
