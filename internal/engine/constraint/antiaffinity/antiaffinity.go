package antiaffinity

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// Kind describes required and preferred pod anti-affinity to the engine.
func Kind() constraint.Kind {
	return constraint.Kind{
		Name:   "podAntiAffinity",
		Cause:  model.CauseAntiAffinity,
		Places: true,
		Sample: sample,
		Has:    func(pod *corev1.Pod, _ bool) bool { return has(pod) },
		Key: func(w *podkey.Writer, pod *corev1.Pod, _ bool) {
			p := pod.Spec.Affinity.PodAntiAffinity
			w.AffinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
			w.WeightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
		},
		BoundKey: func(w *podkey.Writer, pod *corev1.Pod) {
			if !has(pod) {
				w.Number(0)
				return
			}
			w.AffinityTerms(pod, pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		},
	}
}

func has(pod *corev1.Pod) bool {
	return pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil
}

// sample excludes other pods with SampleLabels from the zone of the pod.
func sample(pod *corev1.Pod) {
	term := corev1.PodAffinityTerm{
		TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: constraint.SampleLabels()},
	}
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
}
