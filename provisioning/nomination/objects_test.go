package nomination_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// pod returns a pending pod of a ReplicaSet, or of nobody if owner is empty. Its UID is its
// name.
func pod(name, owner string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(noon)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}}}
	if owner != "" {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: &yes}}
	}
	return p
}

// on returns a copy of a pod that is bound.
func on(p *corev1.Pod, node string) *corev1.Pod {
	p = p.DeepCopy()
	p.Spec.NodeName = node
	return p
}

// created returns a claim as it is once stored.
func created(t testing.TB, name string, pods []*corev1.Pod, opts *nomination.Options) *v1.NodeClaim {
	t.Helper()
	c, err := nomination.Reserve(noon, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}, pods, opts)
	require.NoError(t, err)
	c.UID, c.CreationTimestamp = types.UID(name), metav1.NewTime(noon)
	return c
}

// ready returns the Node of a claim, registered and ready since an instant.
func ready(c *v1.NodeClaim, since time.Time) *corev1.Node {
	c.Status.NodeName = "node-" + c.Name
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + c.Name, Labels: map[string]string{v1.NodeRegisteredLabelKey: "true"}},
		Spec: corev1.NodeSpec{Taints: c.Spec.StartupTaints},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)}}}}
}

// tolerating returns a copy of a pod with the toleration that it lacks.
func tolerating(p nomination.Place) *corev1.Pod {
	out := p.Pod.DeepCopy()
	out.Spec.Tolerations = append(out.Spec.Tolerations, *p.Toleration)
	return out
}

func review(t testing.TB, in nomination.Input, now time.Time) nomination.State {
	t.Helper()
	s, err := nomination.Review(now, in, nil)
	require.NoError(t, err)
	return s
}
