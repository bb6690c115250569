package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// costsOf writes changes as "node/pod cost".
func costsOf(changes []disruption.PodDeletionCost) []string {
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s/%s %d", c.Node, c.Pod.Name, c.Cost))
	}
	return out
}

// written carries changes out.
func written(in disruption.Input, changes []disruption.PodDeletionCost) disruption.Input {
	edited := map[*corev1.Pod]*corev1.Pod{}
	for _, c := range changes {
		edited[c.Pod] = c.EditPod()
	}
	in.Nodes = slices.Clone(in.Nodes)
	for i := range in.Nodes {
		in.Nodes[i].Pods = slices.Clone(in.Nodes[i].Pods)
		for k, p := range in.Nodes[i].Pods {
			if edited[p] != nil {
				in.Nodes[i].Pods[k] = edited[p]
			}
		}
	}
	return in
}

func ignoringCosts() *disruption.Options { return &disruption.Options{IgnorePodDeletionCost: true} }

// ranked returns a node of a price, with pods of a ReplicaSet.
func ranked(name string, pods int, edits ...func(*provisioning.Node)) provisioning.Node {
	n := newNode(name, "web", edits...)
	for i := range pods {
		n.Pods = append(n.Pods, newPod(fmt.Sprintf("%s-%d", name, i)))
	}
	return n
}

func TestPodDeletionCosts(t *testing.T) {
	large := withLabel(corev1.LabelInstanceTypeStable, "m.xlarge") // twice the price
	drifted := func(n *provisioning.Node) {
		n.NodeClaim.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "old", v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
	}
	deleted := func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }
	tainted := func(n *provisioning.Node) {
		n.Node.Spec.Taints = append(n.Node.Spec.Taints, v1.DisruptedNoScheduleTaint())
	}
	for name, c := range map[string]struct {
		edit func(in *disruption.Input)
		more []provisioning.Node
		want []string
	}{
		"the most saving first": {want: []string{"dear/dear-0 -2048", "cheap/cheap-0 -1024", "cheap/cheap-1 -1024"}},
		"what drifted goes before that, and what leaves before all": {
			more: []provisioning.Node{ranked("drifted", 3, drifted), ranked("leaving", 1, deleted), ranked("tainted", 1, tainted)},
			want: []string{"leaving/leaving-0 -2147483648", "tainted/tainted-0 -2147483648",
				"drifted/drifted-0 -3072", "drifted/drifted-1 -3072", "drifted/drifted-2 -3072",
				"dear/dear-0 -2048", "cheap/cheap-0 -1024", "cheap/cheap-1 -1024"},
		},
		"as many as budgets let go": {
			edit: func(in *disruption.Input) { budgetOf("1", "Underutilized")(in.NodePools[0]) },
			want: []string{"dear/dear-0 -1024"},
		},
		"none while nothing may go": {
			edit: func(in *disruption.Input) { budgetOf("0")(in.NodePools[0]) },
		},
		"none where consolidateAfter is Never": {
			edit: func(in *disruption.Input) {
				in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
			},
		},
		"not before consolidateAfter has passed would be too late": {
			edit: func(in *disruption.Input) {
				in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(1000 * time.Hour)
			},
			want: []string{"dear/dear-0 -2048", "cheap/cheap-0 -1024", "cheap/cheap-1 -1024"},
		},
		"no number where a pod keeps its node": {
			more: []provisioning.Node{
				ranked("stateful", 1, withPods(newPod("db", owner("apps/v1", "StatefulSet")))),
				ranked("bare", 1, withPods(newPod("lone", func(p *corev1.Pod) { p.OwnerReferences = nil }))),
				ranked("held", 1, withPods(newPod("held", note(v1.DoNotDisruptAnnotationKey, "true")))),
				ranked("unknown", 1, withLabel(corev1.LabelInstanceTypeStable, "gone")),
			},
			want: []string{"dear/dear-0 -2048", "cheap/cheap-0 -1024", "cheap/cheap-1 -1024"},
		},
		"pods that come back do not keep it": {
			more: []provisioning.Node{ranked("mixed", 1, large,
				withPods(newPod("agent", owner("apps/v1", "DaemonSet")), newPod("job", owner("batch/v1", "Job")),
					newPod("static", owner("v1", "Node")),
					newPod("system", owner("apps/v1", "StatefulSet"), func(p *corev1.Pod) { p.Namespace = "kube-system" })))},
			want: []string{"dear/dear-0 -3072", "mixed/mixed-0 -2048", "cheap/cheap-0 -1024", "cheap/cheap-1 -1024"},
		},
		"nobody else's nodes": {
			more: []provisioning.Node{{Node: newNode("foreign", "web").Node, Pods: []*corev1.Pod{newPod("p")}}},
			want: []string{"dear/dear-0 -2048", "cheap/cheap-0 -1024", "cheap/cheap-1 -1024"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(ranked("cheap", 2), ranked("dear", 1, large))
			in.Nodes = append(in.Nodes, c.more...)
			if c.edit != nil {
				c.edit(&in)
			}
			f := observe(t, in, ignoringCosts())
			require.Equal(t, c.want, costsOf(f.PodDeletionCosts()))
			again := observe(t, written(in, f.PodDeletionCosts()), ignoringCosts())
			require.Empty(t, again.PodDeletionCosts(), "nothing is left to write")
		})
	}
}

// TestPodDeletionCostsByUnusedRoom: the first nodes are those whose pods account for the least of their price.
func TestPodDeletionCostsByUnusedRoom(t *testing.T) {
	_, medium, large, _ := sizes()
	both := sizedType("both", 8, 0.4, onDemand("a", 0.4), spot("a", 0.1))
	onlyOnDemand := func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}
	}
	nowhereElse := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "gone"} }
	halfUsed := func() []provisioning.Node {
		return []provisioning.Node{machine("full", "default", large, load("a", 3500), load("b", 3500)),
			machine("half", "default", medium, load("c", 500), load("d", 500), load("e", 500), load("f", 500))}
	}
	for name, c := range map[string]struct {
		nodes []provisioning.Node
		types []*cloudprovider.InstanceType
		want  []string // nodes, the first to be emptied first
	}{
		"room that is not used, although the other node costs more for each pod": {nodes: halfUsed(), want: []string{"half", "full"}},
		"by the savings ratio if the engine refuses the input": {nodes: halfUsed(), want: []string{"full", "half"},
			types: []*cloudprovider.InstanceType{{Name: "no requirements", Capacity: resources.MustParse("cpu=-1")}}},
		"pods that could run on cheaper capacity account for less": {
			nodes: []provisioning.Node{machine("needed", "default", large, load("a", 2000, onlyOnDemand), load("b", 2000, onlyOnDemand)),
				machine("unneeded", "default", large, load("c", 3000), load("d", 3000))},
			want: []string{"unneeded", "needed"},
		},
		"pods that no new node could have come last": {
			nodes: []provisioning.Node{machine("needed", "default", large, load("a", 100, nowhereElse)), machine("full", "default", medium, load("b", 3900))},
			want:  []string{"full", "needed"},
		},
		"a higher savings ratio where both are full": {
			nodes: []provisioning.Node{machine("two", "default", medium, load("a", 2000, onlyOnDemand), load("b", 2000, onlyOnDemand)),
				machine("one", "default", medium, load("c", 4000, onlyOnDemand))},
			want: []string{"one", "two"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			types := append([]*cloudprovider.InstanceType{medium, large, both}, c.types...)
			changes := observe(t, fleetOf(types, c.nodes...), ignoringCosts()).PodDeletionCosts()
			var got []string
			for _, change := range changes {
				if len(got) == 0 || got[len(got)-1] != change.Node {
					got = append(got, change.Node)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestPodDeletionCostsAreTakenOff(t *testing.T) {
	in := newInput(ranked("a", 2), ranked("b", 1))
	in = written(in, observe(t, in, ignoringCosts()).PodDeletionCosts())
	in.Nodes[0].Node.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	changes := observe(t, in, ignoringCosts()).PodDeletionCosts()
	require.Equal(t, []string{"a/a-0 0", "a/a-1 0"}, costsOf(changes))
	for _, c := range changes {
		require.Contains(t, c.Pod.Annotations, v1.PodDeletionCostAnnotationKey, "the input is not changed")
		require.NotContains(t, c.EditPod().Annotations, v1.PodDeletionCostAnnotationKey)
	}
}

func TestPodDeletionCostsOfOthersStay(t *testing.T) {
	in := newInput(ranked("a", 4))
	for i, text := range []string{"0", "17", "none", "-3"} {
		note(v1.PodDeletionCostAnnotationKey, text)(in.Nodes[0].Pods[i])
	}
	require.Empty(t, costsOf(observe(t, in, ignoringCosts()).PodDeletionCosts()), "-3 is as good as any")
	in.Nodes[0].NodeClaim.DeletionTimestamp = new(at(0))
	require.Equal(t, []string{"a/a-3 -2147483648"}, costsOf(observe(t, in, ignoringCosts()).PodDeletionCosts()))
}

// TestPodDeletionCostsChangeLittle: a node that comes or goes, or a pod, is no reason to
// write to the pods of all others.
func TestPodDeletionCostsChangeLittle(t *testing.T) {
	in := newInput(ranked("a", 1), ranked("b", 2), ranked("c", 3), ranked("d", 4))
	in = written(in, observe(t, in, ignoringCosts()).PodDeletionCosts())
	changes := func() []string { return costsOf(observe(t, in, ignoringCosts()).PodDeletionCosts()) }
	require.Empty(t, changes())

	in.Nodes = in.Nodes[1:] // a is gone
	require.Empty(t, changes())
	in.Nodes[0].Pods = append(in.Nodes[0].Pods, newPod("b-new")) // b and c have as many pods now: b by name
	require.Equal(t, []string{"b/b-new -3072"}, changes())
	in.Nodes = append(in.Nodes, ranked("b2", 3))
	require.Equal(t, []string{"b/b-new -3072", "b2/b2-0 -2560", "b2/b2-1 -2560", "b2/b2-2 -2560"}, changes())
}

// TestLawPodDeletionCosts: what is written once is as it should be, costs are below zero
// or the annotation is taken off, and only pods of ReplicaSets get any.
func TestLawPodDeletionCosts(t *testing.T) {
	n := 300
	if !testlong.On() || testlong.UnderRace {
		n = 60
	}
	total := 0
	for seed := range n {
		in := newMaker(uint64(seed)).cluster(12)
		changes := observe(t, in, ignoringCosts()).PodDeletionCosts()
		total += len(changes)
		of := map[string]int32{}
		for _, c := range changes {
			require.LessOrEqual(t, c.Cost, int32(0))
			require.Equal(t, "ReplicaSet", metav1.GetControllerOf(c.Pod).Kind)
			if cost, known := of[c.Node]; known {
				require.Equal(t, cost, c.Cost, "one for each node")
			}
			of[c.Node] = c.Cost
		}
		require.True(t, slices.IsSortedFunc(changes, func(a, b disruption.PodDeletionCost) int { return int(int64(a.Cost) - int64(b.Cost)) }))
		require.Empty(t, observe(t, written(in, changes), ignoringCosts()).PodDeletionCosts(), "seed %d", seed)
	}
	require.Greater(t, total, n)
}

// Which pods a ReplicaSet should end first, for the nodes that are to go to be empty.
func ExampleCluster_PodDeletionCosts() {
	in := newInput(ranked("cheap", 1), ranked("dear", 1, withLabel(corev1.LabelInstanceTypeStable, "m.xlarge")))
	fleet, err := disruption.Observe(noon, in, &disruption.Options{IgnorePodDeletionCost: true})
	if err != nil {
		panic(err)
	}
	for _, c := range fleet.PodDeletionCosts() {
		pod := c.EditPod() // update it
		fmt.Println(pod.Name, pod.Annotations["controller.kubernetes.io/pod-deletion-cost"])
	}
	// Output:
	// dear-0 -2048
	// cheap-0 -1024
}
