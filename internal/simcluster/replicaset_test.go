package simcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestFirstToGo compares the order in which pods are deleted with that of the ReplicaSet
// controller, one criterion after the other.
func TestFirstToGo(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	pod := func(name, node string, age time.Duration, change func(*Pod)) *Pod {
		p := &Pod{since: now.Add(-age), readyAt: now.Add(-age), Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}}
		p.Spec.NodeName = node
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if change != nil {
			change(p)
		}
		return p
	}
	all := []*Pod{
		pod("old", "c", 40*time.Hour, nil),
		pod("young", "d", time.Minute, nil),
		pod("doubled-old", "a", 41*time.Hour, nil),
		pod("doubled-young", "a", 2*time.Minute, nil),
		pod("cheap", "e", 50*time.Hour, func(p *Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "-7"} }),
		pod("dear", "a", time.Second, func(p *Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "7"} }),
		pod("unready", "f", 60*time.Hour, func(p *Pod) { p.Status.Conditions = nil }),
		pod("starting", "f", 70*time.Hour, func(p *Pod) { p.Status.Conditions, p.Status.Phase = nil, corev1.PodPending }),
		pod("pending", "", 80*time.Hour, func(p *Pod) { p.Status.Conditions, p.Status.Phase = nil, corev1.PodPending }),
	}
	var names []string
	for _, p := range firstToGo(all, all, now) {
		names = append(names, p.Name)
	}
	require.Equal(t, []string{"pending", "starting", "unready", "cheap", "doubled-young", "doubled-old", "young", "old", "dear"}, names)
}

// TestMagnitude: ages count as equal within a power of two, and a draw decides.
func TestMagnitude(t *testing.T) {
	require.Equal(t, magnitude(70*time.Second), magnitude(80*time.Second))
	require.Less(t, magnitude(30*time.Second), magnitude(80*time.Second))
	require.Equal(t, int64(-1), magnitude(0))
}
