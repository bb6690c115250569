package verify_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// solved returns the plan of an input without faults; where is said with an error.
func solved(t testing.TB, in provisioning.Input, opts *provisioning.Options, where ...any) *provisioning.Plan {
	t.Helper()
	plan, err := provisioning.Solve(context.Background(), in, opts)
	require.NoError(t, err, where...)
	return plan
}

// lawSeeds is how many random problems a law is tried on: by default, and under the race
// detector, a third of some.
func lawSeeds(all, some int) uint64 {
	if testlong.UnderRace || !testlong.On() {
		return uint64(some / 3)
	}
	return testlong.Problems(all, some)
}

// enough is how many cases of a kind a law must have met to say something: a quarter of them
// where it looks at a few seeds.
func enough(n int) int {
	if testlong.UnderRace || !testlong.On() {
		return n / 4
	}
	return n
}

// TestAcceptsSolver holds every plan of Solve against Plan, and every
// pod it left pending against Unplaced. Where rules between pods meet
// limits, or a NodeClaim that has not decided on its zone, the solver stays on
// the safe side and overlooks a place in about one problem of some thousands;
// without such rules it overlooks none.
func TestAcceptsSolver(t *testing.T) {
	t.Parallel()
	seeds := lawSeeds(10_000, 1_000)
	var cautious []uint64
	for seed := range seeds {
		in, opts := randproblem.New(seed), scenes.VaryOptions(seed)
		plan := solved(t, in, opts, "seed %d", seed)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		overlooked := verify.Unplaced(in, plan, opts)
		if len(overlooked) > 0 && slices.ContainsFunc(scenes.EveryPod(in), scenes.Picky) {
			cautious = append(cautious, seed)
			continue
		}
		require.Empty(t, overlooked, "seed %d", seed)
	}
	require.LessOrEqual(t, len(cautious), int(seeds/1000), "seeds %v", cautious)
}

// unlaunched says whether a node is a NodeClaim that no machine stands for yet.
func unlaunched(n provisioning.Node) bool {
	return n.Node == nil && n.NodeClaim != nil && n.NodeClaim.Status.ProviderID == ""
}

// TestUnplacedFindsAbandonedPods takes pods out of the places that Solve
// found for them. Where they came from there is a place.
func TestUnplacedFindsAbandonedPods(t *testing.T) {
	t.Parallel()
	abandoned := 0
	for seed := range lawSeeds(1_500, 400) {
		in := randproblem.New(seed)
		plan := solved(t, in, nil)
		// A pod that others keep out later, or that minds others, need not have its
		// place still when all are there.
		if slices.ContainsFunc(scenes.EveryPod(in), scenes.Repels) {
			continue
		}
		for i, b := range plan.Bind {
			node := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == b.Node })
			if scenes.Picky(b.Pods[0]) || unlaunched(in.Nodes[node]) && b.Pods[0].Spec.Affinity != nil {
				continue // labels that are not known yet make no place certain
			}
			broke := clonePlan(plan)
			broke.Bind[i].Pods = b.Pods[1:]
			(&mutant{in: in, plan: broke}).reorder()
			requireOverlooked(t, in, broke, b.Pods[0], seed)
			abandoned++
		}
		for i, n := range plan.Create {
			if len(n.Pods) > 1 || len(n.Pool.Spec.Limits) > 0 || n.Options[0].Offering.ReservationID != "" || demandsValues(n.Pool) {
				continue // it need not have a place that is certain
			}
			if scenes.Picky(n.Pods[0]) || slices.ContainsFunc(in.Pods, scenes.Spreads) {
				continue // a node more may be a domain more
			}
			broke := clonePlan(plan)
			broke.Create = slices.Delete(broke.Create, i, i+1)
			(&mutant{in: in, plan: broke}).reorder()
			requireOverlooked(t, in, broke, n.Pods[0], seed)
			abandoned++
		}
	}
	require.Greater(t, abandoned, enough(300))
}

// demandsValues says whether a pool sets minValues. A pod with alternatives may
// meet those only by several of them together.
func demandsValues(pool *v1.NodePool) bool {
	return slices.ContainsFunc(pool.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool {
		return r.MinValues != nil
	})
}

func requireOverlooked(t *testing.T, in provisioning.Input, plan *provisioning.Plan, pod *corev1.Pod, seed uint64) {
	t.Helper()
	reason := &provisioning.Explanation{Cause: provisioning.CauseNodePools}
	plan.Unplaced = append(plan.Unplaced, provisioning.Unplaced{Pod: pod, Explanation: reason})
	// Pods that waited for its room may be found as well.
	found := verify.Unplaced(in, plan, nil)
	require.True(t, slices.ContainsFunc(found, func(v verify.Violation) bool {
		return v.Rule == verify.RuleOverlooked && v.Pod == pod.Namespace+"/"+pod.Name
	}), "seed %d: pod %s is not found: %v", seed, pod.Name, found)
}

// TestDoesNotDependOnSharing judges plans, sound and broken, whose nodes
// share no memory with each other or the catalog, as if they came from a file.
func TestDoesNotDependOnSharing(t *testing.T) {
	t.Parallel()
	broke := 0
	table := slices.DeleteFunc(plantedFaults(), func(f plantedFault) bool { return f.from != nil })
	for seed := range lawSeeds(1_000, 200) {
		in := randproblem.New(seed)
		plan := solved(t, in, nil)
		rng := rand.New(rand.NewPCG(seed, 2))
		m := &mutant{rng, in, clonePlan(plan), nil}
		if seed%4 > 0 {
			table[rng.IntN(len(table))].plant(m)
		}
		found := verify.Plan(m.in, m.plan, m.opts)
		if len(found) > 0 {
			broke++
		}
		copied := clonePlan(m.plan)
		for i := range copied.Create {
			n := &copied.Create[i]
			for j, option := range n.Options {
				offering := *option.Offering
				n.Options[j] = cloudprovider.LaunchOption{InstanceType: option.InstanceType.Clone(), Offering: &offering}
			}
			n.Requirements = requirements.MustParse(n.Requirements.String())
		}
		require.Equal(t, found, verify.Plan(m.in, copied, m.opts), "seed %d", seed)
	}
	require.Greater(t, broke, enough(50))
}

// TestMemory looks for what is kept for each option of each node, which
// would be gigabytes here.
func TestMemory(t *testing.T) {
	testlong.Alone(t)
	in := scenes.Generic(5000, 700)
	plan := solved(t, in, nil)
	unshare(plan)
	// What a sold-out type is to blame for makes for the longest way round.
	for i := range in.InstanceTypes["default"][0].Offerings {
		in.InstanceTypes["default"][0].Offerings[i].Available = false
	}
	options := 0
	for _, n := range plan.Create {
		options += len(n.Options)
	}
	require.Greater(t, options, 500_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	verify.Plan(in, plan, nil)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// TestIsRepeatable judges broken plans twice: the words must not depend
// on the order of maps.
func TestIsRepeatable(t *testing.T) {
	for seed := range lawSeeds(300, 100) {
		in, other := randproblem.New(seed), randproblem.New(seed+1)
		plan := solved(t, other, nil)
		// The plan is for another problem, so nearly all of it is wrong.
		found := verify.Plan(in, plan, nil)
		require.Equal(t, found, verify.Plan(in, plan, nil), "seed %d", seed)
		require.Equal(t, verify.Unplaced(in, plan, nil), verify.Unplaced(in, plan, nil), "seed %d", seed)
		require.True(t, len(found) > 0 || len(in.Pods)+len(other.Pods) == 0, "seed %d", seed)
	}
}

// unshare gives each new node a list of options of its own.
func unshare(plan *provisioning.Plan) {
	for i := range plan.Create {
		plan.Create[i].Options = slices.Clone(plan.Create[i].Options)
	}
}
