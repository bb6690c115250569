package workload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/constraint/kinds"
)

// Between returns the key of all that decides which constraints a pod has
// towards other pods. It is valid until the next call.
func (k *PodKey) Between(pod *corev1.Pod, defaults bool) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	kinds.WriteTowards(&k.Writer, pod, defaults)
	return k.Buf
}

// ApartOnly is between for a pod that runs already, of which only the required
// anti-affinity matters.
func (k *PodKey) ApartOnly(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	k.AffinityTerms(pod, pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	return k.Buf
}
