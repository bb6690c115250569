package disruption_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// tainted carries changes out.
func tainted(in disruption.Input, changes []disruption.SoftTaint) disruption.Input {
	in.Nodes = slices.Clone(in.Nodes)
	for _, c := range changes {
		i := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Node == c.Node })
		in.Nodes[i].Node = c.EditNode()
	}
	return in
}

// softTaintsOf writes changes as "+node" and "-node".
func softTaintsOf(changes []disruption.SoftTaint) (out []string) {
	for _, c := range changes {
		sign := "+"
		if c.Remove {
			sign = "-"
		}
		out = append(out, sign+c.Node.Name)
	}
	return out
}

func TestSoftTaints(t *testing.T) {
	fleet := func(nodes int) disruption.Input {
		var list []provisioning.Node
		for i := range nodes {
			list = append(list, ranked(fmt.Sprintf("n%02d", i), nodes-i)) // the last is the first to go
		}
		return newInput(list...)
	}
	for _, row := range []struct {
		nodes int
		edit  func(in *disruption.Input)
		want  []string
	}{
		{nodes: 0},
		{nodes: 1}, // there is no other node
		{nodes: 2, want: []string{"+n01"}},
		{nodes: 6, want: []string{"+n04", "+n05"}},
		{nodes: 11, want: []string{"+n08", "+n09", "+n10"}},
		{nodes: 11, edit: func(in *disruption.Input) { budgetOf("1")(in.NodePools[0]) }, want: []string{"+n10"}},
		{nodes: 11, edit: func(in *disruption.Input) { budgetOf("0")(in.NodePools[0]) }},
		{nodes: 6, edit: func(in *disruption.Input) { in.Nodes[5].NodeClaim.DeletionTimestamp = new(at(0)) }, want: []string{"+n03", "+n04"}},
	} {
		in := fleet(row.nodes)
		if row.edit != nil {
			row.edit(&in)
		}
		changes := observe(t, in, nil).SoftTaints()
		require.Equal(t, row.want, softTaintsOf(changes), row.nodes)
		require.Empty(t, observe(t, tainted(in, changes), nil).SoftTaints(), "nothing is left to write")
	}
}

// TestSoftTaintsOfUnneededNodes: they have the taint too, however many budgets let go now, but one
// node stays open.
func TestSoftTaintsOfUnneededNodes(t *testing.T) {
	var list []provisioning.Node
	for i := range 6 {
		list = append(list, ranked(fmt.Sprintf("n%02d", i), 6-i))
	}
	in := newInput(list...)
	budgetOf("1")(in.NodePools[0])
	in.Nodes[0].Node.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	f := observe(t, in, nil)
	require.Equal(t, []string{"+n05"}, softTaintsOf(f.SoftTaints()))
	require.Equal(t, []string{"+n02", "+n05"}, softTaintsOf(f.SoftTaints("n00", "n02", "gone")), "n00 has to stay")
	in.Nodes[0].Node.Annotations = nil
	f = observe(t, in, nil)
	require.Equal(t, []string{"+n01", "+n02", "+n03", "+n04", "+n05"}, softTaintsOf(f.SoftTaints("n00", "n01", "n02", "n03", "n04")), "one stays open")
	require.Equal(t, []string{"-n02"}, softTaintsOf(observe(t, tainted(in, f.SoftTaints("n02")), nil).SoftTaints()), "n02 is needed again")
}

// TestSoftTaintsAreTakenOff: a node that has to stay gets new pods again, and other taints stay.
func TestSoftTaintsAreTakenOff(t *testing.T) {
	in := newInput(ranked("a", 2), ranked("b", 1))
	other := corev1.Taint{Key: "team", Value: "x", Effect: corev1.TaintEffectPreferNoSchedule}
	in.Nodes[1].Node.Spec.Taints = []corev1.Taint{other}
	in = tainted(in, observe(t, in, nil).SoftTaints())
	require.Equal(t, []corev1.Taint{other, {Key: v1.DeletionCandidateTaintKey, Effect: corev1.TaintEffectPreferNoSchedule}}, in.Nodes[1].Node.Spec.Taints)
	in.Nodes[1].Node.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	changes := observe(t, in, nil).SoftTaints()
	require.Equal(t, []string{"+a", "-b"}, softTaintsOf(changes))
	require.Len(t, in.Nodes[1].Node.Spec.Taints, 2, "the input is not changed")
	require.Equal(t, []corev1.Taint{other}, changes[1].EditNode().Spec.Taints)
}

// Two ways in which pods that come and go by themselves empty the node that would be removed next.
func ExampleCluster_SoftTaints() {
	in := newInput(
		newNode("busy", "web", withPods(newPod("web-1"), newPod("web-2"))),
		newNode("quiet", "web", withPods(newPod("web-3"))),
	)
	cluster := look(in, &disruption.Options{IgnorePodDeletionCost: true})
	for _, c := range cluster.PodDeletionCosts() {
		fmt.Println(c.Pod.Name, "on", c.Node, "costs", c.EditPod().Annotations[v1.PodDeletionCostAnnotationKey])
	}
	for _, t := range cluster.SoftTaints() {
		fmt.Println(t.Node.Name, t.EditNode().Spec.Taints[0].ToString())
	}
	// Output:
	// web-3 on quiet costs -2048
	// web-1 on busy costs -1024
	// web-2 on busy costs -1024
	// quiet dovetail-sdk.github.io/deletion-candidate:PreferNoSchedule
}
