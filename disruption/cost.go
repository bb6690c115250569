package disruption

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// evictionUnits is a cost in units of 2^-27, of which every cost is a whole
// number. So sums are exact, whatever their order.
type evictionUnits int64

const (
	oneEviction     evictionUnits = 1 << 27
	perPriority     evictionUnits = 1 << 2 // 2^-25
	maxEvictionCost               = 10 * oneEviction
)

func (u evictionUnits) float() float64 { return float64(u) / float64(oneEviction) }

// EvictionCost is what it costs to evict a pod:
//
//	1 + c/2^27 + p/2^25, at least -10 and at most 10
//
// where p is the priority of the pod, 0 if it has none, and c the 32-bit integer
// in the annotation karpenter.sh/disruption-cost or, only if that is not there
// and ignoreDeletionCost is not set, in
// controller.kubernetes.io/pod-deletion-cost. What is no such integer counts as
// 0. A nil pod costs nothing.
func EvictionCost(pod *corev1.Pod, ignoreDeletionCost bool) float64 {
	if pod == nil {
		return 0
	}
	key, text := costAnnotation(pod, ignoreDeletionCost)
	c, _ := parseCost(key, text)
	return evictionCostOf(pod, c).float()
}

// costAnnotation is the annotation that holds the cost of a pod, empty if there
// is none.
func costAnnotation(pod *corev1.Pod, ignoreDeletionCost bool) (key, text string) {
	if text, found := pod.Annotations[v1.DisruptionCostAnnotationKey]; found {
		return v1.DisruptionCostAnnotationKey, text
	}
	if text, found := pod.Annotations[v1.PodDeletionCostAnnotationKey]; found && !ignoreDeletionCost {
		return v1.PodDeletionCostAnnotationKey, text
	}
	return "", ""
}

// parseCost reads the text of an annotation, and reports false if it cannot.
func parseCost(key, text string) (evictionUnits, bool) {
	if key == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, false
	}
	return evictionUnits(n), true
}

func evictionCostOf(pod *corev1.Pod, c evictionUnits) evictionUnits {
	cost := oneEviction + c
	if pod.Spec.Priority != nil {
		cost += evictionUnits(*pod.Spec.Priority) * perPriority
	}
	return min(max(cost, -maxEvictionCost), maxEvictionCost)
}

// costOfEviction is EvictionCost, exactly, with a warning.
func (f *Fleet) costOfEviction(pod *corev1.Pod) evictionUnits {
	key, text := costAnnotation(pod, f.opts.IgnorePodDeletionCost)
	c, ok := parseCost(key, text)
	if !ok {
		f.warn(podObject(pod), annotation(key), "%q counts as 0; write an integer of 32 bits", text)
	}
	return evictionCostOf(pod, c)
}
