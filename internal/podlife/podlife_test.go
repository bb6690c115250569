package podlife_test

import (
	"testing"
	"time"

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

// A pod of a StatefulSet that is being deleted moves as it comes back.
func TestPodsThatComeBack(t *testing.T) {
	pod := func(version, kind string, edits ...func(*corev1.Pod)) *corev1.Pod {
		out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: version, Kind: kind}}}}
		out.Spec.NodeName, out.Status.Phase = "old", corev1.PodRunning
		for _, edit := range edits {
			edit(out)
		}
		return out
	}
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	mirror := func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: ""} }
	for _, c := range []struct {
		pod         *corev1.Pod
		back, moves bool
	}{
		{pod("apps/v1", "StatefulSet"), false, true},
		{pod("apps/v1", "StatefulSet", deleted), true, true},
		{pod("apps/v1", "StatefulSet", deleted, ended), true, true},
		{pod("apps/v1", "StatefulSet", ended), false, false},
		{pod("apps/v1", "StatefulSet", deleted, mirror), true, false},
		{pod("apps/v1", "ReplicaSet", deleted), false, false},
		{pod("example.com/v1", "StatefulSet", deleted), false, false},
	} {
		require.Equal(t, []bool{c.back, c.moves}, []bool{podlife.ComesBack(c.pod), podlife.Moves(c.pod)}, "%+v", c.pod)
	}

	going := pod("apps/v1", "StatefulSet", deleted, ended)
	back := podlife.Moved(going, "new")
	require.Nil(t, back.DeletionTimestamp)
	require.Equal(t, "new", back.Spec.NodeName)
	require.Equal(t, corev1.PodPending, back.Status.Phase)
	require.NotNil(t, going.DeletionTimestamp, "the pod itself is not changed")
	require.Equal(t, corev1.PodRunning, podlife.Moved(pod("apps/v1", "StatefulSet"), "").Status.Phase)
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

func TestTolerates(t *testing.T) {
	taint := corev1.Taint{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}
	for want, list := range map[bool][]corev1.Toleration{
		true: {
			{Operator: corev1.TolerationOpExists}, {Key: "dedicated", Operator: corev1.TolerationOpExists}, {Key: "dedicated", Value: "web"},
			{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "web", Effect: corev1.TaintEffectNoSchedule},
		},
		false: {
			{}, {Value: "web"}, {Key: "dedicated"}, {Key: "other", Operator: corev1.TolerationOpExists}, {Key: "dedicated", Operator: "Gt", Value: "web"},
			{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		},
	} {
		for _, o := range list {
			require.Equal(t, want, podlife.Tolerates(&corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "some"}, o}}}, taint), "%+v", o)
		}
	}
}

func TestProtected(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		text    string
		started time.Time
		held    bool
		until   time.Time
	}{
		{"true", time.Time{}, true, time.Time{}},
		{"1m", time.Time{}, true, time.Time{}},
		{"1m", now, true, now.Add(time.Minute)},
		{"1m", now.Add(-time.Minute), false, time.Time{}},
	} {
		held, until, err := podlife.Protected(c.text, c.started, now)
		require.NoError(t, err)
		require.Equal(t, c.held, held, c.text)
		require.Equal(t, c.until, until, c.text)
	}
	for _, text := range []string{"", "false", "0s", "-1m", "soon"} {
		held, _, err := podlife.Protected(text, now, now)
		require.False(t, held)
		require.ErrorContains(t, err, "counts for nothing; write true, or a duration above zero")
	}
}
