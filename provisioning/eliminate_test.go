package provisioning_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestClosedNodesSaveMoney: a plan with nodes taken out of it is cheaper, valid, and
// leaves no pod over that had a place.
func TestClosedNodesSaveMoney(t *testing.T) {
	t.Parallel()
	closed, saved, before := 0, 0.0, 0.0
	for seed := range lawSeeds(1_500, 300) {
		c := randproblem.Config{}
		if seed%2 == 0 {
			c.Without = randproblem.All &^ (randproblem.Crowds | randproblem.Spread | randproblem.Affinity)
		}
		in, opts := richProblem(seed, c)
		problem := problemOf(t, in, opts)
		with, without, err := problem.SolveOnce(context.Background())
		require.NoError(t, err)
		price := func(p *provisioning.Plan) float64 { return p.Cost + opts.NodeFee*float64(len(p.Create)) }
		before += price(without)
		waits := map[*corev1.Pod]bool{}
		for _, u := range without.Unplaced {
			waits[u.Pod] = true
		}
		for _, u := range with.Unplaced {
			require.True(t, waits[u.Pod], "seed %d: %s/%s", seed, u.Pod.Namespace, u.Pod.Name)
		}
		if price(with) == price(without) {
			continue
		}
		closed++
		saved += price(without) - price(with)
		require.Empty(t, verify.Plan(in, with, opts), "seed %d", seed)
		if len(with.Unplaced) == len(without.Unplaced) {
			require.Less(t, price(with), price(without), "seed %d", seed)
		}
	}
	t.Logf("%d plans are cheaper, by %.1f%% of all", closed, 100*saved/before)
	require.Greater(t, closed, enough(20))
}

// TestNodesAreEmptiedThoughNoLighterOneHasRoom: where nothing was chosen before packing, or a
// node has just gone, the walk over nodes with lighter ones in sight is the only one.
func TestNodesAreEmptiedThoughNoLighterOneHasRoom(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	for seed, cost := range map[uint64]float64{627: 6.9326, 847: 0.3515} {
		in, opts := richProblem(seed, everything)
		opts.Kubernetes = "1.37"
		plan := solved(t, in, opts)
		require.LessOrEqual(t, plan.Cost, cost, "seed %d", seed)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
	}
}

// TestPodsKeepTheirTurnInTheirDomain: a pod that a topology spread let in before others came
// to its domain moves within that domain, so that nodes are emptied which need not be there;
// and only after what needs no such turn, which would not be found any more.
func TestPodsKeepTheirTurnInTheirDomain(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	asCheap := 0
	for seed, cost := range map[uint64]float64{883: 1.5361, 1216: 0.6401, 2721: 3.4241, 2849: 1, 3982: 0.0101, 2585: 0.9334, 2680: 6.3892, 3085: 0.7843, 3755: 0.3313} {
		in, opts := richProblem(seed, everything)
		opts.Kubernetes = "1.37"
		plan := solved(t, in, opts)
		if plan.Cost <= cost {
			asCheap++
		}
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
	}
	require.GreaterOrEqual(t, asCheap, 7, "of 9")
}
