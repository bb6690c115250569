package consolidation

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
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// searchOf returns a search among nodes of four CPUs, on demand for 1 or spot for 0.3, with
// pods of the given number of CPUs on each.
func searchOf(t *testing.T, opts Settings, capacity string, pods ...[]string) *search {
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
	var faults state.Faults
	f := state.Read(state.Snapshot{Input: in, Now: time.Unix(1e9, 0)}, &faults)
	w, err := simulation.New(context.Background(), f, simulation.Config{Pin: true}, nil, nil)
	require.NoError(t, err)
	opts.MaxSteps, opts.MaxNodes, opts.MinimumScore, opts.SpotFloor = 2_000_000, 25, 0.5, 15
	bounds := admission.ReadBounds(f, nil, nil, &faults)
	require.NoError(t, faults.Err())
	s := newSearch(w, f.Nodes, NewRules(f, opts), admission.NewQuota(admission.New(f, bounds, false), budgets.Underutilized))
	require.NoError(t, s.w.Refused)
	s.e = s.w.Estimate(nil)
	s.first = s.e
	return s
}

// A pod goes to no node that is still to be tried.
func TestNodesToBeTriedTakeNoPods(t *testing.T) {
	s := searchOf(t, Settings{}, "on-demand", []string{"1"}, []string{"2"}, []string{"3"})
	a, b, c := s.cluster.ByName["a"], s.cluster.ByName["b"], s.cluster.ByName["c"]
	to := func() (engine, guess []string) {
		sets, err := s.w.Try(context.Background(), []*state.StateNode{a}, nil)
		require.NoError(t, err)
		for _, cs := range sets {
			for _, m := range cs.Moves {
				engine = append(engine, m.Node)
			}
		}
		s.outcome(s.e, []*state.StateNode{a})
		for _, host := range s.e.Places(nil, a.Name) {
			guess = append(guess, host)
		}
		return engine, guess
	}
	for range 2 {
		s.cordoned([][]*state.StateNode{{c}})
		engine, guess := to()
		require.Equal(t, []string{"b"}, engine)
		require.Equal(t, []string{"b"}, guess)
		s.cordoned([][]*state.StateNode{{b}})
		engine, guess = to()
		require.Equal(t, []string{"c"}, engine)
		require.Equal(t, []string{"c"}, guess)
		s.cordoned([][]*state.StateNode{{b}, {c}})
		engine, guess = to()
		require.Equal(t, []string{""}, engine, "to a new node")
		require.Empty(t, guess)
		s.cordoned(nil)
		_, guess = to()
		require.Equal(t, []string{"c"}, guess, "to the fullest")
	}
}

// Of spot nodes that spot nodes must not replace, those are tried whose pods have
// room on the others.
func TestSpotNodesThatNeedNoOthers(t *testing.T) {
	s := searchOf(t, Settings{NoSpotToSpot: true}, "spot", []string{"1"}, []string{"1"}, []string{"2"}, []string{"3"})
	all := slices.Clone(s.cluster.Nodes)
	require.Equal(t, []string{"a", "b"}, names(s.grow(all)), "the pod of c would need a new node then")
	bad := &simulation.CandidateSet{Targets: all, Outcome: rule.Forbid(rule.SpotToSpot, "")}
	require.Equal(t, [][]*state.StateNode{all[:2]}, s.smaller(bad, all))
	bad.Targets = all[2:]
	s.cordoned([][]*state.StateNode{all[:2]})
	require.Nil(t, s.smaller(bad, all), "neither has room beside the other")
}
