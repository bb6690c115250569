package spread

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// Kind describes topology spread to the engine.
func Kind() constraint.Kind {
	return constraint.Kind{
		Name:   "topologySpread",
		Cause:  model.CauseSpread,
		Places: true,
		Sample: sample,
		Has: func(pod *corev1.Pod, defaults bool) bool {
			return defaults || len(pod.Spec.TopologySpreadConstraints) > 0
		},
		Key: func(w *podkey.Writer, pod *corev1.Pod, defaults bool) { w.Spreads(pod, defaults) },
	}
}

// sample makes the pod's spread admit one pod per zone: minDomains is 100, and the cluster has
// fewer zones.
func sample(pod *corev1.Pod) {
	domains := int32(100)
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: &domains,
		LabelSelector: &metav1.LabelSelector{MatchLabels: constraint.SampleLabels()},
	}}
}
