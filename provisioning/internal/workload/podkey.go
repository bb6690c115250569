package workload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// PodKey writes what the engine looks at in a pod as bytes, so that pods are
// alike to the engine exactly if their bytes are.
type PodKey struct{ podkey.Writer }

// Scheduling returns the key of all that decides where the pod may run. It is
// valid until the next call.
func (k *PodKey) Scheduling(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Requests(pod)
	k.Labels(pod.Spec.NodeSelector)
	k.NodeAffinity(pod.Spec.Affinity)
	k.Tolerations(pod.Spec.Tolerations)
	k.ports(pod)
	k.Pointer(pod.Spec.Priority)
	return k.Buf
}

// Where returns the key of the labels a pod asks of its node. It is valid
// until the next call.
func (k *PodKey) Where(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Labels(pod.Spec.NodeSelector)
	k.NodeAffinity(pod.Spec.Affinity)
	return k.Buf
}

func (k *PodKey) ports(pod *corev1.Pod) {
	ports := HostPorts(pod)
	k.Count(len(ports))
	for _, p := range ports {
		k.Number(int64(p.Number))
		k.Text(string(p.Protocol))
		k.Text(p.Address)
	}
}

// resourcesOnly returns the key of all that decides what the pod requests. It
// is valid until the next call.
func (k *PodKey) resourcesOnly(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Requests(pod)
	return k.Buf
}
