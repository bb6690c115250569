package affinity

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// Kind describes required and preferred pod affinity to the engine.
func Kind() constraint.Kind {
	return constraint.Kind{
		Name:   "podAffinity",
		Cause:  model.CauseAffinity,
		Places: true,
		Sample: sample,
		Has: func(pod *corev1.Pod, _ bool) bool {
			return pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAffinity != nil
		},
		Key: func(w *podkey.Writer, pod *corev1.Pod, _ bool) {
			p := pod.Spec.Affinity.PodAffinity
			w.AffinityTerms(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
			w.WeightedTerms(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
		},
	}
}

// sample requires a pod that does not exist.
func sample(pod *corev1.Pod) {
	term := corev1.PodAffinityTerm{
		TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"sample": "nobody"}},
	}
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
}
