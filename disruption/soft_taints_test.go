package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
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

// sparse returns four nodes with a pod each. Any one of the nodes has room for all four pods.
func sparse() disruption.Input {
	_, medium, _, all := sizes()
	return fleetOf(all, machine("a", "default", medium, load("a", 900)), machine("b", "default", medium, load("b", 800)),
		machine("c", "default", medium, load("c", 700)), machine("d", "default", medium, load("d", 600)))
}

// TestUnneeded: budgets and consolidateAfter keep no node back, unless they keep all for good.
func TestUnneeded(t *testing.T) {
	for name, row := range map[string]struct {
		edit     func(in *disruption.Input)
		proposed int // nodes that may go now
		want     []string
	}{
		"all that may go now": {edit: func(in *disruption.Input) {}, proposed: 3, want: []string{"a", "b", "c"}},
		"also what budgets hold back": {edit: func(in *disruption.Input) { budgetOf("1")(in.NodePools[0]) },
			proposed: 1, want: []string{"a", "b", "c"}},
		"also what consolidateAfter holds back": {edit: func(in *disruption.Input) {
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(time.Hour)
			in.PodEvents = map[string]time.Time{"a": noon, "b": noon, "c": noon, "d": noon}
		}, want: []string{"a", "b", "c"}},
		"nothing where budgets let nothing go": {edit: func(in *disruption.Input) { budgetOf("0")(in.NodePools[0]) }},
		"nothing where consolidateAfter is Never": {edit: func(in *disruption.Input) {
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NillableDuration{}
			require.NoError(t, in.NodePools[0].Spec.Disruption.ConsolidateAfter.UnmarshalJSON([]byte(`"Never"`)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := sparse()
			row.edit(&in)
			p := propose(t, in, nil)
			gone := 0
			for _, a := range p.Actions {
				gone += len(a.Targets)
			}
			require.Equal(t, row.proposed, gone)
			unneeded, err := observe(t, in, nil).Unneeded(t.Context())
			require.NoError(t, err)
			require.Equal(t, row.want, unneeded)
		})
	}
}

// TestUnneededAsksWhatProposeAsks: the options are those of Propose, also where a negative value says
// that there is no limit.
func TestUnneededAsksWhatProposeAsks(t *testing.T) {
	_, medium, _, _ := sizes()
	large := sizedType("large", 8, 0.25)
	in := fleetOf([]*cloudprovider.InstanceType{medium, large}, machine("n1", "default", large, load("a", 3000)))
	for score, want := range map[float64][]string{0: nil, -1: {"n1"}} { // a fifth of the cost is less than the default asks for
		opts := &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: score}}
		require.Len(t, propose(t, in, opts).Actions, len(want))
		unneeded, err := observe(t, in, opts).Unneeded(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, unneeded)
	}
}

func TestUnneededEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := observe(t, sparse(), nil).Unneeded(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// A budget lets one node go at a time. The others that will follow are known already, and new pods
// should not go there.
func ExampleCluster_Unneeded() {
	in := sparse()
	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
	cluster := look(in, nil)
	unneeded, err := cluster.Unneeded(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(unneeded)
	for _, t := range cluster.SoftTaints(unneeded...) {
		fmt.Println(t.Node.Name, t.EditNode().Spec.Taints[0].Effect)
	}
	// Output:
	// [a b c]
	// a PreferNoSchedule
	// b PreferNoSchedule
	// c PreferNoSchedule
}
