package disruption

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// searchOf is a search among nodes of four CPUs, on demand for 1 or spot for 0.3, with
// pods of so many CPUs on each.
func searchOf(t *testing.T, opts *Options, capacity string, pods ...[]string) *search {
	t.Helper()
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("20")}
	}
	room, err := resources.FromResourceList(list("4"))
	require.NoError(t, err)
	kind := &cloudprovider.InstanceType{Name: "four", Requirements: requirements.MustParse("node.kubernetes.io/instance-type = four"), Capacity: room,
		Offerings: []cloudprovider.Offering{
			{Zone: "a", CapacityType: "on-demand", Price: 1, Available: true}, {Zone: "a", CapacityType: "spot", Price: 0.3, Available: true}}}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand", "spot"}}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "Class", Name: "default"}
	pool.Default()
	pool.Spec.Disruption.Budgets = []v1.Budget{}
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{"p": {kind}}}
	for i, cpus := range pods {
		name := string(rune('a' + i))
		labels := map[string]string{v1.NodePoolLabelKey: "p", "node.kubernetes.io/instance-type": "four", corev1.LabelTopologyZone: "a",
			v1.CapacityTypeLabelKey: capacity, corev1.LabelHostname: name, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}
		n := provisioning.Node{
			Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: "fake://" + name},
				Status: corev1.NodeStatus{Capacity: list("4"), Allocatable: list("4"),
					Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}},
			NodeClaim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
				Status: v1.NodeClaimStatus{ProviderID: "fake://" + name, Capacity: list("4"), Allocatable: list("4"),
					Conditions: []metav1.Condition{{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue}}}}}
		for k, cpu := range cpus {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name + string(rune('0'+k)),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: new(bool)}}}}
			*pod.OwnerReferences[0].Controller = true
			pod.Spec.NodeName, pod.Status.Phase = name, corev1.PodRunning
			pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}}
			n.Pods = append(n.Pods, pod)
		}
		in.Nodes = append(in.Nodes, n)
	}
	f, err := Observe(time.Unix(1e9, 0), Input{Input: in}, opts)
	require.NoError(t, err)
	s := &search{cluster: f, reasons: map[string]outcome{}, waits: map[string]bool{}, tried: map[string]bool{}, totals: f.poolTotals(), quota: f.newQuota(Underutilized, nil)}
	require.Empty(t, s.findCandidates(nil))
	s.w, err = newSimulation(context.Background(), f.pinned(), nil)
	require.NoError(t, err)
	require.NoError(t, s.w.refused)
	s.e = s.w.estimate(nil)
	s.first = s.e
	return s
}

// A pod goes to no node that is still to be tried.
func TestNodesToBeTriedTakeNoPods(t *testing.T) {
	s := searchOf(t, nil, "on-demand", []string{"1"}, []string{"2"}, []string{"3"})
	a, b, c := s.cluster.byName["a"], s.cluster.byName["b"], s.cluster.byName["c"]
	to := func() (engine, guess []string) {
		parts, err := s.w.try(context.Background(), []*stateNode{a})
		require.NoError(t, err)
		for _, pt := range parts {
			for _, m := range pt.moves {
				engine = append(engine, m.Node)
			}
		}
		s.outcome([]*stateNode{a})
		for _, host := range s.places([]*stateNode{a}) {
			guess = append(guess, host)
		}
		return engine, guess
	}
	for range 2 {
		s.cordoned([][]*stateNode{{c}})
		engine, guess := to()
		require.Equal(t, []string{"b"}, engine)
		require.Equal(t, []string{"b"}, guess)
		s.cordoned([][]*stateNode{{b}})
		engine, guess = to()
		require.Equal(t, []string{"c"}, engine)
		require.Equal(t, []string{"c"}, guess)
		s.cordoned([][]*stateNode{{b}, {c}})
		engine, guess = to()
		require.Equal(t, []string{""}, engine, "to a new node")
		require.Empty(t, guess)
		s.cordoned(nil)
		_, guess = to()
		require.Equal(t, []string{"c"}, guess, "to the fullest")
	}
}

// A node is needed if a pod of it has no other place but on a node as dear.
func TestNodesThatAreNeeded(t *testing.T) {
	s := searchOf(t, nil, "spot", []string{"3", "500m"}, []string{"1", "1"}, []string{"2"})
	var needed []string
	for _, m := range s.cluster.nodes {
		if s.needed(m) {
			needed = append(needed, m.name)
		}
	}
	require.Equal(t, []string{"a"}, needed)
	s = searchOf(t, nil, "on-demand", []string{"3", "500m"}, []string{"2"})
	require.False(t, s.needed(s.cluster.byName["a"]), "a spot node does, for less")
}

// Of spot nodes that spot nodes must not replace, those are tried whose pods have
// room on the others.
func TestSpotNodesThatNeedNoOthers(t *testing.T) {
	s := searchOf(t, &Options{Consolidation: ConsolidationOptions{NoSpotToSpot: true}}, "spot", []string{"1"}, []string{"1"}, []string{"2"}, []string{"3"})
	all := slices.Clone(s.cluster.nodes)
	require.Equal(t, []string{"a", "b"}, names(s.grow(all)), "the pod of c would need a new node then")
	bad := &candidateSet{targets: all, outcome: forbid(ruleSpotToSpot, "")}
	require.Equal(t, [][]*stateNode{all[:2]}, s.smaller(bad, all))
	bad.targets = all[2:]
	s.cordoned([][]*stateNode{all[:2]})
	require.Nil(t, s.smaller(bad, all), "neither has room beside the other")
}

// The label of an option is what all its labels say.
func TestNodeLabel(t *testing.T) {
	keys := []string{corev1.LabelTopologyZone, v1.CapacityTypeLabelKey, "disk", "rack"}
	for _, of := range []string{"disk = ssd", "disk in (ssd, hdd)", "topology.kubernetes.io/zone in (a, b)", "topology.kubernetes.io/zone = b", "topology.kubernetes.io/zone = a"} {
		for _, by := range []string{"rack = r1", "topology.kubernetes.io/zone = b", "topology.kubernetes.io/zone in (a, b)", "disk = hdd"} {
			for _, zone := range []string{"", "a"} {
				o := cloudprovider.LaunchOption{InstanceType: &cloudprovider.InstanceType{Name: "t", Requirements: requirements.MustParse(of)},
					Offering: &cloudprovider.Offering{Zone: zone, CapacityType: "spot", Requirements: requirements.MustParse(by)}}
				all := o.NodeLabels()
				for _, key := range keys {
					want, known := all[key]
					value, found := nodeLabel(o, key)
					require.Equal(t, want, value, "%s: type %s, offering %s in %q", key, of, by, zone)
					require.Equal(t, known, found, "%s: type %s, offering %s in %q", key, of, by, zone)
				}
			}
		}
	}
}
