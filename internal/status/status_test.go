package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/status"
)

func TestAConditionKeepsItsTransitionWhileItsStatusIsTheSame(t *testing.T) {
	first, later := time.Unix(100, 0), time.Unix(200, 0)
	none := []metav1.Condition(nil)
	one := status.With(none, metav1.Condition{Type: "Ready", Status: metav1.ConditionUnknown}, first)
	require.Nil(t, status.Find(none, "Ready"))
	same := status.With(one, metav1.Condition{Type: "Ready", Status: metav1.ConditionUnknown, Message: "why"}, later)
	require.Equal(t, first, status.Find(same, "Ready").LastTransitionTime.Time)
	require.Equal(t, "why", status.Find(same, "Ready").Message)
	require.Empty(t, one[0].Message, "the list given stays as it is")
	other := status.With(same, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue}, later)
	require.Equal(t, later, status.Find(other, "Ready").LastTransitionTime.Time)
	require.Len(t, status.With(other, metav1.Condition{Type: "Launched"}, later), 2)
}

func TestAMessageIsNoLongerThanTheServerLetsItBe(t *testing.T) {
	list := status.With(nil, metav1.Condition{Type: "Ready", Message: strings.Repeat("fault ", 10_000)}, time.Unix(100, 0))
	require.Len(t, list[0].Message, status.MaxMessage)
	require.True(t, strings.HasSuffix(list[0].Message, "..."))
	for text, want := range map[string]string{"": "", "whole": "whole", "longer": "lo...", "üüü": "ü..."} {
		require.Equal(t, want, status.Short(text, 5), text)
	}
	require.Equal(t, "...", status.Short("four", 2))
}

func TestSameAmounts(t *testing.T) {
	amounts := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	require.True(t, status.SameAmounts(amounts("1"), amounts("1000m")))
	require.True(t, status.SameAmounts(nil, corev1.ResourceList{}))
	require.False(t, status.SameAmounts(amounts("1"), amounts("2")))
	require.False(t, status.SameAmounts(amounts("1"), nil))
	require.False(t, status.SameAmounts(amounts("1"), corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1")}))
}
