package spread

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/constraint"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// Kind is the kind.
func Kind() constraint.Kind {
	return constraint.Kind{
		Name:   "topologySpread",
		Cause:  model.CauseSpread,
		Places: true,
		Has: func(pod *corev1.Pod, defaults bool) bool {
			return defaults || len(pod.Spec.TopologySpreadConstraints) > 0
		},
		Key: func(w *podkey.Writer, pod *corev1.Pod, defaults bool) { w.Spreads(pod, defaults) },
	}
}
