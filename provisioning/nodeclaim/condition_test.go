package nodeclaim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// statusOf returns a condition as "True Launched".
func statusOf(claim *v1.NodeClaim, kind string) string {
	for _, c := range claim.Status.Conditions {
		if c.Type == kind {
			return string(c.Status) + " " + c.Reason
		}
	}
	return ""
}

func newMachine() *cloudprovider.Instance {
	return &cloudprovider.Instance{ID: "cloud://1", ImageID: "image-1",
		Labels:      map[string]string{corev1.LabelTopologyZone: "a", "team": "cloud"},
		Capacity:    resources.MustParse("cpu=2, memory=8Gi"),
		Allocatable: resources.MustParse("cpu=1900m, memory=7Gi")}
}

// One NodeClaim from its launch until its node takes pods.
func TestEditsSeeANodeThroughItsStart(t *testing.T) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Generation: 1, Labels: map[string]string{"team": "web"}}}
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "rack", Operator: corev1.NodeSelectorOpIn, Values: []string{"7"}},
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}},
		{Key: "row", Operator: corev1.NodeSelectorOpIn, Values: []string{"1", "2"}},
		{Key: "spare", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"x"}},
	}
	before := claim.DeepCopy()

	failed := nodeclaim.Launched(errors.New("no route to host")).EditClaim(noon, claim, newMachine())
	require.Equal(t, "Unknown LaunchFailed", statusOf(failed, v1.ConditionTypeLaunched))
	require.Equal(t, "Unknown ReconcilingDependents", statusOf(failed, v1.ConditionTypeReady))
	require.Empty(t, failed.Status.ProviderID)
	require.Equal(t, before, claim)

	later := noon.Add(time.Minute)
	launched := nodeclaim.Launched(nil).EditClaim(later, failed, newMachine())
	require.Equal(t, "True Launched", statusOf(launched, v1.ConditionTypeLaunched))
	require.Equal(t, "cloud://1", launched.Status.ProviderID)
	require.Equal(t, "image-1", launched.Status.ImageID)
	require.Equal(t, resources.MustParse("cpu=2, memory=8Gi").ResourceList(), launched.Status.Capacity)
	require.Equal(t, resources.MustParse("cpu=1900m, memory=7Gi").ResourceList(), launched.Status.Allocatable)
	require.Equal(t, map[string]string{"team": "web", corev1.LabelTopologyZone: "a", "rack": "7"}, launched.Labels,
		"the claim's own labels, then those of the machine, then what only one value will do for")
	require.Equal(t, later, launched.Status.Conditions[0].LastTransitionTime.Time)
	require.EqualValues(t, 1, launched.Status.Conditions[0].ObservedGeneration)
	require.Equal(t, noon, launched.Status.Conditions[1].LastTransitionTime.Time, "it was not ready before either")
	require.Same(t, launched, nodeclaim.Launched(nil).EditClaim(later.Add(time.Hour), launched, newMachine()))

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Spec: corev1.NodeSpec{ProviderID: "cloud://1"}}
	r := nodeclaim.Register(launched, []*corev1.Node{node})
	registered := r.EditClaim(later, launched)
	require.Equal(t, "node", registered.Status.NodeName)
	require.Equal(t, "True Registered", statusOf(registered, v1.ConditionTypeRegistered))
	require.Same(t, registered, r.EditClaim(later.Add(time.Hour), registered))
	waiting := nodeclaim.Register(launched, nil).EditClaim(later, launched)
	require.Equal(t, "Unknown NodeNotFound", statusOf(waiting, v1.ConditionTypeRegistered))
	require.Empty(t, waiting.Status.NodeName)

	not := nodeclaim.Initialize(registered, r.Node, nil)
	require.Same(t, r.Node, not.EditNode(r.Node))
	r.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	i := nodeclaim.Initialize(registered, r.Node, nil)
	done, ready := i.EditClaim(later, registered), i.EditNode(r.Node)
	require.Equal(t, "True Ready", statusOf(done, v1.ConditionTypeReady))
	require.Equal(t, "true", ready.Labels[v1.NodeInitializedLabelKey])
	require.NotContains(t, r.Node.Labels, v1.NodeInitializedLabelKey)
	require.Same(t, ready, i.EditNode(ready))
	require.Same(t, ready, r.EditNode(ready), "registration is in Registration.Node")
}

func TestReadyFollowsTheOthers(t *testing.T) {
	for _, tt := range []struct {
		registered metav1.ConditionStatus
		want       string
	}{
		{metav1.ConditionTrue, "True Ready"},
		{metav1.ConditionFalse, "False UnhealthyDependents"},
		{metav1.ConditionUnknown, "Unknown ReconcilingDependents"},
	} {
		n := newNode("n", "web", withCondition(v1.ConditionTypeRegistered, tt.registered, 0))
		got := nodeclaim.Launched(nil).EditClaim(noon, n.NodeClaim, nil)
		require.Equal(t, tt.want, statusOf(got, v1.ConditionTypeReady))
	}
	n := newNode("n", "web", withCondition(v1.ConditionTypeRegistered, metav1.ConditionFalse, 0), withoutCondition(v1.ConditionTypeInitialized))
	got := nodeclaim.Launched(nil).EditClaim(noon, n.NodeClaim, nil)
	require.Equal(t, "Registered=False, Initialized=Unknown", got.Status.Conditions[len(got.Status.Conditions)-1].Message)
}

func TestConditionEditsOfNothing(t *testing.T) {
	n := newNode("n", "web")
	require.Nil(t, nodeclaim.Launched(nil).EditClaim(noon, nil, newMachine()))
	require.Nil(t, nodeclaim.Register(nil, nil).EditClaim(noon, nil))
	require.Nil(t, nodeclaim.Condition{}.EditNode(nil))
	require.Same(t, n.NodeClaim, nodeclaim.Condition{}.EditClaim(noon, n.NodeClaim))
	require.Same(t, n.Node, nodeclaim.Condition{}.EditNode(n.Node))
	bare := nodeclaim.Launched(nil).EditClaim(noon, &v1.NodeClaim{}, &cloudprovider.Instance{ID: "x"})
	require.Equal(t, "x", bare.Status.ProviderID)
}

// Whatever is said in whatever order: objects given are not changed, to say the same
// again gives the same pointer back, and Ready is True exactly if the three are.
func TestConditionEditLaws(t *testing.T) {
	for seed := range uint64(100) {
		m := rand.New(rand.NewPCG(seed, 17))
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim"}}
		for step := range 20 {
			now := noon.Add(time.Duration(step) * time.Second)
			s := nodeclaim.Condition{
				Type:   pick(m, v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsistentStateFound),
				Status: pick(m, metav1.ConditionTrue, metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown),
				Reason: pick(m, "A", "B")}
			before := claim.DeepCopy()
			edited := s.EditClaim(now, claim)
			require.Equal(t, before, claim)
			require.Same(t, edited, s.EditClaim(now.Add(time.Hour), edited))
			claim = edited
			all := true
			for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
				status := statusOf(claim, kind)
				all = all && len(status) > 4 && status[:4] == "True"
			}
			require.Equal(t, all, statusOf(claim, v1.ConditionTypeReady) == "True Ready")
		}
	}
}

// A machine is launched, joins, and becomes ready for pods; each time the objects to
// store are made from those there are.
func ExampleLaunch_EditClaim() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}}
	claim = nodeclaim.Launched(nil).EditClaim(noon, claim, newMachine())
	fmt.Println(claim.Status.ProviderID, claim.Status.ImageID, claim.Labels)

	node := newNode("1", "web").Node
	node.Labels = nil
	registration := nodeclaim.Register(claim, []*corev1.Node{node})
	claim, node = registration.EditClaim(noon, claim), registration.Node
	fmt.Println(claim.Status.NodeName, node.Labels)

	initialized := nodeclaim.Initialize(claim, node, nil)
	claim, node = initialized.EditClaim(noon, claim), initialized.EditNode(node)
	for _, c := range claim.Status.Conditions {
		fmt.Println(c.Type, c.Status)
	}
	fmt.Println(node.Labels[v1.NodeInitializedLabelKey])
	// Output:
	// cloud://1 image-1 map[team:cloud topology.kubernetes.io/zone:a]
	// 1 map[karpenter.sh/registered:true team:cloud topology.kubernetes.io/zone:a]
	// Launched True
	// Ready True
	// Registered True
	// Initialized True
	// true
}

func ExampleCondition_EditClaim() {
	claim := newNode("n", "web").NodeClaim
	startup := nodeclaim.Condition{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionUnknown, Reason: v1.ReasonRebooting}
	edited := startup.EditClaim(noon, claim)
	ready := edited.Status.Conditions[len(edited.Status.Conditions)-1]
	fmt.Println(ready.Type, ready.Status, ready.Message)
	fmt.Println("nothing to send:", startup.EditClaim(noon.Add(time.Minute), edited) == edited)
	// Output:
	// Ready Unknown Initialized=Unknown
	// nothing to send: true
}

func ExampleCondition_EditNode() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	startup := nodeclaim.Condition{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue}
	fmt.Println(startup.EditNode(node).Labels)
	// Output:
	// map[karpenter.sh/initialized:true]
}

func ExampleRegistration_EditClaim() {
	claim := newNode("n", "web").NodeClaim
	claim.Status.ProviderID = "cloud://other"
	registration := nodeclaim.Register(claim, []*corev1.Node{newNode("n", "web").Node})
	edited := registration.EditClaim(noon, claim)
	for _, c := range edited.Status.Conditions {
		if c.Type == v1.ConditionTypeRegistered {
			fmt.Println(c.Status, c.Reason)
		}
	}
	// Output:
	// Unknown NodeNotFound
}
