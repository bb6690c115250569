package nomination

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Plain returns a pod as its owner wrote it: a copy without the tolerations of TaintKey, or
// the pod itself where it has none. Nothing but the list of tolerations is copied.
//
// Feed plans and decisions with it. Each promise leaves a toleration with a value of
// its own on the pod, so pods of one workload differ by nothing else, and whoever
// tells pods apart by what they tolerate has as many kinds of pods as there were
// nodes. Review wants the pods as they are. A nil pod stays nil.
func Plain(pod *corev1.Pod) *corev1.Pod {
	if pod == nil || !slices.ContainsFunc(pod.Spec.Tolerations, ours) {
		return pod
	}
	out := *pod
	out.Spec.Tolerations = slices.DeleteFunc(slices.Clone(pod.Spec.Tolerations), ours)
	if len(out.Spec.Tolerations) == 0 {
		out.Spec.Tolerations = nil
	}
	return &out
}

func ours(t corev1.Toleration) bool { return t.Key == TaintKey }
