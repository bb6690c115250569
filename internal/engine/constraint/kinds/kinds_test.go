package kinds

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// TestKindsAreWhole: what the phases ask of a kind is there.
func TestKindsAreWhole(t *testing.T) {
	for _, k := range All() {
		require.NotEmpty(t, k.Name)
		require.NotNil(t, k.Sample, k.Name)
		byCause, ok := ByCause(k.Cause)
		require.True(t, ok)
		require.Equal(t, k.Name, byCause.Name, "two kinds have the cause %s", k.Cause)
		require.NotEmpty(t, k.Nodes())
		if k.Has != nil {
			require.NotNil(t, k.Key, "%s: pods that have it are told apart by it", k.Name)
			require.Nil(t, k.Holds, "%s: what pods hold is asked of all", k.Name)
		}
		require.Equal(t, k.Holds != nil, k.TakenByDaemons != "", k.Name)
		if k.Limits != nil {
			require.NotNil(t, k.Has, "%s: limits are read of pods that have some", k.Name)
			require.NotNil(t, k.BoundKey, "%s: pods that run have limits too", k.Name)
		}
	}
}

// TestSamplesTellPodsApart: a pod with a constraint is not alike to one without, neither
// waiting nor, where others have to mind it, running.
func TestSamplesTellPodsApart(t *testing.T) {
	write := func(f func(*podkey.Writer)) string {
		var w podkey.Writer
		f(&w)
		return string(w.Buf)
	}
	for _, k := range All() {
		plain := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: constraint.SampleLabels()}}
		plain.Spec.Containers = make([]corev1.Container, 1)
		pod := plain.DeepCopy()
		k.Sample(pod)
		waiting := func(p *corev1.Pod) string {
			return write(func(w *podkey.Writer) { WriteTowards(w, p, false); WriteWanted(w, p) })
		}
		require.Equal(t, k.Key != nil, waiting(plain) != waiting(pod), k.Name)
		require.Equal(t, k.Has != nil, Any(pod, false), k.Name)
		running := func(p *corev1.Pod) string { return write(func(w *podkey.Writer) { WriteBound(w, p) }) }
		require.Equal(t, k.BoundKey != nil, running(plain) != running(pod), k.Name)
		require.Equal(t, k.Holds != nil, len(Held(pod)) > 0, k.Name)
		require.Equal(t, k.Holds != nil, Clash(Held(pod), Held(pod.DeepCopy())), k.Name)
	}
}

// TestLimitsHaveTheirKind: limits are numbered by their kind, and a fault of one kind is a
// fault of the pod.
func TestLimitsHaveTheirKind(t *testing.T) {
	most := func(n int) func(*corev1.Pod) ([]constraint.Limit, error) {
		return func(*corev1.Pod) ([]constraint.Limit, error) {
			return []constraint.Limit{{Pods: podterm.Pods{Selector: labels.Everything()}, Most: n}}, nil
		}
	}
	of := []constraint.Kind{{Limits: most(3)}, {}, {Limits: most(5)}}
	got, err := limits(of, &corev1.Pod{})
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, []int{0, 3, 2, 5}, []int{got[0].Kind, got[0].Most, got[1].Kind, got[1].Most})
	of[2].Limits = func(*corev1.Pod) ([]constraint.Limit, error) { return nil, errors.New("is no number") }
	got, err = limits(of, &corev1.Pod{})
	require.EqualError(t, err, "is no number")
	require.Empty(t, got)
}
