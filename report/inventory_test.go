package report

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod returns one of a Deployment, or one without an owner if that is empty.
func pod(deployment string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}
	if deployment != "" {
		pod.Labels = map[string]string{"pod-template-hash": "abc"}
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: deployment + "-abc", Controller: new(true)}}
	}
	return pod
}

func TestWorkloadOf(t *testing.T) {
	require.Equal(t, "Deployment shop/web", workloadOf(pod("web")).String())
	require.Equal(t, "Pod shop/p", workloadOf(pod("")).String())
	other := pod("web")
	other.Labels["pod-template-hash"] = "xyz"
	require.Equal(t, "ReplicaSet shop/web-abc", workloadOf(other).String())
	other.OwnerReferences[0].Kind = "Job"
	require.Equal(t, "Job shop/web-abc", workloadOf(other).String())
}
