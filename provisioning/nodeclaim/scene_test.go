package nodeclaim_test

import (
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// noon is the instant of the tests, and born when their nodes were asked for.
var (
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	born = noon.Add(-48 * time.Hour)
)

// newNode returns an initialized node of a pool.
func newNode(name, pool string, edits ...func(*provisioning.Node)) provisioning.Node {
	labels := map[string]string{v1.NodePoolLabelKey: pool, corev1.LabelTopologyZone: "a"}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name + "-claim", UID: types.UID(name + "-uid"),
		CreationTimestamp: metav1.NewTime(born), Labels: labels, Annotations: map[string]string{}}}
	claim.Status.ProviderID = "cloud://" + name
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		setCondition(claim, kind, metav1.ConditionTrue, born)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(born), Annotations: map[string]string{},
		Labels: map[string]string{v1.NodePoolLabelKey: pool, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}}}
	node.Spec.ProviderID = claim.Status.ProviderID
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(born)}}
	n := provisioning.Node{Node: node, NodeClaim: claim}
	for _, edit := range edits {
		edit(&n)
	}
	return n
}

func setCondition(claim *v1.NodeClaim, kind string, status metav1.ConditionStatus, since time.Time) {
	claim.Status.Conditions = slices.DeleteFunc(claim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	claim.Status.Conditions = append(claim.Status.Conditions,
		metav1.Condition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(since)})
}

func withCondition(kind string, status metav1.ConditionStatus, since time.Duration) func(*provisioning.Node) {
	return func(n *provisioning.Node) { setCondition(n.NodeClaim, kind, status, noon.Add(since)) }
}

func withoutCondition(kind string) func(*provisioning.Node) {
	return func(n *provisioning.Node) {
		n.NodeClaim.Status.Conditions = slices.DeleteFunc(n.NodeClaim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }
