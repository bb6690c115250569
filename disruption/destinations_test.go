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

// An action says where the pods of its nodes go and what is launched for them,
// whether that was simulated for it or is for the next plan.
func TestActionsSayWherePodsGo(t *testing.T) {
	small, medium, large, all := sizes()
	old := func(name string, of *cloudprovider.InstanceType, pods ...*corev1.Pod) provisioning.Node {
		return with(machine(name, "default", of, pods...), expiresAfter(v1.NewDuration(24*time.Hour)))
	}
	held := func(name string, of *cloudprovider.InstanceType, pods ...*corev1.Pod) provisioning.Node {
		return with(machine(name, "default", of, pods...), func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true" })
	}
	const expired = "expireAfter 24h0m0s has passed since 2026-02-28T12:00:00Z"
	tests := []struct {
		name string
		edit func(*disruption.Input, *disruption.Options)
		want []string
	}{
		{"an expired node, whose pod needs a new one", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 1500))}
		}, []string{"Delete n1 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h"}},
		{"one pod of which finds room, beside a candidate for consolidation", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 3900), load("b", 900)), machine("n2", "default", small, load("c", 900))}
		}, []string{"Delete n1 (Expired): " + expired + "; its 2 pods are for the next plan: 1 new node for 1 pod, medium/a/on-demand at 0.2 USD/h; " +
			"there is room for 1 pod on 1 other node"}},
		{"two that share what is launched", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 900)), old("n2", large, load("b", 900))}
		}, []string{
			"Delete n1 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h, shared with other pods",
			"Delete n2 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h, shared with other pods",
		}},
		{"a pod that has no other place", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 900, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "gold"} }))}
		}, []string{"Delete n1 (Expired): " + expired + "; its pod is for the next plan: no place for 1 pod"}},
		{"what NoReplacements rules out is launched for it all the same", func(in *disruption.Input, o *disruption.Options) {
			in.Nodes, o.Consolidation.NoReplacements = []provisioning.Node{old("n1", large, load("a", 1500)), held("n2", small, load("b", 100))}, true
			in.Nodes[1].Node.Spec.Unschedulable = true
		}, []string{"Delete n1 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h"}},
		{"the engine refuses the input", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 1500))}
			in.Pods = []*corev1.Pod{load("twice", 5), load("twice", 5)}
		}, []string{"Delete n1 (Expired): " + expired + "; its pod is for the next plan"}},
		{"an expired node without pods", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large)}
		}, []string{"Delete n1 (Expired): " + expired}},
		{"an interrupted node", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", large, load("a", 1500))}
			in.Interruptions = notices(cloudprovider.Interruption{InstanceID: "cloud://n1", Kind: cloudprovider.InterruptionStopping})
		}, []string{"Delete n1 (Interrupted): the cloud gave notice: Stopping; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h"}},
		{"a drifted node", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", large, load("a", 3900), load("b", 900)), held("n2", small, load("c", 900))}
			in.Drift = driftOf("n1", "AMIDrift")
		}, []string{"Replace n1 (Drifted): the image is old; 1 new node for 1 pod, medium/a/on-demand at 0.2 USD/h; there is room for 1 pod on 1 other node"}},
		{"a drifted node of a static pool", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", medium, load("a", 900))}
			replicas(1, 2)(in.NodePools[0])
			in.Drift = driftOf("n1", "AMIDrift")
		}, []string{`Replace n1 (Drifted): the image is old; a new node by the template of its NodePool "default" comes first`}},
		{"and without room beside it", func(in *disruption.Input, o *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", medium, load("a", 900))}
			replicas(1, 1)(in.NodePools[0])
			in.Drift, o.Drift.TerminateFirst = driftOf("n1", "AMIDrift"), true
		}, []string{`TerminateFirst n1 (Drifted): the image is old; a new node by the template of its NodePool "default" follows`}},
		{"a drifted node that holds what its pod needs", func(in *disruption.Input, o *disruption.Options) {
			*in, o.Drift.TerminateFirst = reservedInput(), true
		}, []string{"TerminateFirst held (Drifted): another image; it goes first, as its pods find a place only once its own in reservation cr-1 is free: " +
			"1 new node for 1 pod, c.8/a/reserved/cr-1 at 0.001 USD/h"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, o := fleetOf(all), &disruption.Options{}
			tt.edit(&in, o)
			var got []string
			for _, a := range propose(t, in, o).Actions {
				if a.Reason != disruption.Underutilized {
					got = append(got, a.String())
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}
