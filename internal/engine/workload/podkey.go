package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// PodKey writes everything that the engine reads from a pod as bytes: pods are equal to the engine
// exactly if their bytes are equal.
type PodKey struct{ podkey.Writer }

// Scheduling returns the key of everything that decides where the pod may run. It is valid until
// the next call.
func (k *PodKey) Scheduling(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Requests(pod)
	k.Labels(pod.Spec.NodeSelector)
	k.NodeAffinity(pod.Spec.Affinity)
	k.Tolerations(pod.Spec.Tolerations)
	kinds.WriteWanted(&k.Writer, pod)
	k.Pointer(pod.Spec.Priority)
	return k.Buf
}

// Where returns the key of the pod's node selection. It is valid until the next call.
func (k *PodKey) Where(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Labels(pod.Spec.NodeSelector)
	k.NodeAffinity(pod.Spec.Affinity)
	return k.Buf
}

// Between returns the key of everything that decides which constraints with other pods a pod has.
// It is valid until the next call.
func (k *PodKey) Between(pod *corev1.Pod, defaults bool) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	kinds.WriteTowards(&k.Writer, pod, defaults)
	return k.Buf
}

// ApartOnly is Between for a running pod, of which only the required anti-affinity matters.
func (k *PodKey) ApartOnly(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	k.AffinityTerms(pod, pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	return k.Buf
}

// PodKeys are the results of PodKey.Scheduling for some pods.
type PodKeys struct {
	text []byte
	ends []int // by pod: the end of its key in text
}

// NewPodKeys writes the keys of some pods.
func NewPodKeys(pods []*corev1.Pod) PodKeys {
	var key PodKey
	out := PodKeys{ends: make([]int, len(pods))}
	for i, pod := range pods {
		text := key.Scheduling(pod)
		if need := len(out.text) + len(text); need > cap(out.text) { // grown once or twice: most keys are about as long
			out.text = slices.Grow(out.text, len(text)+need/(i+1)*(len(pods)-i-1))
		}
		out.text = append(out.text, text...)
		out.ends[i] = len(out.text)
	}
	return out
}

// Of returns the key of a pod, by its position.
func (k *PodKeys) Of(i int) []byte {
	from := 0
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.text[from:k.ends[i]]
}
