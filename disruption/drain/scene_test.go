package drain_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// The instants of the tests and of the examples.
var (
	noon       = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	exampleNow = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

// at returns an instant relative to noon.
func at(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(d)} }

// newClaim returns the NodeClaim n-claim.
func newClaim(edits ...func(*v1.NodeClaim)) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "n-claim", Annotations: map[string]string{}}}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func withGrace(d time.Duration) func(*v1.NodeClaim) {
	return func(c *v1.NodeClaim) { c.Spec.TerminationGracePeriod = &metav1.Duration{Duration: d} }
}

func withDeadline(text string) func(*v1.NodeClaim) {
	return func(c *v1.NodeClaim) { c.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = text }
}

// deleted is for a minute.
func deleted(c *v1.NodeClaim) { c.DeletionTimestamp = at(-time.Minute) }

// newNode returns the Node n.
func newNode() *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}} }

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}}}
}
