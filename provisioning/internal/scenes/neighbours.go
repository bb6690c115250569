package scenes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Team gives pods a common label.
func Team(name string, pods ...*corev1.Pod) {
	for _, pod := range pods {
		pod.Labels = map[string]string{"team": name, "app": pod.Name}
	}
}

// TeamSelector selects the pods of a Team.
func TeamSelector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"team": name}}
}

// AffinityTerm returns a term that selects the pods of a team in one domain of key. change may
// alter it.
func AffinityTerm(key, teamName string, change ...func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: TeamSelector(teamName)}
	for _, f := range change {
		f(&term)
	}
	return term
}

// Follow gives a pod required terms of affinity.
func Follow(pod *corev1.Pod, terms ...corev1.PodAffinityTerm) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	pod.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
}

// Avoid gives a pod required terms of anti-affinity.
func Avoid(pod *corev1.Pod, terms ...corev1.PodAffinityTerm) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
}

// Alike selects the pods that have the labels of a pod.
func Alike(pod *corev1.Pod) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: pod.Labels}
}

// Spread adds a DoNotSchedule topology spread constraint to a pod. change may alter it.
func Spread(pod *corev1.Pod, key string, skew int32, selector *metav1.LabelSelector, change ...func(*corev1.TopologySpreadConstraint)) {
	c := corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}
	for _, f := range change {
		f(&c)
	}
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
}

// InSpace returns a namespace with the label of the environment of the same name.
func InSpace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"env": name}}}
}

// Outside changes a term to select the namespaces of other environments, or of none.
func Outside(env string) func(*corev1.PodAffinityTerm) {
	return func(t *corev1.PodAffinityTerm) {
		t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "env", Operator: metav1.LabelSelectorOpNotIn, Values: []string{env},
		}}}
	}
}
