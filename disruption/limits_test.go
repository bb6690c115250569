package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// TestLimitsAreKeptForPodsThatWait: a node that would be cheaper as a larger one
// stays where the limit is needed for a pod that waits.
func TestLimitsAreKeptForPodsThatWait(t *testing.T) {
	dear, cheap := sizedType("dear", 2, 1), sizedType("cheap", 4, 0.4)
	input := func(limit int64, waiting ...*corev1.Pod) disruption.Input {
		in := fleetOf([]*cloudprovider.InstanceType{dear, cheap}, machine("n1", "default", dear, load("a", 1900)))
		in.NodePools[0].Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(limit, resource.DecimalSI)}
		in.Pods = waiting
		return in
	}
	replaced := []string{"Underutilized n1 -> cheap saves 0.600"}
	require.Equal(t, replaced, deeds(propose(t, input(4), anySaving()).Actions))
	require.Empty(t, deeds(propose(t, input(4, load("waiting", 1500)), anySaving()).Actions), "2 of 4 CPUs are for the pod that waits")
	require.Equal(t, replaced, deeds(propose(t, input(8, load("waiting", 1500)), anySaving()).Actions), "there is enough for both")
	require.Equal(t, replaced, deeds(propose(t, input(4, load("waiting", 50_000)), anySaving()).Actions), "a pod that fits nowhere needs none of it")
}

// TestConfirmAsksAboutLimits: a node that is cheaper as a larger one stays where its
// pool has no room for it any more.
func TestConfirmAsksAboutLimits(t *testing.T) {
	dear, cheap := sizedType("dear", 2, 1), sizedType("cheap", 4, 0.4)
	types := []*cloudprovider.InstanceType{dear, cheap}
	old := machine("n1", "default", dear, load("a", 1900))
	limited := func(in disruption.Input, limit int64) disruption.Input {
		in.NodePools[0].Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(limit, resource.DecimalSI)}
		return in
	}
	p := propose(t, limited(fleetOf(types, old), 6), anySaving())
	require.Equal(t, []string{"Underutilized n1 -> cheap saves 0.600"}, deeds(p.Actions))
	confirm := func(in disruption.Input) []disruption.Objection {
		objections := objectionsTo(t, noon, in, p.Actions[0], anySaving())
		return objections
	}
	full := "Limits: the limits of NodePool \"default\" leave no room for what would be launched: " +
		"more of them is used, or needed for pods that wait, than when this was decided"
	waiting := limited(fleetOf(types, old), 6)
	waiting.Pods = []*corev1.Pod{load("waiting", 3500)}
	for name, c := range map[string]struct {
		in   disruption.Input
		want []string
	}{
		"nothing has changed":    {limited(fleetOf(types, old), 6), nil},
		"the limit is lower":     {limited(fleetOf(types, old), 3), []string{full}},
		"another node is there":  {limited(fleetOf(types, old, machine("n2", "default", cheap)), 7), []string{full}},
		"there is room for both": {limited(fleetOf(types, old, machine("n2", "default", cheap)), 8), nil},
		"a pod waits":            {waiting, []string{full}},
	} {
		var got []string
		for _, o := range confirm(c.in) {
			require.Equal(t, disruption.ObjectionLimits, o.Kind)
			got = append(got, o.String())
		}
		require.Equal(t, c.want, got, name)
	}
}

// TestActionsTogetherKeepLimits: what all actions of a proposal launch is within the
// limits of the pools, beside the nodes that stay.
func TestActionsTogetherKeepLimits(t *testing.T) {
	n := int(testlong.Problems(300, 30))
	launched := 0
	for seed := range n {
		in := newMaker(uint64(7000 + seed)).drifting(14)
		p := propose(t, in, anySaving())
		nodes, gone := map[string]int64{}, map[string]bool{}
		for _, a := range p.Actions {
			for _, target := range a.Targets {
				gone[target.Node] = true
			}
			for _, r := range a.Replacements {
				nodes[r.Pool.Name]++
				launched++
			}
		}
		for _, node := range in.Nodes {
			if !gone[node.Name()] {
				nodes[node.NodeClaim.Labels[v1.NodePoolLabelKey]]++
			}
		}
		for _, pool := range in.NodePools {
			if limit, ok := pool.Spec.Limits[v1.ResourceNodes]; ok {
				require.LessOrEqual(t, nodes[pool.Name], limit.Value(), "seed %d: %s of %d nodes: %v", seed, pool.Name, len(in.Nodes), p.Actions)
			}
		}
	}
	require.Greater(t, launched, n/2)
}
