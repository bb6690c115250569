package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestMinValuesWithinLimits: a node that keeps two types counts as the larger, which
// the limit does not bear; the smaller alone would do. The minimum is to blame.
func TestMinValuesWithinLimits(t *testing.T) {
	t.Parallel()
	for need, cause := range map[int]provisioning.Cause{1: "", 2: provisioning.CauseMinValues} {
		pool := scenes.Pool("general")
		pool.Spec.Limits = v1.Limits(resources.MustParse("memory=16Gi").ResourceList())
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
			Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: &need,
		})
		in := provisioning.Input{
			NodePools: []*v1.NodePool{pool}, Pods: []*corev1.Pod{scenes.Pod("web", "1", "1Gi")},
			InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": {
				scenes.Type("small", "cpu=4, memory=8Gi, pods=20", 0.2, "linux"),
				scenes.Type("large", "cpu=16, memory=32Gi, pods=20", 0.8, "linux"),
			}},
		}
		plan := solved(t, in, nil)
		require.Empty(t, verify.Plan(in, plan, nil))
		if cause == "" {
			require.Empty(t, plan.Unplaced)
			continue
		}
		require.Len(t, plan.Unplaced, 1)
		reason := plan.Unplaced[0].Explanation.Pools[0]
		require.Equal(t, cause, reason.Cause)
		require.Contains(t, reason.Detail, "it demands 2 values of node.kubernetes.io/instance-type, and only 1 can be had for the pod within what its limits leave (")
		t.Log(reason.Detail)
	}
}

// TestMinValuesWithoutWhatLimitsForbid: the second zone is to be had with the small type as
// well, if dearer than with one that is larger than the limit.
func TestMinValuesWithoutWhatLimitsForbid(t *testing.T) {
	t.Parallel()
	pool := scenes.Pool("general")
	pool.Spec.Limits = v1.Limits(resources.MustParse("memory=16Gi").ResourceList())
	pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpExists, MinValues: new(2),
	})
	small, large := scenes.Type("small", "cpu=4, memory=8Gi, pods=20", 0.2, "linux"), scenes.Type("large", "cpu=16, memory=32Gi, pods=20", 0.8, "linux")
	for i := range small.Offerings {
		if small.Offerings[i].Zone == "b" {
			small.Offerings[i].Price = 0.9
		}
	}
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": {small, large}}}
	for i := range 4 {
		in.Pods = append(in.Pods, scenes.Pod("web-"+string(rune('a'+i)), "1800m", "1Gi")) // two to a node
	}
	for _, policy := range []provisioning.MinValuesPolicy{provisioning.Strict, provisioning.BestEffort} {
		opts := &provisioning.Options{MinValues: policy}
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts))
		require.Empty(t, plan.Unplaced)
		require.Len(t, plan.Create, 2)
		for i := range plan.Create {
			require.False(t, plan.Create[i].MinValuesRelaxed)
			for _, o := range plan.Create[i].Options {
				require.Equal(t, "small", o.InstanceType.Name)
			}
		}
	}
}

// TestMinValuesOfNodesThatPodsJoin: a node of a type with two architectures has as many as
// the pool demands until a pod joins that asks for one. It is marked then, or the pod goes
// elsewhere.
func TestMinValuesOfNodesThatPodsJoin(t *testing.T) {
	t.Parallel()
	in := randproblem.New(5_019_145)
	in.NodePools = slices.DeleteFunc(in.NodePools, func(p *v1.NodePool) bool { return p.Name != "pool-b" })
	in.NodePools[0].Spec.Limits = nil
	in.NodePools[0].Spec.Template.Spec.Requirements = append(in.NodePools[0].Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpExists, MinValues: new(2),
	})
	opts := &provisioning.Options{MinValues: provisioning.BestEffort}
	plan := solved(t, in, opts)
	require.Empty(t, verify.Plan(in, plan, opts))
	require.Empty(t, verify.Unplaced(in, plan, opts))
}
