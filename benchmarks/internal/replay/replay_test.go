package replay_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/replay"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func generate(t *testing.T, nodes int) *scenario.Scenario {
	t.Helper()
	s, err := family.Generate(family.Spec{Family: "consolidate", Types: "aws", Nodes: nodes, Seed: 1})
	require.NoError(t, err)
	return s
}

// swap replaces a node by a new one of its type, to which all pods move.
func swap(s *scenario.Scenario, n scenario.Node) scenario.Action {
	labels := n.Node.Labels
	in := func(key string) v1.NodeSelectorRequirementWithMinValues {
		return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{labels[key]}}
	}
	a := scenario.Action{Reason: "Underutilized", Nodes: []string{n.Name()}, Moves: map[string]string{},
		Replacements: []scenario.NewNodeClaim{{
			NodePool: labels[v1.NodePoolLabelKey], InstanceTypes: []string{labels[corev1.LabelInstanceTypeStable]},
			Requirements: []v1.NodeSelectorRequirementWithMinValues{in(corev1.LabelTopologyZone), in(v1.CapacityTypeLabelKey)},
			Taints:       n.Node.Spec.Taints, Labels: map[string]string{v1.NodePoolLabelKey: labels[v1.NodePoolLabelKey], "example.com/pool": labels["example.com/pool"]},
		}}}
	for _, p := range s.NodePools {
		if p.Name == a.Replacements[0].NodePool {
			a.Replacements[0].Requirements = append(a.Replacements[0].Requirements, p.Spec.Template.Spec.Requirements...)
		}
	}
	for _, pod := range n.Pods {
		if podlife.Moves(pod) {
			a.Moves[scenario.PodKey(pod)] = scenario.Replacement(0)
		}
	}
	return a
}

func TestApply(t *testing.T) {
	s := generate(t, 6)
	c, err := replay.New(s)
	require.NoError(t, err)
	before := c.Cost()
	require.Positive(t, before)
	old := s.Nodes[2]
	require.NoError(t, c.Apply(swap(s, old)))
	require.InDelta(t, before, c.Cost(), 1e-9, "it is of the same type")
	now := c.Scenario()
	require.Len(t, now.Nodes, 6)
	require.Len(t, s.Nodes, 6)
	require.Equal(t, old.Name(), s.Nodes[2].Name(), "the scenario given is not changed")
	fresh := now.Nodes[5]
	require.Equal(t, "launched-00001", fresh.Name())
	require.Len(t, fresh.Pods, len(old.Pods), "those of daemons are started anew")
	for _, pod := range fresh.Pods {
		require.Equal(t, fresh.Name(), pod.Spec.NodeName)
	}
	for key, value := range old.Node.Labels {
		if key != corev1.LabelHostname {
			require.Equal(t, value, fresh.Node.Labels[key], key)
		}
	}
	require.Equal(t, old.Node.Status.Allocatable.Cpu().String(), fresh.Node.Status.Allocatable.Cpu().String())
	require.NoError(t, now.Validate())

	// The pods go on to another node, and nothing is launched.
	empty := scenario.Action{Nodes: []string{fresh.Name()}, Moves: map[string]string{}}
	for _, pod := range fresh.Pods {
		if podlife.Moves(pod) {
			empty.Moves[scenario.PodKey(pod)] = now.Nodes[0].Name()
		}
	}
	require.NoError(t, c.Apply(empty))
	require.Len(t, c.Scenario().Nodes, 5)
	require.Less(t, c.Cost(), before)
	require.Len(t, now.Nodes, 6, "what was there before is not changed")
}

func TestWhatCannotBeDone(t *testing.T) {
	s := generate(t, 4)
	c, err := replay.New(s)
	require.NoError(t, err)
	pod := s.Nodes[0].Pods[slices.IndexFunc(s.Nodes[0].Pods, podlife.Moves)]
	key := scenario.PodKey(pod)
	for _, test := range []struct {
		edit func(*scenario.Action)
		want string
	}{
		{func(a *scenario.Action) { a.Nodes = append(a.Nodes, "gone") }, "node gone is not there"},
		{func(a *scenario.Action) { delete(a.Moves, key) }, fmt.Sprintf("pod %s needs another place", key)},
		{func(a *scenario.Action) { a.Moves[key] = "gone" }, "goes to gone, which is not there"},
		{func(a *scenario.Action) { a.Moves[key] = a.Nodes[0] }, "which is not there"},
		{func(a *scenario.Action) { a.Moves["shop/other"] = s.Nodes[1].Name() }, "pod shop/other is moved and is not on a node that is removed"},
		{func(a *scenario.Action) { a.Replacements[0].InstanceTypes = []string{"m9.huge"} }, `cannot launch "m9.huge"`},
		{func(a *scenario.Action) { a.Replacements[0].Requirements[0].Values = []string{"nowhere"} }, "can be launched as it asks"},
	} {
		a := swap(s, s.Nodes[0])
		test.edit(&a)
		require.ErrorContains(t, c.Apply(a), test.want)
		require.Same(t, c.Scenario(), c.Scenario())
		require.Len(t, c.Scenario().Nodes, 4)
	}
}

func TestJudge(t *testing.T) {
	s := generate(t, 6)
	c, err := replay.New(s)
	require.NoError(t, err)
	good, err := c.Judge(swap(s, s.Nodes[1]))
	require.NoError(t, err)
	require.Empty(t, good)

	// All pods of five nodes on the sixth: it does not hold them.
	a := scenario.Action{Moves: map[string]string{}}
	for _, n := range s.Nodes[1:] {
		a.Nodes = append(a.Nodes, n.Name())
		for _, pod := range n.Pods {
			if podlife.Moves(pod) {
				a.Moves[scenario.PodKey(pod)] = s.Nodes[0].Name()
			}
		}
	}
	bad, err := c.Judge(a)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(bad, func(v verify.Violation) bool { return v.Rule == verify.RuleResources }), "%v", bad)

	for key := range a.Moves {
		delete(a.Moves, key)
		break
	}
	_, err = c.Judge(a)
	require.ErrorContains(t, err, "needs another place and is given none")
}

// Of a plan count the pods whose places break no rule, on nodes within the limits.
func TestJudgePlan(t *testing.T) {
	s, err := family.Generate(family.Spec{Family: "generic", Types: "aws", Pods: 6, Seed: 1})
	require.NoError(t, err)
	place := func(claims ...scenario.NewNodeClaim) *scenario.Plan { return &scenario.Plan{NewNodeClaims: claims} }
	on := func(instanceType string, pods ...*corev1.Pod) scenario.NewNodeClaim {
		c := scenario.NewNodeClaim{NodePool: "default", InstanceTypes: []string{instanceType}, Labels: map[string]string{v1.NodePoolLabelKey: "default"}}
		for _, pod := range pods {
			c.Pods = append(c.Pods, scenario.PodKey(pod))
		}
		return c
	}
	judge := func(p *scenario.Plan) (int, []verify.Violation, []verify.Violation) {
		c, err := replay.New(s)
		require.NoError(t, err)
		valid, broken, overlooked, err := c.JudgePlan(p)
		require.NoError(t, err)
		return valid, broken, overlooked
	}
	valid, broken, overlooked := judge(place(on("m5.4xlarge", s.Pods...)))
	require.Equal(t, len(s.Pods), valid)
	require.Empty(t, broken)
	require.Empty(t, overlooked)

	valid, _, overlooked = judge(place(on("m5.4xlarge", s.Pods[1:]...)))
	require.Equal(t, len(s.Pods)-1, valid)
	require.Len(t, overlooked, 1)
	require.Equal(t, scenario.PodKey(s.Pods[0]), overlooked[0].Pod)

	// Two pods of one host port do not share a node.
	for _, pod := range s.Pods[:2] {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	valid, broken, _ = judge(place(on("m5.4xlarge", s.Pods...)))
	require.Equal(t, len(s.Pods)-1, valid)
	require.Equal(t, verify.RuleHostPorts, broken[0].Rule)

	// The second node is one too many.
	s.NodePools[0].Spec.Limits = v1.Limits{"nodes": resource.MustParse("1")}
	valid, broken, _ = judge(place(on("m5.4xlarge", s.Pods[1:]...), on("m5.large", s.Pods[0])))
	require.Equal(t, len(s.Pods)-1, valid)
	require.Equal(t, verify.RuleLimits, broken[0].Rule)
}
