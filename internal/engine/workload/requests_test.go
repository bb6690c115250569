package workload_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func asking(cpu string) *corev1.Pod {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests}}}}}
}

// TestRequestsAreWorkedOutOnce counts what it allocates to ask again: nothing.
func TestRequestsAreWorkedOutOnce(t *testing.T) {
	known := workload.NewRequestsCache(minors.Range{})
	for i := range 10_000 { // more than are kept
		pod := asking(fmt.Sprintf("%dm", i))
		want, err := resources.PodRequests(pod)
		require.NoError(t, err)
		got, err := known.Of(pod)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if i%1_000 == 0 {
			require.Zero(t, testing.AllocsPerRun(10, func() { _, _ = known.Of(pod) }))
		}
	}
}

// TestRequestsFollowAResize: what is remembered of a pod does not outlive its status.
func TestRequestsFollowAResize(t *testing.T) {
	known, pod := workload.NewRequestsCache(minors.Range{}), asking("1")
	for _, cpu := range []string{"2", "3", "2500m"} {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}
		got, err := known.Of(pod)
		require.NoError(t, err)
		want := resource.MustParse(cpu)
		require.Equal(t, want.MilliValue(), got.Get(corev1.ResourceCPU))
	}
}

// TestBadRequestsAreNotRemembered: each error names the pod that was asked about.
func TestBadRequestsAreNotRemembered(t *testing.T) {
	known := workload.NewRequestsCache(minors.Range{})
	for _, name := range []string{"x", "y"} {
		pod := asking("-1")
		pod.Name = name
		_, err := known.Of(pod)
		require.ErrorContains(t, err, "a/"+name)
	}
}
