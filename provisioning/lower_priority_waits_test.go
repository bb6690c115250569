package provisioning_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestLowerPriorityWaitsARound is about pods that must be on one node and are spread over
// nodes by a maxSkew of 1: beside a second node all but one of them stay pending for good.
// They get their node alone, and pods of lower priority come in the next round, once they are
// bound there. Where all are equal, the plan is taken that places more.
func TestLowerPriorityWaitsARound(t *testing.T) {
	together := func(priority int32) []*corev1.Pod {
		var out []*corev1.Pod
		for i := range 3 {
			pod := scenes.Pod(fmt.Sprintf("together-%d", i), "2", "1Gi")
			pod.Spec.Priority = &priority
			scenes.Team("together", pod)
			scenes.Follow(pod, scenes.AffinityTerm(corev1.LabelHostname, "together"))
			scenes.Spread(pod, corev1.LabelHostname, 1, scenes.TeamSelector("together"))
			out = append(out, pod)
		}
		return out
	}
	var plain []*corev1.Pod
	for i := range 7 {
		plain = append(plain, scenes.Pod(fmt.Sprintf("plain-%d", i), "2", "1Gi"))
	}
	input := func(pods ...*corev1.Pod) provisioning.Input {
		return provisioning.Input{
			NodePools:     []*v1.NodePool{scenes.Pool("pool")},
			InstanceTypes: map[string][]*cloudprovider.InstanceType{"pool": {scenes.Type("large", "cpu=8100m, memory=32Gi, pods=20", 0.4, "linux")}},
			Pods:          pods,
		}
	}
	placed := func(in provisioning.Input) (plan *provisioning.Plan, high, low int) {
		plan = solved(t, in, nil)
		require.Empty(t, verify.Plan(in, plan, nil))
		for _, pod := range plan.Order {
			if slices.Contains(plain, pod) {
				low++
			} else {
				high++
			}
		}
		return plan, high, low
	}

	high := together(10)
	_, some, _ := placed(input(high...))
	require.Equal(t, 3, some)
	first, some, more := placed(input(slices.Concat(high, plain)...))
	require.Equal(t, []int{3, 1}, []int{some, more})
	require.Len(t, first.Create, 1)

	node := scenes.Node("large", map[string]string{corev1.LabelTopologyZone: "a", v1.NodePoolLabelKey: "pool"})
	node.Status.Allocatable = resources.MustParse("cpu=8, memory=32Gi, pods=20").ResourceList()
	in := input()
	in.Nodes = []provisioning.Node{{Node: node}}
	for _, pod := range first.Order {
		bound := pod.DeepCopy()
		bound.Spec.NodeName = node.Name
		in.Nodes[0].Pods = append(in.Nodes[0].Pods, bound)
	}
	for _, u := range first.Unplaced {
		in.Pods = append(in.Pods, u.Pod)
	}
	second, _, more := placed(in)
	require.Equal(t, 6, more)
	require.Empty(t, second.Unplaced)

	_, some, more = placed(input(slices.Concat(together(0), plain)...))
	require.Equal(t, []int{1, 7}, []int{some, more})
}
