package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// growing returns a full small node, and a pending pod that needs another. One medium node has room for
// the pods of both, at the price of two small ones.
func growing() disruption.Input {
	_, medium, large, _ := sizes()
	small := sizedType("small", 2, 0.15) // it costs more for each CPU
	all := []*cloudprovider.InstanceType{small, medium, large}
	in := fleetOf(all, machine("old", "default", small, load("running", 1500)))
	in.Pods = append(in.Pods, load("new", 1500))
	return in
}

// enlarge solves an input, and returns the plan that Enlarge makes of that plan.
func enlarge(t testing.TB, in disruption.Input, opts *disruption.Options) (before, after *provisioning.Plan, names []string) {
	t.Helper()
	problem, err := provisioning.Prepare(in.Input, nil)
	require.NoError(t, err)
	before, err = problem.Solve(t.Context())
	require.NoError(t, err)
	cluster, _ := disruption.Observe(noon, in, opts)
	after, names, err = cluster.Enlarge(t.Context(), problem, before)
	require.NoError(t, err)
	return before, after, names
}

func TestEnlarge(t *testing.T) {
	in := growing()
	before, after, names := enlarge(t, in, nil)
	require.Equal(t, []string{"old"}, names)
	require.Equal(t, "small", before.Create[0].Options[0].InstanceType.Name)
	require.Len(t, after.Create, 1)
	node := after.Create[0]
	require.Equal(t, "medium", node.Options[0].InstanceType.Name)
	require.Equal(t, in.Pods, node.Pods)
	require.Equal(t, in.Pods, after.Order)
	require.Equal(t, int64(3000), node.Requests.Get(corev1.ResourceCPU), "there is room for the pod of the existing node")
	require.Equal(t, "small", before.Create[0].Options[0].InstanceType.Name, "the plan before is unchanged")
}

// TestEnlargeLeavesPlans: what is not worth it, or could not be removed, changes nothing.
func TestEnlargeLeavesPlans(t *testing.T) {
	budget := func(expected int32) []*policyv1.PodDisruptionBudget {
		return []*policyv1.PodDisruptionBudget{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
			Status:     policyv1.PodDisruptionBudgetStatus{ExpectedPods: expected, DesiredHealthy: 1},
		}}
	}
	for name, row := range map[string]struct {
		edit func(in *disruption.Input, opts *disruption.Options)
		want []string
	}{
		"budgets and consolidateAfter only delay it": {edit: func(in *disruption.Input, _ *disruption.Options) {
			budgetOf("1")(in.NodePools[0])
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(time.Hour)
			in.PodEvents = map[string]time.Time{"old": noon}
		}, want: []string{"old"}},
		"a PodDisruptionBudget only delays it while a pod is pending": {edit: func(in *disruption.Input, _ *disruption.Options) {
			in.PodDisruptionBudgets = budget(2)
		}, want: []string{"old"}},
		"a PodDisruptionBudget that never allows an eviction": {edit: func(in *disruption.Input, _ *disruption.Options) {
			in.PodDisruptionBudgets = budget(1)
		}},
		"a pod that must not be disrupted": {edit: func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[0].Pods[0].Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
		}},
		"budgets that let nothing go": {edit: func(in *disruption.Input, _ *disruption.Options) { budgetOf("0")(in.NodePools[0]) }},
		"a node that new pods avoid anyway": {edit: func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[0].Node = disruption.SoftTaint{Node: in.Nodes[0].Node}.EditNode()
		}},
		"too little saved for an eviction": {edit: func(_ *disruption.Input, opts *disruption.Options) { opts.Consolidation.MinimumScore = 2 }},
		"no replacements":                  {edit: func(_ *disruption.Input, opts *disruption.Options) { opts.Consolidation.NoReplacements = true }},
		"a limit that existing nodes use too": {edit: func(in *disruption.Input, _ *disruption.Options) {
			in.NodePools[0].Spec.Limits = v1.Limits(resources.MustParse("cpu=5").ResourceList())
		}},
		"nothing to launch": {edit: func(in *disruption.Input, _ *disruption.Options) { in.Pods = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			in, opts := growing(), &disruption.Options{}
			row.edit(&in, opts)
			before, after, names := enlarge(t, in, opts)
			require.Equal(t, row.want, names)
			if names == nil {
				require.Same(t, before, after)
			}
		})
	}
}

// TestLawEnlargedPlansHold: an enlarged plan is for the same pods, and costs less than the plan before
// and the nodes that it makes unneeded. With its new nodes on their way, and all existing nodes as they
// are, its pods have places.
func TestLawEnlargedPlansHold(t *testing.T) {
	t.Parallel()
	enlarged := 0
	for seed := range uint64(testlong.Seeds(400, 1_500)) {
		m := newMaker(9100 + seed)
		in, opts := m.mixed(12)
		for i := range pick(m, 1, 3, 8) {
			pod := load(fmt.Sprintf("new-%d", i), pick[int64](m, 300, 900, 1500))
			if m.chance(50) {
				pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: pick[int32](m, 1, 2), TopologyKey: pick(m, corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyZone), WhenUnsatisfiable: corev1.DoNotSchedule,
					LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
				}}
			}
			in.Pods = append(in.Pods, pod)
		}
		opts.Consolidation.NoReplacements = false
		problem, err := provisioning.Prepare(in.Input, opts.Provisioning)
		if err != nil {
			continue
		}
		before, err := problem.Solve(t.Context())
		require.NoError(t, err)
		cluster, _ := disruption.Observe(noon, in, opts)
		after, names, err := cluster.Enlarge(t.Context(), problem, before)
		require.NoError(t, err)
		if len(names) == 0 {
			require.Same(t, before, after)
			continue
		}
		enlarged++
		alone, _ := disruption.Observe(noon, in, parallel(opts, 1))
		_, same, err := alone.Enlarge(t.Context(), problem, before)
		require.NoError(t, err)
		require.Equal(t, names, same, "seed %d", seed)
		require.ElementsMatch(t, podsOfPlan(before), podsOfPlan(after), "seed %d", seed)
		saved := 0.0
		for _, name := range names {
			price, known := cluster.Price(name)
			require.True(t, known, "seed %d: %s", seed, name)
			saved += price
		}
		require.Less(t, after.Cost, before.Cost+saved, "seed %d", seed)
		require.Greater(t, after.Cost, before.Cost, "seed %d: nodes that may go anyway are left to proposals", seed)
		broken := slices.DeleteFunc(verify.Plan(in.Input, after, opts.Provisioning), func(v verify.Violation) bool { return v.Rule == verify.RuleAccounts })
		require.Empty(t, broken, "seed %d", seed) // its nodes ask for more than their pods do
		coming := in.Input
		coming.Nodes = slices.Clone(in.Nodes)
		for i := range after.Create {
			claim := after.Create[i].NodeClaim()
			claim.Name = after.Create[i].Name
			coming.Nodes = append(coming.Nodes, provisioning.Node{NodeClaim: claim})
		}
		plan, err := provisioning.Solve(t.Context(), coming, opts.Provisioning)
		require.NoError(t, err, "seed %d", seed)
		require.Empty(t, plan.Create, "seed %d", seed)
		require.LessOrEqual(t, len(plan.Unplaced), len(before.Unplaced), "seed %d", seed)
		require.Empty(t, verify.Plan(coming, plan, opts.Provisioning), "seed %d", seed)
	}
	t.Log(enlarged, "plans were enlarged")
	require.Greater(t, enlarged, testlong.Seeds(10, 50))
}

// podsOfPlan lists the pods of a plan, including the pods that stay pending.
func podsOfPlan(plan *provisioning.Plan) (out []*corev1.Pod) {
	for i := range plan.Create {
		out = append(out, plan.Create[i].Pods...)
	}
	for _, b := range plan.Bind {
		out = append(out, b.Pods...)
	}
	for _, u := range plan.Unplaced {
		out = append(out, u.Pod)
	}
	return out
}

// A pod is pending, and the only node is full. A node for the pods of both costs less than two small
// ones.
func ExampleCluster_Enlarge() {
	in := growing()
	problem, err := provisioning.Prepare(in.Input, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := problem.Solve(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Create[0].Options[0], "for", plan.Create[0].Pods[0].Name)
	plan, unneeded, err := look(in, nil).Enlarge(context.Background(), problem, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Create[0].Options[0], "for", plan.Create[0].Pods[0].Name, "and for the pods of", unneeded)
	// Output:
	// small/a/on-demand at 0.15 USD/h for new
	// medium/a/on-demand at 0.2 USD/h for new and for the pods of [old]
}

func TestEnlargeEndsWithItsContext(t *testing.T) {
	in := growing()
	problem, err := provisioning.Prepare(in.Input, nil)
	require.NoError(t, err)
	plan, err := problem.Solve(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = observe(t, in, nil).Enlarge(ctx, problem, plan)
	require.ErrorIs(t, err, context.Canceled)
	in.Nodes = nil
	problem, err = provisioning.Prepare(in.Input, nil)
	require.NoError(t, err)
	_, _, err = observe(t, growing(), nil).Enlarge(t.Context(), problem, plan)
	require.ErrorContains(t, err, `there is no node "old"`)
}
