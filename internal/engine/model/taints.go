package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	klog "k8s.io/klog/v2"

	"github.com/dovetail-sdk/dovetail/api/v1"
)

// HardTaints returns the taints that exclude pods: NoSchedule and NoExecute. PreferNoSchedule and
// unknown effects are left out.
func HardTaints(taints []corev1.Taint) []corev1.Taint {
	var hard []corev1.Taint
	for _, t := range taints {
		if t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute {
			hard = append(hard, t)
		}
	}
	return hard
}

// Untolerated returns the taints that no toleration tolerates.
func Untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) []corev1.Taint {
	var out []corev1.Taint
	for i := range taints {
		if !schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, tolerations, &taints[i], true) {
			out = append(out, taints[i])
		}
	}
	return out
}

// DaemonTolerations returns the tolerations of a DaemonSet pod: those of its template and those
// that the DaemonSet controller adds to every pod.
func DaemonTolerations(pod *corev1.Pod) []corev1.Toleration {
	out := slices.Clone(pod.Spec.Tolerations)
	for _, t := range []struct {
		key    string
		effect corev1.TaintEffect
	}{
		{corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute},
		{corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute},
		{corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule},
		{corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule},
		{corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule},
		{corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule},
	} {
		out = append(out, corev1.Toleration{Key: t.key, Operator: corev1.TolerationOpExists, Effect: t.effect})
	}
	if pod.Spec.HostNetwork {
		out = append(out, corev1.Toleration{Key: corev1.TaintNodeNetworkUnavailable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return out
}

// startingTaint says whether a taint is removed by itself while a node starts: taints of the node
// lifecycle, Karpenter's own, and those of readiness gates.
func startingTaint(t *corev1.Taint) bool {
	const readiness = "readiness.k8s.io/"
	switch {
	case t.Key == corev1.TaintNodeNotReady:
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	case t.Key == corev1.TaintNodeUnreachable:
		return t.Effect == corev1.TaintEffectNoSchedule
	case t.Key == "node.cloudprovider.kubernetes.io/uninitialized":
		return t.Effect == corev1.TaintEffectNoSchedule
	case t.Key == v1.UnregisteredTaintKey:
		return t.Effect == corev1.TaintEffectNoExecute
	case t.Key == v1.RebootingTaintKey:
		return t.Effect == corev1.TaintEffectNoSchedule
	}
	return len(t.Key) > len(readiness) && t.Key[:len(readiness)] == readiness
}

// SoftTaints returns the PreferNoSchedule taints. v1.DeletionCandidateTaintKey is not among them: it
// is for kube-scheduler alone, and must not change a plan.
func SoftTaints(taints []corev1.Taint) []corev1.Taint {
	var soft []corev1.Taint
	for _, t := range taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule && t.Key != v1.DeletionCandidateTaintKey {
			soft = append(soft, t)
		}
	}
	return soft
}
