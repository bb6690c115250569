package report

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// pod returns one of a Deployment, or one without an owner if that is empty.
func pod(deployment string) *corev1.Pod { return testPod("shop", deployment, "p") }

func TestWorkloadOf(t *testing.T) {
	require.Equal(t, "Deployment shop/web", workloadOf(pod("web")).String())
	require.Equal(t, "Pod shop/p", workloadOf(pod("")).String())
	other := pod("web")
	other.Labels["pod-template-hash"] = "xyz"
	require.Equal(t, "ReplicaSet shop/web-abc", workloadOf(other).String())
	other.OwnerReferences[0].Kind = "Job"
	require.Equal(t, "Job shop/web-abc", workloadOf(other).String())
}

// A pod of a DaemonSet stands for the DaemonSet, although it names its own node.
func TestDaemonsToCome(t *testing.T) {
	agent := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent-x"}}
	agent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", Controller: new(true)}}
	agent.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}}}}}
	n := &provisioning.Node{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	require.Len(t, daemonsToCome(n, []*corev1.Pod{agent}), 1)
	n.Node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}}
	require.Len(t, daemonsToCome(n, []*corev1.Pod{agent}), 1)
	n.Node.Spec.Taints = append(n.Node.Spec.Taints, corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule})
	require.Empty(t, daemonsToCome(n, []*corev1.Pod{agent}))
	n.Node.Spec.Taints, n.Pods = nil, []*corev1.Pod{agent}
	require.Empty(t, daemonsToCome(n, []*corev1.Pod{agent}), "it runs there")
}
