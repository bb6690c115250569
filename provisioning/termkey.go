package provisioning

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// between returns the key of all that decides which constraints a pod has
// towards other pods. It is valid until the next call.
func (k *podKey) between(pod *corev1.Pod, defaults bool) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	if defaults && len(pod.Spec.TopologySpreadConstraints) == 0 {
		k.Labels(pod.Labels)
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			k.Text(string(owner.UID))
		}
	}
	k.Count(len(pod.Spec.TopologySpreadConstraints))
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		k.Text(c.TopologyKey)
		k.Text(string(c.WhenUnsatisfiable))
		k.Number(int64(c.MaxSkew))
		k.Pointer(c.MinDomains)
		k.Policy(c.NodeAffinityPolicy)
		k.Policy(c.NodeTaintsPolicy)
		k.Selector(c.LabelSelector)
		k.labelsOf(pod, c.MatchLabelKeys)
	}
	a := pod.Spec.Affinity
	if a == nil {
		return k.Buf
	}
	if p := a.PodAffinity; p != nil {
		k.Text("with")
		k.affinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		k.weightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		k.Text("apart")
		k.affinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		k.weightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return k.Buf
}

// apartOnly is between for a pod that runs already, of which only the required
// anti-affinity matters.
func (k *podKey) apartOnly(pod *corev1.Pod) []byte {
	k.Buf = k.Buf[:0]
	k.Text(pod.Namespace)
	k.affinityTerms(pod, pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	return k.Buf
}

func (k *podKey) affinityTerms(pod *corev1.Pod, terms []corev1.PodAffinityTerm) {
	k.Count(len(terms))
	for i := range terms {
		k.affinityTerm(pod, &terms[i])
	}
}

func (k *podKey) weightedTerms(pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm) {
	k.Count(len(terms))
	for i := range terms {
		k.Number(int64(terms[i].Weight))
		k.affinityTerm(pod, &terms[i].PodAffinityTerm)
	}
}

func (k *podKey) affinityTerm(pod *corev1.Pod, t *corev1.PodAffinityTerm) {
	k.Text(t.TopologyKey)
	k.Texts(t.Namespaces)
	k.Selector(t.NamespaceSelector)
	k.Selector(t.LabelSelector)
	k.labelsOf(pod, t.MatchLabelKeys)
	k.labelsOf(pod, t.MismatchLabelKeys)
}

// labelsOf writes keys and the pod's own values of them.
func (k *podKey) labelsOf(pod *corev1.Pod, keys []string) {
	k.Count(len(keys))
	for _, key := range keys {
		k.Text(key)
		if value, ok := pod.Labels[key]; ok {
			k.Text(value)
		} else {
			k.Number(-1)
		}
	}
}
