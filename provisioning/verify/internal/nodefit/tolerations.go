package nodefit

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Tolerations are the tolerations of a pod when it is scheduled.
type Tolerations []corev1.Toleration

// Refused returns the first taint that excludes the pod. PreferNoSchedule excludes none.
func (t Tolerations) Refused(taints []corev1.Taint) (corev1.Taint, bool) {
	for _, taint := range taints {
		if taint.Effect != corev1.TaintEffectNoSchedule && taint.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if !t.tolerate(taint) {
			return taint, true
		}
	}
	return corev1.Taint{}, false
}

func (t Tolerations) tolerate(taint corev1.Taint) bool {
	for _, toleration := range t {
		if toleration.Effect != "" && toleration.Effect != taint.Effect {
			continue
		}
		if toleration.Key != "" && toleration.Key != taint.Key {
			continue
		}
		if t.covers(toleration, taint.Value) {
			return true
		}
	}
	return false
}

// covers says whether a toleration matches the value of a taint whose key and effect match.
func (t Tolerations) covers(toleration corev1.Toleration, value string) bool {
	switch toleration.Operator {
	case "", corev1.TolerationOpEqual:
		return toleration.Value == value
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		bound, ok := t.integer(toleration.Value)
		number, alsoOK := t.integer(value)
		if !ok || !alsoOK {
			return false
		}
		if toleration.Operator == corev1.TolerationOpLt {
			return number < bound
		}
		return number > bound
	}
	return false
}

// integer reads an integer in its canonical form, the only one that Kubernetes compares: no sign
// except minus, no leading zeros.
func (Tolerations) integer(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// OfDaemon returns the tolerations of a DaemonSet's pod together with those that the DaemonSet
// controller adds, by which it also runs on nodes with problems. A pod made from the template of a
// DaemonSet lacks them.
func OfDaemon(pod *corev1.Pod) Tolerations {
	added := Tolerations{
		{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeDiskPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodePIDPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	}
	if pod.Spec.HostNetwork {
		added = append(added, corev1.Toleration{
			Key: corev1.TaintNodeNetworkUnavailable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		})
	}
	// The pod's slice is not changed.
	return append(added, pod.Spec.Tolerations...)
}

// Text returns texts that are equal for equal tolerations.
func (t Tolerations) Text() []string {
	var text []string
	for _, toleration := range t {
		text = append(text, toleration.String())
	}
	return text
}
