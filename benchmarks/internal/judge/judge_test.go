package judge_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/judge"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// shop is a scenario with two pools: plain nodes of 4 CPUs and 16Gi at 1 USD
// (0.3 as spot in zone b), and tainted ones of 8 CPUs and 16Gi at 1.5. Two
// nodes like the latter are reserved, at next to nothing.
func shop(pods ...*corev1.Pod) *scenario.Scenario {
	taint := corev1.Taint{Key: "fast", Effect: corev1.TaintEffectNoSchedule}
	pool := func(name string, taints ...corev1.Taint) *v1.NodePool {
		p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
		p.Spec.Template.Spec.Taints = taints
		return p
	}
	return &scenario.Scenario{
		Name:      "shop",
		NodePools: []*v1.NodePool{pool("plain"), pool("fast", taint)},
		InstanceTypes: []scenario.InstanceType{
			{Name: "m", Requirements: labels("m"), Capacity: amounts("4", "16Gi"), Offerings: []scenario.Offering{
				{Zone: "a", CapacityType: "on-demand", Price: 1, Available: true},
				{Zone: "b", CapacityType: "spot", Price: 0.3, Available: true},
				{Zone: "a", CapacityType: "spot", Price: 0.1}, // sold out
			}},
			{Name: "c", Requirements: labels("c"), Capacity: amounts("8", "16Gi"), Offerings: []scenario.Offering{
				{Zone: "a", CapacityType: "on-demand", Price: 1.5, Available: true},
				{Zone: "a", CapacityType: "reserved", Price: 0.0001, Available: true, ReservationID: "cr-1", ReservationCapacity: 2},
			}},
		},
		InstanceTypesByPool: map[string][]string{"plain": {"m"}, "fast": {"c"}},
		Pods:                pods,
	}
}

func labels(name string) []corev1.NodeSelectorRequirement {
	return []corev1.NodeSelectorRequirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{name}}}
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse("10"),
	}
}

func pod(name, cpu, memory string) *corev1.Pod {
	requests := amounts(cpu, memory)
	delete(requests, corev1.ResourcePods)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}},
	}
}

func asks(key string, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func newJudge(t *testing.T, s *scenario.Scenario) *judge.Judge {
	t.Helper()
	j, err := judge.New(s)
	require.NoError(t, err)
	return j
}

func TestCost(t *testing.T) {
	j := newJudge(t, shop())
	m := func(reqs ...v1.NodeSelectorRequirementWithMinValues) scenario.NewNodeClaim {
		return scenario.NewNodeClaim{NodePool: "plain", InstanceTypes: []string{"m"}, Requirements: reqs}
	}
	c := scenario.NewNodeClaim{NodePool: "fast", InstanceTypes: []string{"c"}}
	for _, test := range []struct {
		name   string
		claims []scenario.NewNodeClaim
		want   float64
		fault  string
	}{
		{name: "nothing"},
		{name: "the cheapest that can be bought", claims: []scenario.NewNodeClaim{m()}, want: 0.3},
		{name: "as the claim asks", claims: []scenario.NewNodeClaim{m(asks(corev1.LabelTopologyZone, "a")), m()}, want: 1.3},
		{name: "a reservation as often as it holds", claims: []scenario.NewNodeClaim{c, c, c}, want: 1.5002},
		{name: "labels of its own", claims: []scenario.NewNodeClaim{m(asks("team", "x"))}, want: 0.3},
		{name: "nowhere", claims: []scenario.NewNodeClaim{m(asks(corev1.LabelTopologyZone, "c"))},
			fault: "newNodeClaims[0]: none of its 1 instance types can be launched"},
		{name: "of another pool", claims: []scenario.NewNodeClaim{m(), {NodePool: "fast", InstanceTypes: []string{"m"}}},
			fault: `newNodeClaims[1]: pool fast cannot launch "m"`},
		{name: "no pool", claims: []scenario.NewNodeClaim{{NodePool: "x"}}, fault: `there is no node pool "x"`},
		{name: "no operator", claims: []scenario.NewNodeClaim{m(v1.NodeSelectorRequirementWithMinValues{Key: "k", Operator: "Like"})}, fault: "Like"},
	} {
		got, err := j.Cost(&scenario.Plan{NewNodeClaims: test.claims})
		if test.fault != "" {
			require.ErrorContains(t, err, test.fault, test.name)
			continue
		}
		require.NoError(t, err, test.name)
		require.InDelta(t, test.want, got, 1e-9, test.name)
	}
}

// The bounds of these can be worked out by hand.
func TestBound(t *testing.T) {
	fast := pod("fast", "4", "2Gi")
	fast.Spec.Tolerations = []corev1.Toleration{{Key: "fast", Operator: corev1.TolerationOpExists}}
	fast.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "c"}
	inA := pod("in-a", "2", "1Gi")
	inA.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
	nowhere := pod("nowhere", "1", "1Gi")
	nowhere.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "c"}
	daemon := pod("daemon", "1", "0")
	scenarioOf := func(reserved bool, daemons []*corev1.Pod, pods ...*corev1.Pod) *scenario.Scenario {
		s := shop(pods...)
		s.DaemonSetPods = daemons
		s.InstanceTypes[1].Offerings[1].Available = reserved
		return s
	}
	for _, test := range []struct {
		name     string
		scenario *scenario.Scenario
		want     float64
		fault    string
	}{
		{name: "no pods", scenario: shop()},
		{name: "half a spot node", scenario: scenarioOf(false, nil, pod("x", "2", "1Gi")), want: 0.15},
		{name: "what is scarcest counts", scenario: scenarioOf(false, nil, pod("x", "1", "12Gi")), want: 0.225},
		{name: "a daemon takes a quarter", scenario: scenarioOf(false, []*corev1.Pod{daemon}, pod("x", "3", "1Gi")), want: 0.3},
		{name: "each where it may run", scenario: scenarioOf(false, nil, pod("x", "2", "1Gi"), inA), want: 0.15 + 0.5},
		{name: "the tainted pool for who tolerates it", scenario: scenarioOf(false, nil, fast), want: 0.75},
		{name: "reserved nodes are near free", scenario: scenarioOf(true, nil, fast), want: 0.00005},
		{name: "whole pods do not matter", scenario: scenarioOf(false, nil, pod("x", "3", "1Gi"), pod("y", "3", "1Gi")), want: 0.45},
		{name: "too large for all", scenario: scenarioOf(false, nil, pod("x", "5", "1Gi")), fault: "n/x"},
		{name: "nowhere", scenario: scenarioOf(false, nil, nowhere), fault: "the plan puts n/nowhere on a new node"},
	} {
		var keys []string
		for _, p := range test.scenario.Pods {
			keys = append(keys, scenario.PodKey(p))
		}
		got, err := newJudge(t, test.scenario).Bound(&scenario.Plan{NewNodeClaims: []scenario.NewNodeClaim{{Pods: keys}}})
		if test.fault != "" {
			require.ErrorContains(t, err, test.fault, test.name)
			continue
		}
		require.NoError(t, err, test.name)
		require.InDelta(t, test.want, got, 1e-6, test.name)
	}
}

func TestBoundKnowsThePods(t *testing.T) {
	_, err := newJudge(t, shop()).Bound(&scenario.Plan{NewNodeClaims: []scenario.NewNodeClaim{{Pods: []string{"n/x"}}}})
	require.ErrorContains(t, err, `the plan places "n/x"`)
}

func TestScenariosThatCannotBeJudged(t *testing.T) {
	s := shop()
	s.InstanceTypes[0].Requirements[0].Operator = "Like"
	_, err := judge.New(s)
	require.ErrorContains(t, err, "instance type m")
	s = shop()
	s.DaemonSetPods = []*corev1.Pod{pod("d", "-1", "1Gi")}
	_, err = judge.New(s)
	require.ErrorContains(t, err, "daemon")
}

// No plan beats the bound: not even one that fills nodes to the brim, pods in
// any order, with the type that comes out cheapest for its share.
func TestPlansCostMoreThanTheBound(t *testing.T) {
	for seed := range uint64(5) {
		s, err := family.Generate(family.Spec{Family: "generic", Types: "fake400", Pods: 300, Seed: seed})
		require.NoError(t, err)
		for _, size := range []int{3, 15, 63, 399} {
			plan := fill(t, s, s.InstanceTypes[size].Name)
			j := newJudge(t, s)
			cost, err := j.Cost(plan)
			require.NoError(t, err)
			bound, err := j.Bound(plan)
			require.NoError(t, err)
			require.Greater(t, bound, 0.0)
			require.LessOrEqual(t, bound, cost+1e-6, fmt.Sprint(seed, size))
			if size == 15 {
				require.Greater(t, bound, 0.8*cost, "the bound is of some use")
			}
		}
	}
}

// fill puts pods on nodes of one type, first fit.
func fill(t *testing.T, s *scenario.Scenario, name string) *scenario.Plan {
	t.Helper()
	plan := &scenario.Plan{}
	var free []resources.List
	for _, it := range s.InstanceTypes {
		if it.Name != name {
			continue
		}
		capacity, err := resources.FromResourceList(it.Capacity)
		require.NoError(t, err)
		overhead, err := resources.FromResourceList(it.Overhead)
		require.NoError(t, err)
		whole, err := capacity.Sub(overhead)
		require.NoError(t, err)
		for _, p := range s.Pods {
			asked, err := resources.PodRequests(p)
			require.NoError(t, err)
			at := 0
			for at < len(free) && !asked.Fits(free[at]) {
				at++
			}
			if at == len(free) {
				free = append(free, whole)
				plan.NewNodeClaims = append(plan.NewNodeClaims, scenario.NewNodeClaim{NodePool: "default", InstanceTypes: []string{name}})
			}
			free[at], err = free[at].Sub(asked)
			require.NoError(t, err)
			plan.NewNodeClaims[at].Pods = append(plan.NewNodeClaims[at].Pods, scenario.PodKey(p))
		}
	}
	return plan
}
