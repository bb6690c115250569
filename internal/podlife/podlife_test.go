package podlife_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

func TestWhoEndsWithItsNode(t *testing.T) {
	of := func(kind string, controller bool) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Controller: &controller}}}}
	}
	in := func(phase corev1.PodPhase) *corev1.Pod { return &corev1.Pod{Status: corev1.PodStatus{Phase: phase}} }
	for _, c := range []struct {
		pod                          *corev1.Pod
		finished, daemon, stays, off bool
	}{
		{&corev1.Pod{}, false, false, false, true},
		{of("ReplicaSet", true), false, false, false, true},
		{of("DaemonSet", true), false, true, true, false},
		{of("DaemonSet", false), false, false, false, true},
		{of("Node", true), false, false, true, false},
		{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.MirrorPodAnnotationKey: ""}}}, false, false, true, false},
		{in(corev1.PodSucceeded), true, false, false, false},
		{in(corev1.PodFailed), true, false, false, false},
		{in(corev1.PodRunning), false, false, false, true},
		{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}, false, false, false, false},
	} {
		require.Equal(t, []bool{c.finished, c.daemon, c.stays, c.off},
			[]bool{podlife.Finished(c.pod), podlife.OfDaemonSet(c.pod), podlife.StaysBehind(c.pod), podlife.Moves(c.pod)}, "%+v", c.pod)
	}
	require.False(t, podlife.Moves(nil))
}

func TestWhoseDaemonSet(t *testing.T) {
	of := func(namespace, name, kind, owner, uid string) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if owner != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: owner, UID: types.UID(uid), Controller: new(true)}}
		}
		return pod
	}
	for _, c := range []struct {
		representative, pod *corev1.Pod
		same                bool
	}{
		{of("a", "logs", "", "", ""), of("a", "logs-1", "DaemonSet", "logs", "1"), true},
		{of("a", "logs", "", "", ""), of("a", "logs-1", "ReplicaSet", "logs", "1"), false},
		{of("a", "logs", "", "", ""), of("b", "logs-1", "DaemonSet", "logs", "1"), false},
		{of("a", "logs", "", "", ""), of("a", "logs", "", "", ""), false},
		{of("a", "logs-1", "DaemonSet", "logs", "1"), of("a", "logs-2", "DaemonSet", "logs", "1"), true},
		{of("a", "logs-1", "DaemonSet", "logs", "1"), of("a", "logs-2", "DaemonSet", "logs", "2"), false},
		{of("a", "logs-1", "DaemonSet", "logs", ""), of("a", "logs-2", "DaemonSet", "logs", "2"), true},
		{of("a", "logs-1", "DaemonSet", "logs", ""), of("a", "net-2", "DaemonSet", "net", "2"), false},
	} {
		require.Equal(t, c.same, podlife.SameDaemonSet(c.representative, c.pod), "%+v %+v", c.representative, c.pod)
	}
}
