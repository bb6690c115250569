package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestConfirm(t *testing.T) {
	// Of n1 one pod goes to n2, and for the other there is a new node.
	base := func() disruption.Input {
		small, medium, large, all := sizes()
		_ = small
		return fleetOf(all, machine("n1", "default", large, load("a", 1600), load("b", 1500)), machine("n2", "default", medium, load("c", 2300)))
	}
	decide := func(t *testing.T) disruption.Action {
		in := base()
		in.Nodes[1] = with(in.Nodes[1], func(n *provisioning.Node) { n.NodeClaim.Annotations["karpenter.sh/do-not-disrupt"] = "true" })
		in.Nodes[1].Node.Annotations["karpenter.sh/do-not-disrupt"] = "true"
		p := propose(t, in, anySaving())
		require.Equal(t, []string{"Underutilized n1 -> small saves 0.300"}, deeds(p.Actions), "%v", p.Blocked)
		require.Len(t, p.Actions[0].Moves, 2)
		return p.Actions[0]
	}
	tests := []struct {
		name string
		edit func(in *disruption.Input, o *disruption.Options)
		kind disruption.ObjectionKind
	}{
		{"the node is protected", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[0].Node.Annotations["karpenter.sh/do-not-disrupt"] = "true"
		}, disruption.ObjectionBlocked},
		{"the node is gone", func(in *disruption.Input, _ *disruption.Options) { in.Nodes = in.Nodes[1:] }, disruption.ObjectionBlocked},
		{"the budget is spent", func(in *disruption.Input, _ *disruption.Options) { budgetOf("0")(in.NodePools[0]) }, disruption.ObjectionBudget},
		{"a pod has come", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[0].Pods = append(in.Nodes[0].Pods, load("late", 100))
		}, disruption.ObjectionNewPods},
		{"the destination is gone", func(in *disruption.Input, _ *disruption.Options) { in.Nodes = in.Nodes[:1] }, disruption.ObjectionDestination},
		{"the destination is on its way out", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[1].NodeClaim.DeletionTimestamp = new(at(0))
		}, disruption.ObjectionDestination},
		{"the destination is full", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[1].Pods = append(in.Nodes[1].Pods, load("more", 1700))
		}, disruption.ObjectionUnplaced},
		{"the replacement is sold out", func(in *disruption.Input, _ *disruption.Options) {
			for _, o := range in.InstanceTypes["default"] {
				o.Offerings[0].Available = false
			}
		}, disruption.ObjectionOffering},
		{"the replacement ran dry lately", func(in *disruption.Input, _ *disruption.Options) {
			for _, name := range []string{"small", "medium"} {
				in.UnavailableOfferings = append(in.UnavailableOfferings, disruption.UnavailableOffering{At: noon, Offering: cloudprovider.OfferingKey{
					InstanceType: name, Zone: "a", CapacityType: "on-demand"}})
			}
		}, disruption.ObjectionOffering},
		{"the pool is gone", func(in *disruption.Input, _ *disruption.Options) {
			in.NodePools[0].DeletionTimestamp = new(at(0))
		}, disruption.ObjectionOffering},
		{"the price has changed", func(in *disruption.Input, _ *disruption.Options) {
			for _, o := range in.InstanceTypes["default"] {
				o.Offerings[0].Price = 0.4
			}
		}, disruption.ObjectionPrice},
		{"more saving is asked for", func(_ *disruption.Input, o *disruption.Options) { o.Consolidation.MinimumSaving = 1 }, disruption.ObjectionPrice},
		{"the engine refuses the input", func(in *disruption.Input, _ *disruption.Options) {
			in.Pods = []*corev1.Pod{load("twice", 1), load("twice", 1)}
		}, disruption.ObjectionInput},
		{"a pod wants what is nowhere", func(in *disruption.Input, _ *disruption.Options) {
			for _, p := range in.Nodes[0].Pods {
				p.Spec.NodeSelector = map[string]string{"disk": "fast"}
			}
			in.Nodes[0].Node.Labels["disk"] = "fast"
		}, disruption.ObjectionDestination},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := decide(t)
			in, o := base(), anySaving()
			tt.edit(&in, o)
			got := objectionsTo(t, noon.Add(time.Minute), in, a, o)
			require.NotEmpty(t, got)
			require.Equal(t, tt.kind, got[0].Kind, "%v", got)
			require.NotEmpty(t, got[0].String())
		})
	}
	t.Run("pods have come to the destination", func(t *testing.T) {
		a, in := decide(t), base()
		in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(5 * time.Minute)
		in.PodEvents = map[string]time.Time{"n2": noon}
		got := objectionsTo(t, noon.Add(time.Minute), in, a, anySaving())
		require.Empty(t, got)
		delete(in.Nodes[1].Node.Labels, v1.NodeInitializedLabelKey)
		got = objectionsTo(t, noon.Add(time.Minute), in, a, anySaving())
		require.Len(t, got, 1)
		require.Equal(t, disruption.ObjectionDestination, got[0].Kind)
	})
	t.Run("nothing has changed", func(t *testing.T) {
		got := objectionsTo(t, noon.Add(time.Minute), base(), decide(t), anySaving())
		require.Empty(t, got)
	})
}
