package nodefit

import (
	corev1 "k8s.io/api/core/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
)

// Tolerations are the tolerations of a pod when it is scheduled.
type Tolerations []corev1.Toleration

// Refused returns the first taint that excludes the pod. PreferNoSchedule excludes none.
func (t Tolerations) Refused(taints []corev1.Taint) (corev1.Taint, bool) {
	for i := range taints {
		hard := taints[i].Effect == corev1.TaintEffectNoSchedule || taints[i].Effect == corev1.TaintEffectNoExecute
		if hard && !scheduling.TolerationsTolerateTaint(klog.Logger{}, t, &taints[i], true) {
			return taints[i], true
		}
	}
	return corev1.Taint{}, false
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
