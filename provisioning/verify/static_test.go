package verify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestMissingNodesOfStaticPools: pods on nodes that a static pool is short of are judged as those
// on any node: by their number, taints, labels and room.
func TestMissingNodesOfStaticPools(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(pool *v1.NodePool, s *provisioning.StaticPool)
		rule  verify.Rule
	}{
		{"nothing is wrong", func(*v1.NodePool, *provisioning.StaticPool) {}, ""},
		{"more nodes get pods than are missing", func(pool *v1.NodePool, _ *provisioning.StaticPool) { pool.Spec.Replicas = new(int64) }, verify.RuleNode},
		{"a taint", func(pool *v1.NodePool, _ *provisioning.StaticPool) {
			pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "t", Effect: corev1.TaintEffectNoSchedule}}
		}, verify.RuleTaints},
		{"no room", func(_ *v1.NodePool, s *provisioning.StaticPool) {
			s.Pods = [][]*corev1.Pod{slices.Concat(s.Pods...)}
		}, verify.RuleResources},
		{"a node without pods", func(_ *v1.NodePool, s *provisioning.StaticPool) { s.Pods[1] = nil }, verify.RuleCompleteness},
	} {
		pool, two := scenes.Pool("fixed"), int64(2)
		pool.Spec.Replicas = &two
		in := provisioning.Input{
			NodePools:     []*v1.NodePool{pool},
			InstanceTypes: map[string][]*cloudprovider.InstanceType{pool.Name: {scenes.Type("small", "cpu=2, memory=4Gi, pods=8", 0.10, "linux")}},
			Pods:          []*corev1.Pod{scenes.Pod("a", "1500m", "1Gi"), scenes.Pod("b", "1500m", "1Gi")},
		}
		plan := solved(t, in, nil)
		require.Len(t, plan.Static[0].Pods, 2)
		c.spoil(pool, &plan.Static[0])
		found := verify.Plan(in, plan, nil)
		if c.rule == "" {
			require.Empty(t, found, c.name)
			continue
		}
		require.True(t, slices.ContainsFunc(found, func(v verify.Violation) bool { return v.Rule == c.rule }), "%s: %v", c.name, found)
	}
}

// TestBoundBesideStaticPods: LowerBound is compared with a plan of the referee's own as well where
// pods are on missing nodes of static pools.
func TestBoundBesideStaticPods(t *testing.T) {
	pool, one := scenes.Pool("fixed"), int64(1)
	pool.Spec.Replicas = &one
	small, large := scenes.Type("small", "cpu=2, memory=4Gi, pods=8", 0.10, "linux"), scenes.Type("large", "cpu=8, memory=16Gi, pods=8", 0.40, "linux")
	open := scenes.Pool("open")
	in := provisioning.Input{
		NodePools:     []*v1.NodePool{pool, open},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{pool.Name: {small}, open.Name: {large}},
		Pods:          []*corev1.Pod{scenes.Pod("a", "1500m", "1Gi"), scenes.Pod("b", "1500m", "1Gi")},
	}
	plan := solved(t, in, nil)
	require.Len(t, plan.Static[0].Pods, 1)
	require.Len(t, plan.Create, 1)
	require.Empty(t, verify.Plan(in, plan, nil))
	in.InstanceTypes[open.Name] = []*cloudprovider.InstanceType{small, large}
	plan.LowerBound = plan.Cost
	found := verify.Plan(in, plan, nil)
	require.Len(t, found, 1, "%v", found)
	require.Contains(t, found[0].Message, "LowerBound is")
	require.Contains(t, found[0].Message, "as the cheapest option that holds its pods")
}
