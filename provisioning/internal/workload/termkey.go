package workload

import (
	corev1 "k8s.io/api/core/v1"
)

// Between returns the key of all that decides which constraints a pod has
// towards other pods. It is valid until the next call.
func (k *PodKey) Between(pod *corev1.Pod, defaults bool) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	k.Spreads(pod, defaults)
	a := pod.Spec.Affinity
	if a == nil {
		return k.Buf
	}
	if p := a.PodAffinity; p != nil {
		k.Text("with")
		k.AffinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		k.weightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		k.Text("apart")
		k.AffinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		k.weightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
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

func (k *PodKey) weightedTerms(pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm) {
	k.Count(len(terms))
	for i := range terms {
		k.Number(int64(terms[i].Weight))
		k.AffinityTerm(pod, &terms[i].PodAffinityTerm)
	}
}
