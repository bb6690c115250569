package affinity

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/constraint"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// Kind is the kind.
func Kind() constraint.Kind {
	return constraint.Kind{
		Name:   "podAffinity",
		Cause:  model.CauseAffinity,
		Places: true,
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
