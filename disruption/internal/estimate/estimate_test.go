package estimate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// market has a pool that launches small nodes with one CPU for 1 USD/h in zones a and b, and large ones
// with four for 3 in zone a. Spot nodes cost half.
func market() provisioning.Input {
	size := func(name string, cpu int64, price float64, zones ...string) *cloudprovider.InstanceType {
		t := &cloudprovider.InstanceType{Name: name, Capacity: resources.MustParse(fmt.Sprintf("cpu=%d, memory=64Gi, pods=100", cpu)), Requirements: requirements.NewSet(
			requirements.In(corev1.LabelInstanceTypeStable, name), requirements.In(corev1.LabelTopologyZone, zones...),
			requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot))}
		for _, zone := range zones {
			t.Offerings = append(t.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true},
				cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeSpot, Price: price / 2, Available: true})
		}
		return t
	}
	return provisioning.Input{
		NodePools:     []*v1.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "p"}}},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"p": {size("small", 1, 1, "a", "b"), size("large", 4, 3, "a")}},
	}
}

// pod returns a pod that requests some milli-CPU.
func pod(name string, cpu int64, more ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name, UID: "u", Labels: map[string]string{"app": name}}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI)}}}}
	for _, change := range more {
		change(p)
	}
	return p
}

func inZone(zone string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone} }
}

// apartFrom excludes pods with a label from the node.
func apartFrom(app string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}}}
	}
}

// node returns a node of 8 CPU with some pods.
func node(name, zone string, pods ...*corev1.Pod) provisioning.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}}}
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("50")}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, p := range pods {
		p.Spec.NodeName = name
	}
	return provisioning.Node{Node: n, Pods: pods}
}

// estimateOf returns the estimate of nodes all of whose pods move, with some pods pinned.
func estimateOf(t *testing.T, in provisioning.Input, pins map[*corev1.Pod]estimate.Pin, nodes ...provisioning.Node) *estimate.Estimate {
	t.Helper()
	return estimateWith(t, in, pins, nil, nodes...)
}

// estimateWith is estimateOf with pods that may count as others.
func estimateWith(t *testing.T, in provisioning.Input, pins map[*corev1.Pod]estimate.Pin, loose []*corev1.Pod, nodes ...provisioning.Node) *estimate.Estimate {
	t.Helper()
	compiled, err := provisioning.Prepare(in, nil)
	require.NoError(t, err)
	bare := make([]provisioning.Node, len(nodes))
	var pods []engine.Pod
	for i, n := range nodes {
		bare[i] = provisioning.Node{Node: n.Node}
		for _, p := range n.Pods {
			pods = append(pods, engine.Pod{Pod: p, Node: n.Name()})
		}
	}
	s, err := compiled.State(bare, pods)
	require.NoError(t, err)
	own := estimate.Input{State: s, Launches: true, Kinds: estimate.NewKinds(s)}
	for p, pin := range pins {
		own.Kinds.Pin(p, pin)
	}
	for _, p := range loose {
		own.Kinds.Loosen(p, nil)
	}
	for _, n := range nodes {
		own.Nodes = append(own.Nodes, estimate.Node{Name: n.Name(), Entry: n, Pods: n.Pods, Price: 1, Cost: 1})
	}
	return estimate.New(own, nil)
}

// TestAtLeast: what pods cost at least on new nodes.
func TestAtLeast(t *testing.T) {
	free, big := pod("free", 1000), pod("big", 3000)
	apart, bigB := pod("apart", 1000, apartFrom("apart")), pod("bigB", 3000, inZone("b"))
	pinned, smallB := pod("pinned", 3000), pod("smallB", 1000)
	e := estimateOf(t, market(), map[*corev1.Pod]estimate.Pin{pinned: {corev1.LabelTopologyZone: {"b"}}, smallB: {corev1.LabelTopologyZone: {"b", "c"}}},
		node("n1", "a", free, big, apart, pinned, smallB), node("n2", "b", bigB), node("n3", "b", pod("zonal", 1, apartZone("zonal"))))
	count := func(p *corev1.Pod, n int32) estimate.Count {
		class, known := e.Class(p)
		require.True(t, known, p.Name)
		return estimate.Count{Class: class, Pods: n}
	}
	for _, tt := range []struct {
		name   string
		rest   []estimate.Count
		steady bool
		want   float64
	}{
		{"nothing", nil, false, 0},
		{"one pod", []estimate.Count{count(free, 1)}, false, 0.5},
		{"none of it spot", []estimate.Count{count(free, 1)}, true, 1},
		{"two pods are on two nodes or on a large one", []estimate.Count{count(free, 2)}, false, 1},
		{"the dearest of them", []estimate.Count{count(free, 1), count(big, 1)}, false, 1.5},
		{"many pods, by the price of what they ask for", []estimate.Count{count(free, 40)}, false, 15},
		{"each on a node of its own", []estimate.Count{count(apart, 5)}, false, 2.5},
		{"no option where it must be", []estimate.Count{count(bigB, 1)}, false, math.Inf(1)},
		{"no option where it is pinned", []estimate.Count{count(pinned, 1)}, false, math.Inf(1)},
		{"an option in one of the zones of its pin", []estimate.Count{count(smallB, 1)}, false, 0.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // the second time it is known
				if got := e.AtLeast(tt.rest, tt.steady); got != tt.want {
					require.InDelta(t, tt.want, got, 1e-9)
				}
			}
		})
	}
}

// apartZone excludes pods with a label from the zone, so that the engine numbers the zones.
func apartZone(app string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		apartFrom(app)(p)
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelTopologyZone
	}
}

// TestAtLeastIsABound: no plan for the pods of an estimate costs less than AtLeast says.
func TestAtLeastIsABound(t *testing.T) {
	dice, close := rand.New(rand.NewPCG(1, 2)), 0
	for seed := range 150 {
		var pods []*corev1.Pod
		for i := range 1 + dice.IntN(6) {
			p := pod(fmt.Sprint("p", i), 100+dice.Int64N(3800))
			if dice.IntN(4) == 0 {
				inZone("a")(p)
			}
			if dice.IntN(4) == 0 {
				apartFrom(fmt.Sprint("p", dice.IntN(6)))(p)
			}
			pods = append(pods, p)
		}
		in := market()
		for _, p := range pods {
			waiting := *p
			in.Pods = append(in.Pods, &waiting)
		}
		plan, err := provisioning.Solve(t.Context(), in, nil)
		require.NoError(t, err)
		e := estimateOf(t, market(), nil, node("n", "a", pods...))
		var rest []estimate.Count
		for _, p := range pods {
			class, known := e.Class(p)
			require.True(t, known)
			rest = append(rest, estimate.Count{Class: class, Pods: 1})
		}
		least := e.AtLeast(rest, false)
		require.Empty(t, plan.Unplaced, "seed %d", seed)
		require.LessOrEqual(t, least, plan.Cost+1e-9, "seed %d", seed)
		if least > 0.7*plan.Cost {
			close++
		}
	}
	require.Greater(t, close, 75, "and it is often close")
}

// TestWhereRemovedPodsFit: pods of a removed node fit where the node admits them, has room, and has no
// pod that excludes them or that they exclude, moved or not.
func TestWhereRemovedPodsFit(t *testing.T) {
	web := pod("web", 1000, apartFrom("db"))
	pinned := pod("pinned", 1000)
	large := pod("large", 7000)
	e := estimateOf(t, market(), map[*corev1.Pod]estimate.Pin{pinned: {corev1.LabelTopologyZone: {"b"}}},
		node("n1", "a", web, pinned, large),
		node("n2", "a", pod("db", 1000)),
		node("n3", "b", pod("shy", 2500, apartFrom("web"))),
		node("n4", "b", pod("zonal", 1000, apartZone("zonal"))))
	require.Equal(t, 3, e.Remove(nil, "n1").Moved)
	where := map[string]string{}
	for pod, node := range e.Places(nil, "n1") {
		where[pod.Name] = node
	}
	require.Equal(t, "n4", where["web"], "db is on n2, and shy on n3")
	require.NotEqual(t, "n2", where["pinned"], "n2 is in another zone")
	require.Equal(t, "n2", where["large"], "n2 alone has the room")
	_, known := e.Class(pod("stranger", 1))
	require.False(t, known)
}

// TestPodsThatCountAsOthers: a pod that may change its domain counts as its copy that may go there.
func TestPodsThatCountAsOthers(t *testing.T) {
	own, other := pod("own", 3000), pod("other", 3000)
	nodes := []provisioning.Node{node("n1", "a", own, other), node("n2", "a", pod("load2", 4000)), node("n3", "b", pod("load3", 2000), pod("zonal", 1, apartZone("zonal")))}
	zoneA := estimate.Pin{corev1.LabelTopologyZone: {"a"}}
	e := estimateWith(t, market(), map[*corev1.Pod]estimate.Pin{own: zoneA, other: zoneA}, []*corev1.Pod{own, other}, nodes...)
	for range 2 { // looking changes nothing
		o := e.Remove(nil, "n1")
		require.Equal(t, []int{1, 1}, []int{o.Moved, o.Left}, "n2 has room for one of them, and n3 is in zone b")
		free := map[*corev1.Pod]bool{own: true}
		o = e.Remove(free, "n1")
		require.Equal(t, []int{2, 0}, []int{o.Moved, o.Left})
		places := map[string]string{}
		for pod, node := range e.Places(free, "n1") {
			places[pod.Name] = node
		}
		require.Equal(t, map[string]string{"own": "n3", "other": "n2"}, places)
		require.Equal(t, 2, e.Remove(map[*corev1.Pod]bool{own: true, other: true}, "n1").Moved)
	}
}
