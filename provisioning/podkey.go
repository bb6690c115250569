package provisioning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// podKey writes what the engine looks at in a pod as bytes, so that pods are
// alike to the engine exactly if their bytes are.
type podKey struct{ podkey.Writer }

// scheduling returns the key of all that decides where the pod may run. It is
// valid until the next call.
func (k *podKey) scheduling(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Requests(pod)
	k.Labels(pod.Spec.NodeSelector)
	k.NodeAffinity(pod.Spec.Affinity)
	k.Tolerations(pod.Spec.Tolerations)
	k.ports(pod)
	k.Pointer(pod.Spec.Priority)
	return k.Buf
}

// where returns the key of the labels a pod asks of its node. It is valid
// until the next call.
func (k *podKey) where(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Labels(pod.Spec.NodeSelector)
	k.NodeAffinity(pod.Spec.Affinity)
	return k.Buf
}

func (k *podKey) ports(pod *corev1.Pod) {
	ports := hostPorts(pod)
	k.Count(len(ports))
	for _, p := range ports {
		k.Number(int64(p.number))
		k.Text(string(p.protocol))
		k.Text(p.address)
	}
}

// resourcesOnly returns the key of all that decides what the pod requests. It
// is valid until the next call.
func (k *podKey) resourcesOnly(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Requests(pod)
	return k.Buf
}
