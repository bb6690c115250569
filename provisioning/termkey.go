package provisioning

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// between returns the key of all that decides which constraints a pod has
// towards other pods. It is valid until the next call.
func (k *podKey) between(pod *corev1.Pod, defaults bool) []byte {
	k.buf = k.buf[:0]
	k.text(pod.Namespace)
	if defaults && len(pod.Spec.TopologySpreadConstraints) == 0 {
		k.labels(pod.Labels)
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			k.text(string(owner.UID))
		}
	}
	k.number(int64(len(pod.Spec.TopologySpreadConstraints)))
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		k.text(c.TopologyKey)
		k.text(string(c.WhenUnsatisfiable))
		k.number(int64(c.MaxSkew))
		k.pointer(c.MinDomains)
		k.policy(c.NodeAffinityPolicy)
		k.policy(c.NodeTaintsPolicy)
		k.labelSelector(c.LabelSelector)
		k.labelsOf(pod, c.MatchLabelKeys)
	}
	a := pod.Spec.Affinity
	if a == nil {
		return k.buf
	}
	if p := a.PodAffinity; p != nil {
		k.text("with")
		k.affinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		k.weightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		k.text("apart")
		k.affinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		k.weightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return k.buf
}

// apartOnly is between for a pod that runs already, of which only the required
// anti-affinity matters.
func (k *podKey) apartOnly(pod *corev1.Pod) []byte {
	k.buf = k.buf[:0]
	k.text(pod.Namespace)
	k.affinityTerms(pod, pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	return k.buf
}

func (k *podKey) affinityTerms(pod *corev1.Pod, terms []corev1.PodAffinityTerm) {
	k.number(int64(len(terms)))
	for i := range terms {
		k.affinityTerm(pod, &terms[i])
	}
}

func (k *podKey) weightedTerms(pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm) {
	k.number(int64(len(terms)))
	for i := range terms {
		k.number(int64(terms[i].Weight))
		k.affinityTerm(pod, &terms[i].PodAffinityTerm)
	}
}

func (k *podKey) affinityTerm(pod *corev1.Pod, t *corev1.PodAffinityTerm) {
	k.text(t.TopologyKey)
	k.number(int64(len(t.Namespaces)))
	for _, ns := range t.Namespaces {
		k.text(ns)
	}
	k.labelSelector(t.NamespaceSelector)
	k.labelSelector(t.LabelSelector)
	k.labelsOf(pod, t.MatchLabelKeys)
	k.labelsOf(pod, t.MismatchLabelKeys)
}

func (k *podKey) labelSelector(s *metav1.LabelSelector) {
	if s == nil {
		k.number(-1)
		return
	}
	k.labels(s.MatchLabels)
	k.number(int64(len(s.MatchExpressions)))
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		k.text(e.Key)
		k.text(string(e.Operator))
		k.number(int64(len(e.Values)))
		for _, v := range e.Values {
			k.text(v)
		}
	}
}

// labelsOf writes keys and the pod's own values of them.
func (k *podKey) labelsOf(pod *corev1.Pod, keys []string) {
	k.number(int64(len(keys)))
	for _, key := range keys {
		k.text(key)
		if value, ok := pod.Labels[key]; ok {
			k.text(value)
		} else {
			k.number(-1)
		}
	}
}

func (k *podKey) pointer(n *int32) {
	if n == nil {
		k.number(-1)
		return
	}
	k.number(int64(*n))
}

func (k *podKey) policy(p *corev1.NodeInclusionPolicy) {
	if p == nil {
		k.number(-1)
		return
	}
	k.text(string(*p))
}
