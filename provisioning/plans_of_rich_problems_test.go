package provisioning_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// everything is problems in which all features meet.
var everything = randproblem.Config{}

func richProblem(seed uint64, c randproblem.Config) (provisioning.Input, *provisioning.Options) {
	return randproblem.Draw(seed, c), randproblem.DrawOptions(seed, c)
}

// TestRichLawPlans: of problems with constraints between pods, ports, volumes, buffers and
// all else, the referee finds nothing wrong with the plans, whoever stays pending has no
// place in them, and every pod has one fate; the order of lists means nothing, nor do bounds,
// nor whether a problem is solved again or at the same time. Each problem is solved once for
// all that is asked about its plan.
func TestRichLawPlans(t *testing.T) {
	t.Parallel()
	var bad faultyPlans
	left := overlooked{pods: map[string]bool{}}
	for seed := range lawSeeds(4_000, 200) {
		in, opts := richProblem(seed, everything)
		plan := solved(t, in, opts)
		bad.judge(seed, verify.Plan(in, plan, opts))
		if seed < lawSeeds(2_000, 60) {
			left.judge(t, seed, in, plan, opts)
		}
		if seed < lawSeeds(800, 200) {
			requireAccounts(t, seed, in, plan)
		}
		if seed < lawSeeds(600, 40) {
			requireNoOrder(t, seed, plan)
		}
		if seed < lawSeeds(300, 60) {
			requireRepeatable(t, seed, in, opts, plan)
		}
		if seed < lawSeeds(300, 100) {
			requireNoBoundsNeeded(t, seed, in, opts, plan)
		}
	}
	bad.require(t)
	left.require(t)
}

// TestRichLawHardSeeds holds plans of problems that once went wrong, and that the
// first thousands do not show: groups of which each wants to be the first of its
// kind, limits over nodes that pods look at which they cannot use, and nodes that
// come to be counted, or to be in another zone, for the sake of one pod more.
func TestRichLawHardSeeds(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	hard := []uint64{5850, 13806, 15451, 23699, 28683, 29114, 33079, 33616, 38140, 42806, 48626}
	for _, seed := range hard[:testlong.Seeds(4, len(hard))] {
		in, opts := richProblem(seed, everything)
		require.Empty(t, verify.Plan(in, solved(t, in, opts), opts), "seed %d", seed)
	}
}

// TestRichLawNobodyOverlookedOnHardSeeds: pods were left over on these for whom there
// was a place, as a node on its way out counted as empty, SpotFlexibility kept new
// nodes away, a group was taken for one step of a spread, or it was open which new
// nodes a spread looks at, and where.
func TestRichLawNobodyOverlookedOnHardSeeds(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	hard := []uint64{6326, 303, 1076, 1356, 1361, 2363, 2882, 3434, 5004, 7062, 7394, 7419, 8228, 12512, 12953}
	for _, seed := range hard[:testlong.Seeds(5, len(hard))] {
		in, opts := richProblem(seed, everything)
		require.Empty(t, verify.Unplaced(in, solved(t, in, opts), opts), "seed %d", seed)
	}
}

// overlookedShare is how many of the pods left pending may have a place after
// all. Where it is open which nodes a topology spread looks at, the solver is
// more careful than it would have to be.
const overlookedShare = 0.0005

// overlooked are pods left pending for whom there is a place after all.
type overlooked struct {
	pending int
	pods    map[string]bool
}

func (o *overlooked) judge(t *testing.T, seed uint64, in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) {
	t.Helper()
	o.pending += len(plan.Unplaced)
	for _, v := range verify.Unplaced(in, plan, opts) {
		require.Equal(t, verify.RuleOverlooked, v.Rule, "seed %d: %s", seed, v)
		o.pods[fmt.Sprint(seed, " ", v.Pod)] = true
	}
}

func (o *overlooked) require(t *testing.T) {
	t.Helper()
	allowed := max(1, overlookedShare*float64(o.pending))
	require.LessOrEqual(t, float64(len(o.pods)), allowed, "of %d pending: %v", o.pending, slices.Sorted(maps.Keys(o.pods)))
}

// faultyPlans are those that the referee refuses.
type faultyPlans []string

func (f *faultyPlans) judge(seed uint64, found []verify.Violation) {
	if len(found) > 0 {
		*f = append(*f, fmt.Sprintf("seed %d: %s", seed, found[0]))
	}
}

// require names the first few that are at fault.
func (f faultyPlans) require(t *testing.T) {
	t.Helper()
	const shown = 5
	require.Empty(t, f[:min(len(f), shown)], "%d seeds in all", len(f))
}

// TestRichLawByFeature: each feature alone, where what goes wrong is easier to
// find.
func TestRichLawByFeature(t *testing.T) {
	t.Parallel()
	features := map[string]randproblem.Feature{
		"spread": randproblem.Spread | randproblem.Places, "affinity": randproblem.Affinity, "ports": randproblem.Ports,
		"volumes": randproblem.Volumes, "buffers": randproblem.Buffers, "static": randproblem.Static,
		"priorities": randproblem.Priorities, "overlays": randproblem.Overlays, "defaults": randproblem.Defaults,
		"preferences": randproblem.Preferences, "reservations": randproblem.Reservations, "outsiders": randproblem.Outsiders,
	}
	for name, feature := range features {
		t.Run(name, func(t *testing.T) {
			c := randproblem.Config{Without: randproblem.All &^ (feature | randproblem.Crowds)}
			var bad faultyPlans
			left := overlooked{pods: map[string]bool{}}
			for seed := range lawSeeds(250, 14) {
				in, opts := richProblem(seed, c)
				plan := solved(t, in, opts)
				bad.judge(seed, verify.Plan(in, plan, opts))
				left.judge(t, seed, in, plan, opts)
			}
			bad.require(t)
			left.require(t)
		})
	}
}

// TestRichLawSpot: plans keep to CapacityMix and SpotFlexibility, whatever else
// there is, in far more problems than draw those options by themselves.
func TestRichLawSpot(t *testing.T) {
	t.Parallel()
	for seed := range lawSeeds(1_000, 60) {
		c := randproblem.Config{}
		if seed%2 == 0 {
			c.Without = randproblem.All &^ (randproblem.Crowds | randproblem.Spread | randproblem.Affinity | randproblem.Ports)
		}
		in, opts := richProblem(seed, c)
		if seed%3 != 0 {
			opts.CapacityMix = &provisioning.CapacityMix{OnDemandBase: int(seed % 3), OnDemandPercent: int(seed/3%4) * 25}
		}
		if seed%3 != 1 {
			opts.SpotFlexibility = 2 + int(seed%2)
		}
		require.Empty(t, verify.Plan(in, solved(t, in, opts), opts), "seed %d", seed)
	}
}

// requireNoOrder: the order of lists means nothing.
func requireNoOrder(t *testing.T, seed uint64, want *provisioning.Plan) {
	t.Helper()
	other, opts := richProblem(seed, everything)
	shuffle(&other, seed, false)
	shuffleRich(&other, seed)
	require.Equal(t, want, solved(t, other, opts), "seed %d", seed)
}

// requireNoBoundsNeeded: without the proof of bounds a plan is the same in all else.
func requireNoBoundsNeeded(t *testing.T, seed uint64, in provisioning.Input, opts *provisioning.Options, plan *provisioning.Plan) {
	t.Helper()
	want, without := *plan, *opts
	want.LowerBound, want.PackingBound, want.ObjectiveBound = 0, 0, 0
	without.NoBounds = true
	require.Equal(t, &want, solved(t, in, &without), "seed %d", seed)
}

// shuffleRich mixes the lists that shuffle leaves alone.
func shuffleRich(in *provisioning.Input, seed uint64) {
	r := &shuffler{state: seed}
	mix(r, in.Namespaces)
	mix(r, in.Overlays)
	mix(r, in.Buffers)
	mix(r, in.Services)
	mix(r, in.Controllers)
	mix(r, in.Volumes.Claims)
	mix(r, in.Volumes.Volumes)
	mix(r, in.Volumes.Classes)
	mix(r, in.Volumes.CSINodes)
	mix(r, in.Volumes.CSIDrivers)
	mix(r, in.Volumes.CSIStorageCapacities)
	mix(r, in.Volumes.VolumeAttachments)
	mix(r, in.Devices.Claims)
	mix(r, in.Devices.Templates)
	mix(r, in.Devices.Classes)
	mix(r, in.Devices.Slices)
}

// requireRepeatable: solving again, or at the same time, gives an equal plan, and nothing
// that the input points at is written to, by that or by using the plan.
func requireRepeatable(t *testing.T, seed uint64, in provisioning.Input, opts *provisioning.Options, want *provisioning.Plan) {
	t.Helper()
	problem, err := provisioning.Prepare(in, opts)
	require.NoError(t, err, "seed %d", seed)
	plans := make([]*provisioning.Plan, 3)
	errs := make([]error, len(plans))
	var wg sync.WaitGroup
	for i := range plans {
		wg.Go(func() { plans[i], errs[i] = problem.Solve(context.Background()) })
	}
	wg.Wait()
	for i := range plans {
		require.NoError(t, errs[i])
		require.Equal(t, want, plans[i], "seed %d, solve %d", seed, i)
	}
	for i := range plans[0].Create {
		plans[0].Create[i].NodeClaim().Labels["written"] = "yes"
		plans[0].Create[i].Request("token")
	}
	untouched, _ := richProblem(seed, everything)
	require.True(t, reflect.DeepEqual(untouched, in), "seed %d: the input was changed", seed)
}

// requireAccounts: every pod has one fate, Order names those with a place, and reasons are
// words fit to be shown.
func requireAccounts(t *testing.T, seed uint64, in provisioning.Input, plan *provisioning.Plan) {
	t.Helper()
	fates := map[*corev1.Pod]int{}
	placed := 0
	for _, n := range plan.Create {
		placed += len(n.Pods)
		count(fates, n.Pods)
	}
	for _, b := range plan.Bind {
		placed += len(b.Pods)
		count(fates, b.Pods)
	}
	for _, s := range plan.Static {
		require.LessOrEqual(t, len(s.Pods), s.Missing, "seed %d", seed)
		for _, pods := range s.Pods {
			placed += len(pods)
			count(fates, pods)
		}
	}
	require.Len(t, plan.Order, placed, "seed %d", seed)
	for _, u := range plan.Unplaced {
		fates[u.Pod]++
		require.NotEmpty(t, u.Explanation.Cause, "seed %d", seed)
		checkWords(t, u.Explanation.String(), seed)
	}
	for _, pod := range in.Pods {
		require.Equal(t, 1, fates[pod], "seed %d: pod %s/%s", seed, pod.Namespace, pod.Name)
	}
	for _, b := range plan.Buffers {
		if b.Unplaced > 0 {
			checkWords(t, b.Explanation.String(), seed)
		}
	}
}

func count(fates map[*corev1.Pod]int, pods []*corev1.Pod) {
	for _, pod := range pods {
		fates[pod]++
	}
}

// checkWords wants a line of text without traces of bad formatting.
func checkWords(t *testing.T, text string, seed uint64) {
	t.Helper()
	require.NotEmpty(t, text, "seed %d", seed)
	for _, trace := range []string{"\n", "%!", "<nil>", "  ", ": :"} {
		require.NotContains(t, text, trace, "seed %d", seed)
	}
	require.False(t, strings.HasSuffix(text, ";") || strings.HasSuffix(text, ": "), "seed %d: %q", seed, text)
}

// TestRichLawFreedom: a pod that has a place keeps having one if the pods no
// longer mind each other. Limits and reservations are left out, as with these
// one pod's place may be another's loss; so are volumes, where pods that share a
// claim wait for each other.
func TestRichLawFreedom(t *testing.T) {
	t.Parallel()
	c := randproblem.Config{Without: randproblem.Reservations | randproblem.Static | randproblem.Overlays | randproblem.Volumes |
		randproblem.Buffers | randproblem.Preferences | randproblem.Defaults}
	freed := 0
	for seed := range lawSeeds(800, 200) {
		in, opts := richProblem(seed, c)
		for _, pool := range in.NodePools {
			pool.Spec.Limits = nil
		}
		bound := whereabouts(solved(t, in, opts))
		for _, pod := range slices.Concat(in.Pods, boundPods(in)) {
			setFree(pod)
		}
		free := whereabouts(solved(t, in, opts))
		for pod, where := range bound {
			if where != "pending" && free[pod] == "pending" && !wantsExisting(in, where) {
				t.Fatalf("seed %d: pod %s is on %s with constraints, and pending without", seed, pod, where)
			}
			if where == "pending" && free[pod] != "pending" {
				freed++
			}
		}
	}
	require.Greater(t, freed, enough(100))
}

func boundPods(in provisioning.Input) []*corev1.Pod {
	var out []*corev1.Pod
	for _, n := range in.Nodes {
		out = append(out, n.Pods...)
	}
	return out
}

// wantsExisting says whether a place is on a node that exists, where others may
// be first.
func wantsExisting(in provisioning.Input, where string) bool {
	return slices.ContainsFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == where })
}

// setFree takes the constraints towards other pods off a pod.
func setFree(pod *corev1.Pod) {
	pod.Spec.TopologySpreadConstraints = nil
	if a := pod.Spec.Affinity; a != nil {
		a.PodAffinity, a.PodAntiAffinity = nil, nil
	}
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].Ports = nil
	}
}

// TestRichLawBound: constraints between pods never make a plan cheaper than
// what is proven to be the least without them. A CapacityMix is left out, as it
// goes by which pods are alike.
func TestRichLawBound(t *testing.T) {
	t.Parallel()
	c := randproblem.Config{Without: randproblem.All &^ (randproblem.Crowds | randproblem.Spread | randproblem.Affinity | randproblem.Ports)}
	compared, dearer := 0, 0
	for seed := range lawSeeds(1_500, 400) {
		in, opts := richProblem(seed, c)
		in.Nodes, opts.CapacityMix = nil, nil
		for _, pool := range in.NodePools {
			pool.Spec.Limits, pool.Spec.Weight = nil, nil
		}
		tied := solved(t, in, opts)
		for _, pod := range in.Pods {
			setFree(pod)
		}
		free := solved(t, in, opts)
		require.GreaterOrEqual(t, tied.Cost*(1+1e-9), tied.LowerBound, "seed %d", seed)
		if !slices.Equal(left(tied), left(free)) || free.Cost == 0 {
			continue
		}
		compared++
		require.GreaterOrEqual(t, tied.Cost*(1+1e-9), free.LowerBound, "seed %d", seed)
		if tied.Cost > free.Cost {
			dearer++
		}
	}
	require.Greater(t, compared, enough(100))
	require.Greater(t, dearer, enough(20))
}

// left lists the pods without a place.
func left(plan *provisioning.Plan) []*corev1.Pod {
	var out []*corev1.Pod
	for _, u := range plan.Unplaced {
		out = append(out, u.Pod)
	}
	return out
}

// honor has topology spreads look at the taints of nodes: otherwise they cover the domains of
// pools whose taint no pod tolerates.
func honor(spreads []corev1.TopologySpreadConstraint) {
	policy := corev1.NodeInclusionPolicyHonor
	for i := range spreads {
		spreads[i].NodeTaintsPolicy = &policy
	}
}

// TestRichLawUnrelatedPool: a pool that no pod tolerates neither gives a pod a
// place nor takes one. Ties may be broken otherwise, as its catalog may bring
// resources and labels along that nobody else has, but rarely.
func TestRichLawUnrelatedPool(t *testing.T) {
	t.Parallel()
	seeds := lawSeeds(600, 40)
	others := 0
	var flipped []string
	for seed := range seeds {
		in, opts := richProblem(seed, everything)
		opts.DefaultSpread = nil // of which nobody can say that it looks at taints
		for _, pool := range in.NodePools {
			weight := int32(1)
			if pool.Spec.Weight != nil {
				weight += *pool.Spec.Weight
			}
			pool.Spec.Weight = &weight
		}
		for _, pod := range in.Pods {
			pod.Spec.Tolerations = slices.DeleteFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == "" })
			honor(pod.Spec.TopologySpreadConstraints)
		}
		for i := range in.Buffers {
			in.Buffers[i].Template.Spec.Tolerations = nil
			honor(in.Buffers[i].Template.Spec.TopologySpreadConstraints)
		}
		want := solved(t, in, opts)
		in.NodePools = append(in.NodePools, unrelatedPool())
		in.InstanceTypes["unrelated"] = randproblem.New(seed + 1).InstanceTypes[anyPool(randproblem.New(seed+1))]
		got := solved(t, in, opts)
		before, after := whereabouts(want), whereabouts(got)
		for pod, where := range before {
			if (where == "pending") != (after[pod] == "pending") {
				flipped = append(flipped, fmt.Sprintf("seed %d: pod %s: %s", seed, pod, where))
			}
		}
		if !maps.Equal(before, after) {
			others++
			continue
		}
		require.InDelta(t, want.Cost, got.Cost, 1e-9, "seed %d", seed)
	}
	require.LessOrEqual(t, others, int(seeds/50))
	require.LessOrEqual(t, len(flipped), int(seeds/100), "%v", flipped)
}
