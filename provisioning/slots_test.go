package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// workload adds replicas of a pod to an input.
func workload(in *provisioning.Input, name string, replicas, milliCPU int, labels map[string]string, change func(p *corev1.Pod)) {
	for i := range replicas {
		pod := scenes.Pod(fmt.Sprintf("%s-%04d", name, i), "1", "1Gi")
		pod.Labels = labels
		pod.Spec.Containers[0].Resources.Requests = resources.MustParse(fmt.Sprintf("cpu=%dm, memory=256Mi", milliCPU)).ResourceList()
		if change != nil {
			change(pod)
		}
		in.Pods = append(in.Pods, pod)
	}
}

// apartByHost keeps a pod off the nodes of pods with a label.
func apartByHost(key string, values ...string) func(p *corev1.Pod) {
	return func(p *corev1.Pod) {
		scenes.Avoid(p, corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values}}}})
	}
}

// mostPerHost spreads a pod over nodes.
func mostPerHost(skew int32, key, value string) func(p *corev1.Pod) {
	return func(p *corev1.Pod) {
		scenes.Spread(p, corev1.LabelHostname, skew, &metav1.LabelSelector{MatchLabels: map[string]string{key: value}})
	}
}

// solvedInFull wants a place for everybody and a plan without violations.
func solvedInFull(t *testing.T, in provisioning.Input) *provisioning.Plan {
	t.Helper()
	plan := solved(t, in, nil)
	require.Empty(t, plan.Unplaced)
	require.Empty(t, verify.Plan(in, plan, nil))
	placed := 0
	for _, n := range plan.Create {
		placed += len(n.Pods)
	}
	require.Equal(t, len(in.Pods), placed)
	require.Len(t, plan.Order, placed)
	return plan
}

// TestSlotsOfManyWorkloads: 300 workloads whose replicas avoid their like. A
// node can take one of each, so that no more nodes are needed than without.
func TestSlotsOfManyWorkloads(t *testing.T) {
	tied, free := scenes.Generic(0, 300), scenes.Generic(0, 300)
	for i := range 300 {
		app := fmt.Sprintf("app-%03d", i)
		labels := map[string]string{"app": app}
		workload(&tied, app, 3, 100+10*(i%40), labels, apartByHost("app", app))
		workload(&free, app, 3, 100+10*(i%40), labels, nil)
	}
	plan, least := solvedInFull(t, tied), solvedInFull(t, free)
	require.GreaterOrEqual(t, len(plan.Create), 3)
	require.LessOrEqual(t, plan.Cost, least.Cost*1.03)
}

// TestSlotsOfOneWorkload: one pod a node makes as many nodes as pods, each the
// cheapest that holds one; small pods beside them cost nothing more while
// there is room.
func TestSlotsOfOneWorkload(t *testing.T) {
	in := scenes.Generic(0, 300)
	workload(&in, "web", 200, 900, map[string]string{"app": "web"}, apartByHost("app", "web"))
	alone := solvedInFull(t, in)
	require.Len(t, alone.Create, 200)
	require.InDelta(t, alone.LowerBound, alone.Cost, alone.Cost*0.01, "each node is the cheapest that holds a pod")
	workload(&in, "batch", 200, 100, map[string]string{"app": "batch"}, nil)
	require.LessOrEqual(t, solvedInFull(t, in).Cost, alone.Cost*1.1)
}

// TestSlotsOfASmallWorkload: the packer knows of a few pods, one to a node, that they need as
// many nodes as they are. It prices that, so that nodes are small enough to be filled by what
// else there is, and its bound is near what the plan costs.
func TestSlotsOfASmallWorkload(t *testing.T) {
	for _, replicas := range []int{10, 20, 30} {
		in := scenes.Generic(4*replicas, 300)
		workload(&in, "web", replicas, 100, map[string]string{"app": "web"}, apartByHost("app", "web"))
		plan, quick := solvedInFull(t, in), solved(t, in, &provisioning.Options{Quick: true})
		require.Empty(t, quick.Unplaced)
		require.LessOrEqual(t, plan.Cost, plan.PackingBound*1.07, "%d replicas", replicas)
		require.LessOrEqual(t, quick.Cost, plan.PackingBound*1.1, "%d replicas, quickly", replicas)
	}
}

// TestSlotsOfASharedRule: 300 classes under one rule, at most two of them a
// node.
func TestSlotsOfASharedRule(t *testing.T) {
	in := scenes.Generic(0, 300)
	for i := range 300 {
		workload(&in, fmt.Sprintf("app-%03d", i), 1, 100+i, map[string]string{"tier": "front"}, mostPerHost(2, "tier", "front"))
	}
	plan := solvedInFull(t, in)
	require.GreaterOrEqual(t, len(plan.Create), 150)
	for _, n := range plan.Create {
		require.LessOrEqual(t, len(n.Pods), 2)
	}
	require.LessOrEqual(t, plan.Cost, plan.PackingBound*1.05)
}

// TestSlotsOfATangle: each of 300 classes avoids the next one, and a workload
// that needs a node for each of its pods makes nodes enough for all.
func TestSlotsOfATangle(t *testing.T) {
	in := scenes.Generic(0, 300)
	workload(&in, "one-a-node", 320, 300, map[string]string{"app": "agent"}, apartByHost("app", "agent"))
	for i := range 300 {
		app, next := fmt.Sprintf("app-%03d", i), fmt.Sprintf("app-%03d", (i+1)%300)
		workload(&in, app, 1, 100+i%50, map[string]string{"app": app}, apartByHost("app", app, next))
	}
	plan := solvedInFull(t, in)
	require.GreaterOrEqual(t, len(plan.Create), 320)
	require.LessOrEqual(t, len(plan.Create), 330)
}

// TestSlotsOnNodes: nodes that have pods of a workload are not taken again by
// it, those with room left are.
func TestSlotsOnNodes(t *testing.T) {
	in := scenes.Generic(0, 300)
	for i := range 60 {
		name := fmt.Sprintf("old-%02d", i)
		node := scenes.Node(name, map[string]string{})
		n := provisioning.Node{Node: node}
		if i%2 == 0 {
			bound := scenes.Pod("bound-"+name, "100m", "64Mi")
			bound.Labels, bound.Spec.NodeName = map[string]string{"app": "web"}, name
			n.Pods = []*corev1.Pod{bound}
		}
		in.Nodes = append(in.Nodes, n)
	}
	workload(&in, "web", 100, 200, map[string]string{"app": "web"}, apartByHost("app", "web"))
	plan := solved(t, in, nil)
	require.Empty(t, plan.Unplaced)
	require.Empty(t, verify.Plan(in, plan, nil))
	require.Len(t, plan.Bind, 30)
	require.Len(t, plan.Create, 70)
	for _, b := range plan.Bind {
		require.Len(t, b.Pods, 1)
	}
}
