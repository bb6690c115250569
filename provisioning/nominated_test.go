package provisioning_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func ExampleInput_nominated() {
	node := func(name string) provisioning.Node {
		room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}
		return provisioning.Node{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}}}
	}
	pod := func(name, cpu string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
		return p
	}
	plan, err := provisioning.Solve(context.Background(), provisioning.Input{
		Nodes: []provisioning.Node{node("a"), node("b")},
		Pods:  []*corev1.Pod{pod("cart", "1"), pod("search", "3"), pod("web", "2")},
		Nominated: map[types.NamespacedName]string{
			{Namespace: "shop", Name: "cart"}:   "b",
			{Namespace: "shop", Name: "search"}: "b",
			{Namespace: "shop", Name: "web"}:    "b", // has no room left
		},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			fmt.Println(p.Name, "on", b.Node)
		}
	}
	// Output:
	// web on a
	// cart on b
	// search on b
}

// namesOf returns the names of the pods of an input.
func namesOf(in provisioning.Input) []types.NamespacedName {
	var out []types.NamespacedName
	for _, p := range in.Pods {
		out = append(out, types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	}
	return out
}

// TestLawNominatedPlacesHold: wherever pods are nominated to, the referee finds nothing
// wrong with the plan.
func TestLawNominatedPlacesHold(t *testing.T) {
	t.Parallel()
	held, asked := 0, 0
	for seed := range uint64(lawSeeds(2_000, 150)) {
		in, opts := richProblem(seed, everything)
		if len(in.Nodes) == 0 || len(in.Pods) == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 5))
		in.Nominated = map[types.NamespacedName]string{}
		for _, pod := range namesOf(in) {
			if r.IntN(2) == 0 {
				in.Nominated[pod] = in.Nodes[r.IntN(len(in.Nodes))].Name()
			}
		}
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		asked += len(in.Nominated)
		held += heldPlaces(in, plan)
	}
	t.Logf("%d of %d places hold", held, asked)
	require.Greater(t, held, asked/20)
}

// heldPlaces is how many pods of a plan are where they were nominated to.
func heldPlaces(in provisioning.Input, plan *provisioning.Plan) int {
	n := 0
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if in.Nominated[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] == b.Node {
				n++
			}
		}
	}
	return n
}

// What holds in some order holds: pods that are spread come before others that the spread
// counts, after which they would be one too many in their zone; and the first of those that
// are to share a zone chooses it, before one that is spread is in another.
func TestNominatedPodsComeInAnOrderThatHolds(t *testing.T) {
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}
	app := map[string]string{"app": "web"}
	tests := []struct {
		name  string
		pods  map[string]string // their nodes
		first string
	}{
		{"others in its zone", map[string]string{"first": "a", "second": "a", "spread": "a"}, "spread"},
		{"others that share a zone", map[string]string{"spread": "a", "together-1": "b", "together-2": "b"}, "together-1"},
	}
	for _, tt := range tests {
		var in provisioning.Input
		for _, zone := range []string{"a", "b"} {
			in.Nodes = append(in.Nodes, provisioning.Node{Node: &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: zone, Labels: map[string]string{corev1.LabelTopologyZone: zone}},
				Status:     corev1.NodeStatus{Capacity: room, Allocatable: room}}})
		}
		in.Nominated = map[types.NamespacedName]string{}
		for name, node := range tt.pods {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: app}}
			switch {
			case name == "spread":
				scenes.Spread(p, corev1.LabelTopologyZone, 1, scenes.Alike(p))
			case strings.HasPrefix(name, "together"):
				scenes.Follow(p, corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: scenes.Alike(p)})
			}
			in.Pods = append(in.Pods, p)
			in.Nominated[types.NamespacedName{Namespace: "shop", Name: name}] = node
		}
		plan := solved(t, in, nil)
		require.Equal(t, len(tt.pods), heldPlaces(in, plan), "%s: %v", tt.name, plan.Bind)
		require.Equal(t, tt.first, plan.Order[0].Name, tt.name)
		require.Empty(t, verify.Plan(in, plan, nil), tt.name)
	}
}

func TestNominatedFaults(t *testing.T) {
	in, opts := richProblem(1, everything)
	bound := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bound"}}
	in.Nominated = map[types.NamespacedName]string{{Namespace: "shop", Name: bound.Name}: "n", {Namespace: "shop", Name: "a"}: "n"}
	_, err := provisioning.Prepare(in, opts)
	require.EqualError(t, err, "Nominated: shop/a: is not among Pods: only a pod that waits can be tried on a node; leave it out\n"+
		"Nominated: shop/bound: is not among Pods: only a pod that waits can be tried on a node; leave it out")
	in.Nominated = nil
	problem := problemOf(t, in, opts)
	_, err = problem.Nominating(map[types.NamespacedName]string{{Namespace: "shop", Name: "a"}: "n"})
	require.Error(t, err)
	nowhere := map[types.NamespacedName]string{}
	for _, pod := range namesOf(in) {
		nowhere[pod] = "no such node"
	}
	again, err := problem.Nominating(nowhere)
	require.NoError(t, err)
	want := planOf(t, problem)
	got, err := again.Solve(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got, "a place that is not there changes nothing")
}
