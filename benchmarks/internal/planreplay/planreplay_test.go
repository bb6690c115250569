package planreplay_test

import (
	"encoding/json"
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/planreplay"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

var schedulers = flag.String("kubescheduler", "", "programs of kubescheduler, as MINOR=PATH, separated by commas")

// eachScheduler runs a test with every program that there is.
func eachScheduler(t *testing.T, test func(*testing.T, *kubescheduler.Program)) {
	for _, scheduler := range kubescheduler.ForTest(t, *schedulers) {
		t.Run(scheduler.Minor, func(t *testing.T) { test(t, scheduler) })
	}
}

// shop has four web pods that go to any zone and four databases that only zone b has nodes for;
// a node holds three pods.
func shop() provisioning.Input {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
	offer := func(zone string, price float64) cloudprovider.Offering {
		return cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true}
	}
	large := &cloudprovider.InstanceType{
		Name:         "large",
		Requirements: requirements.MustParse("kubernetes.io/arch = amd64, kubernetes.io/os = linux"),
		Capacity:     resources.MustParse("cpu=4, memory=16Gi, pods=29"),
		Offerings:    []cloudprovider.Offering{offer("zone-a", 0.20), offer("zone-b", 0.22)},
	}
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": {large}}}
	for _, name := range []string{"web-1", "web-2", "web-3", "web-4", "db-1", "db-2", "db-3", "db-4"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("4Gi")}}}}
		if name[:2] == "db" {
			pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-b"}
			priority := int32(-1)
			pod.Spec.Priority = &priority
		}
		in.Pods = append(in.Pods, pod)
	}
	return in
}

// shopPlan is the plan for the shop: a node in each zone.
func shopPlan(t *testing.T, in provisioning.Input) *provisioning.Plan {
	plan, err := provisioning.Solve(t.Context(), in, nil)
	require.NoError(t, err)
	require.Len(t, plan.Create, 2)
	return plan
}

// Where no node exists before, nodes that are kept for their pods mostly cost what was planned,
// in whatever order they come up, and no more than open nodes in sum. Two things can still make a
// replay dearer than its plan: a kept node opens to other pods once its own pods are there, and pods
// with constraints can block each other in kube-scheduler's order.
func TestReservedNodesCostWhatWasPlanned(t *testing.T) {
	eachScheduler(t, func(t *testing.T, scheduler *kubescheduler.Program) {
		exact, all := map[bool]int{}, 0
		cost, planned := map[bool]float64{}, 0.0
		for seed := range uint64(8) {
			s, err := family.Generate(family.Spec{Family: "constrained", Pods: 40, Types: "aws", Seed: seed + 1})
			require.NoError(t, err)
			in, err := snapshot.Input(s)
			require.NoError(t, err)
			in = kubescheduler.WithoutSharedClaims(in)
			opts := snapshot.Options(s)
			plan, err := provisioning.Solve(t.Context(), in, opts)
			require.NoError(t, err)
			planned += plan.Cost
			for _, reserved := range []bool{false, true} {
				report, err := planreplay.Plan(t.Context(), in, plan, planreplay.Options{Scheduler: scheduler, Engine: opts, Reserved: reserved, Runs: 4})
				require.NoError(t, err)
				for _, run := range report.Runs {
					if run.Nodes == len(plan.Create) && len(run.Left) == 0 {
						require.InDelta(t, plan.Cost, run.Cost, 1e-9*plan.Cost, "seed %d", seed)
						exact[reserved]++
					}
				}
				cost[reserved] += report.Expected()
			}
			all += 4
		}
		t.Logf("%d runs: %d as planned with open nodes, %d with reserved ones; planned %.2f, open %.2f, reserved %.2f", all, exact[false], exact[true], planned, cost[false], cost[true])
		require.GreaterOrEqual(t, exact[true]*100, all*70)
		require.Less(t, cost[true], planned*1.02)
		require.Less(t, cost[true], cost[false])
	})
}

// Neither the order of the input nor a call before changes a report, and the input stays as it is.
func TestTheSameInputGivesTheSameReport(t *testing.T) {
	eachScheduler(t, func(t *testing.T, scheduler *kubescheduler.Program) {
		s, err := family.Generate(family.Spec{Family: "mixedexisting", Pods: 60, Nodes: 4, Types: "aws", Seed: 1})
		require.NoError(t, err)
		in, err := snapshot.Input(s)
		require.NoError(t, err)
		plan, err := provisioning.Solve(t.Context(), in, nil)
		require.NoError(t, err)
		before, err := json.Marshal([]any{in.Pods, in.Nodes, in.NodePools})
		require.NoError(t, err)
		report, err := planreplay.Plan(t.Context(), in, plan, planreplay.Options{Scheduler: scheduler})
		require.NoError(t, err)
		after, err := json.Marshal([]any{in.Pods, in.Nodes, in.NodePools})
		require.NoError(t, err)
		require.JSONEq(t, string(before), string(after), "the input was changed")

		slices.Reverse(in.Pods)
		slices.Reverse(in.DaemonSetPods)
		again, err := planreplay.Plan(t.Context(), in, plan, planreplay.Options{Scheduler: scheduler})
		require.NoError(t, err)
		require.Equal(t, report, again)
		require.Len(t, report.Runs, 8)
		for _, run := range report.Runs {
			require.GreaterOrEqual(t, run.Nodes, len(plan.Create))
			require.LessOrEqual(t, run.Cost, report.Worst())
		}
	})
}

// If the first node to come up has room for both kinds, kube-scheduler lets the web pods in, and
// a node is launched that nobody planned.
func TestLeftPodsArePlannedForAgain(t *testing.T) {
	eachScheduler(t, func(t *testing.T, scheduler *kubescheduler.Program) {
		in := shop()
		plan := shopPlan(t, in)
		report, err := planreplay.Plan(t.Context(), in, plan, planreplay.Options{Scheduler: scheduler, Runs: 3})
		require.NoError(t, err)
		dearest := slices.MaxFunc(report.Runs, func(a, b planreplay.Run) int { return a.Nodes - b.Nodes })
		require.Equal(t, 3, dearest.Nodes)
		require.Equal(t, 1, dearest.Rounds)
		require.Positive(t, dearest.Elsewhere)
		require.Empty(t, dearest.Left)
		require.InDelta(t, 0.42, report.Planned, 1e-9)
		require.InDelta(t, 0.64, report.Worst(), 1e-9)
		require.Greater(t, report.Expected(), report.Planned)

		once, err := planreplay.Plan(t.Context(), in, plan, planreplay.Options{Scheduler: scheduler, Runs: 3, Rounds: 1})
		require.NoError(t, err)
		require.Equal(t, report.Runs, once.Runs)

		kept, err := planreplay.Plan(t.Context(), in, plan, planreplay.Options{Scheduler: scheduler, Runs: 3, Reserved: true})
		require.NoError(t, err)
		require.InDelta(t, report.Planned, kept.Worst(), 1e-9)
	})
}

// What nothing can be launched for any more is named.
func TestLeftPodsAreNamed(t *testing.T) {
	eachScheduler(t, func(t *testing.T, scheduler *kubescheduler.Program) {
		in := shop()
		plan := shopPlan(t, in)
		in.NodePools[0].Spec.Limits = v1.Limits{v1.ResourceNodes: resource.MustParse("2")}
		report, err := planreplay.Plan(t.Context(), in, plan, planreplay.Options{Scheduler: scheduler, Runs: 1})
		require.NoError(t, err)
		run := report.Runs[0]
		require.Equal(t, 2, run.Nodes)
		require.NotEmpty(t, run.Left)
		for _, pod := range run.Left {
			require.Equal(t, "zone-b", pod.Spec.NodeSelector[corev1.LabelTopologyZone])
		}
		require.True(t, slices.IsSortedFunc(run.Left, func(a, b *corev1.Pod) int {
			if a.Name < b.Name {
				return -1
			}
			return 1
		}))
	})
}

func TestPlanRefusesWhatMakesNoSense(t *testing.T) {
	_, err := planreplay.Plan(t.Context(), shop(), nil, planreplay.Options{})
	require.EqualError(t, err, "there is no plan to replay: it is nil")
	_, err = planreplay.Plan(t.Context(), shop(), &provisioning.Plan{}, planreplay.Options{Runs: -1, Rounds: -2})
	require.EqualError(t, err, "planreplay.Options.Scheduler is nil: start a program of benchmarks/kubescheduler\n"+
		"planreplay.Options.Runs is -1: give the number of orders to try, or 0 for 8\n"+
		"planreplay.Options.Rounds is -2: give the most rounds to plan, or 0 for 10")
}
