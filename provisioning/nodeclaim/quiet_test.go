package nodeclaim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

var dusk = time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(dusk.Add(-d)) }

// scheduled returns a pod that was bound some time ago.
func scheduled(name string, since time.Duration) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(since)}}
	return p
}

func TestLastPodEvent(t *testing.T) {
	recorded := &v1.NodeClaim{Status: v1.NodeClaimStatus{LastPodEventTime: ago(time.Hour)}}
	web, yes, grace := scheduled("web", 10*time.Minute), true, int64(30)
	daemon := scheduled("agent", time.Second)
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: &yes}}
	leaving := scheduled("leaving", 2*time.Hour)
	end := metav1.NewTime(dusk.Add(10 * time.Second))
	leaving.DeletionTimestamp, leaving.DeletionGracePeriodSeconds = &end, &grace
	done := scheduled("web", 10*time.Minute)
	done.Status.Phase = corev1.PodSucceeded
	for _, tt := range []struct {
		name         string
		before, pods []*corev1.Pod
		want         time.Duration // before dusk
	}{
		{"what is on record", nil, nil, time.Hour},
		{"a pod that came later, after a restart", nil, []*corev1.Pod{nil, web}, 10 * time.Minute},
		{"pods of DaemonSets do not count", []*corev1.Pod{daemon}, []*corev1.Pod{web}, 10 * time.Minute},
		{"a pod that is asked to leave", nil, []*corev1.Pod{web, leaving}, 20 * time.Second},
		{"a pod that has left", []*corev1.Pod{web, nil}, nil, 0},
		{"a pod that has finished", []*corev1.Pod{web}, []*corev1.Pod{done}, 0},
		{"one that had finished before", []*corev1.Pod{done}, nil, time.Hour},
		{"a clock that is ahead", nil, []*corev1.Pod{scheduled("web", -time.Hour)}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, dusk.Add(-tt.want), nodeclaim.LastPodEvent(dusk, recorded, tt.before, tt.pods))
		})
	}
	require.True(t, nodeclaim.LastPodEvent(dusk, nil, nil, nil).IsZero())
}

func TestEditPodEvent(t *testing.T) {
	c := &v1.NodeClaim{}
	edited := nodeclaim.EditPodEvent(c, dusk.Add(time.Millisecond))
	require.Equal(t, dusk, edited.Status.LastPodEventTime.Time)
	require.True(t, c.Status.LastPodEventTime.IsZero(), "what is given stays as it is")
	require.Same(t, edited, nodeclaim.EditPodEvent(edited, dusk.Add(4*time.Second)), "it is not written for every pod")
	require.NotSame(t, edited, nodeclaim.EditPodEvent(edited, dusk.Add(5*time.Second)))
	require.Same(t, c, nodeclaim.EditPodEvent(c, time.Time{}))
	require.Nil(t, nodeclaim.EditPodEvent(nil, dusk))
}

func TestEditConsolidatable(t *testing.T) {
	minute := v1.NewDuration(time.Minute)
	c := &v1.NodeClaim{}
	require.Same(t, c, nodeclaim.EditConsolidatable(dusk, c, minute, ago(time.Hour).Time), "it is not initialized")
	c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue, LastTransitionTime: ago(2 * time.Minute)}}
	yes := nodeclaim.EditConsolidatable(dusk, c, minute, time.Time{})
	require.Len(t, yes.Status.Conditions, 3, "Initialized, Consolidatable and Ready")
	require.Same(t, yes, nodeclaim.EditConsolidatable(dusk, yes, minute, ago(time.Minute).Time), "it passes at that instant")
	for _, no := range []*v1.NodeClaim{
		nodeclaim.EditConsolidatable(dusk, yes, minute, ago(time.Minute-1).Time),
		nodeclaim.EditConsolidatable(dusk, yes, v1.NeverDuration(), ago(time.Hour).Time),
	} {
		for _, cond := range no.Status.Conditions {
			require.NotEqual(t, v1.ConditionTypeConsolidatable, cond.Type)
		}
	}
	require.Nil(t, nodeclaim.EditConsolidatable(dusk, nil, minute, dusk))
}

func TestEditDrifted(t *testing.T) {
	c := &v1.NodeClaim{}
	drifted := nodeclaim.EditDrifted(dusk, c, "NodePoolDrifted", "labels differ")
	require.Equal(t, "NodePoolDrifted", drifted.Status.Conditions[0].Reason)
	require.Same(t, drifted, nodeclaim.EditDrifted(dusk.Add(time.Hour), drifted, "NodePoolDrifted", "labels differ"))
	require.Same(t, c, nodeclaim.EditDrifted(dusk, c, "", ""))
	for _, cond := range nodeclaim.EditDrifted(dusk, drifted, "", "").Status.Conditions {
		require.NotEqual(t, v1.ConditionTypeDrifted, cond.Type)
	}
	require.Nil(t, nodeclaim.EditDrifted(dusk, nil, "", ""))
}

func ExampleLastPodEvent() {
	pod := scheduled("web", 5*time.Minute)
	last := nodeclaim.LastPodEvent(dusk, nil, nil, []*corev1.Pod{pod})
	fmt.Println(last.Format(time.TimeOnly))
	last = nodeclaim.LastPodEvent(dusk, nil, []*corev1.Pod{pod}, nil) // it has left
	fmt.Println(last.Format(time.TimeOnly))
	// Output:
	// 17:55:00
	// 18:00:00
}

func ExampleEditPodEvent() {
	claim := nodeclaim.EditPodEvent(&v1.NodeClaim{}, dusk)
	fmt.Println(claim.Status.LastPodEventTime.Format(time.TimeOnly))
	// Output: 18:00:00
}

func ExampleEditConsolidatable() {
	claim := &v1.NodeClaim{}
	claim.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue}}
	claim = nodeclaim.EditConsolidatable(dusk, claim, v1.NewDuration(time.Minute), dusk.Add(-time.Hour))
	fmt.Println(claim.Status.Conditions[1].Type, claim.Status.Conditions[1].Status)
	// Output: Consolidatable True
}

func ExampleEditDrifted() {
	claim := nodeclaim.EditDrifted(dusk, &v1.NodeClaim{}, "NodePoolDrifted", "spec.template has changed")
	fmt.Println(claim.Status.Conditions[0].Type, claim.Status.Conditions[0].Reason)
	// Output: Drifted NodePoolDrifted
}
