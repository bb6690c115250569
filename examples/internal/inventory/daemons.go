package inventory

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// DaemonsToCome are the pods of DaemonSets that a node is to run and does not yet:
// their room is set aside, and so it is used.
func DaemonsToCome(node *provisioning.Node, daemons []*corev1.Pod) []*corev1.Pod {
	if node.Node == nil {
		return nil // which labels it will have is the engine's to know
	}
	var out []*corev1.Pod
	for _, d := range daemons {
		running := slices.ContainsFunc(node.Pods, func(p *corev1.Pod) bool { return sameDaemonSet(d, p) })
		if !running && runsOn(d, node.Node) {
			out = append(out, d)
		}
	}
	return out
}

// sameDaemonSet tells whether a pod is of the DaemonSet that another stands for,
// which bears its name where it has no owner.
func sameDaemonSet(daemon, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != "DaemonSet" || pod.Namespace != daemon.Namespace {
		return false
	}
	if own := metav1.GetControllerOfNoCopy(daemon); own != nil {
		return own.Name == owner.Name
	}
	return owner.Name == daemon.Name
}

// runsOn tells whether a DaemonSet runs a pod on a node.
func runsOn(daemon *corev1.Pod, node *corev1.Node) bool {
	wants, err := requirements.FromPod(daemon, nil)
	if err != nil {
		return false // reported with the input
	}
	suits := func(a requirements.Alternative) bool {
		return a.Set.Matches(node.Labels) && (a.NodeNames == nil || a.NodeNames.Has(node.Name))
	}
	if !slices.ContainsFunc(wants.Alternatives, suits) {
		return false
	}
	for i := range node.Spec.Taints {
		t := &node.Spec.Taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || ofCondition(t.Key) {
			continue
		}
		if !slices.ContainsFunc(daemon.Spec.Tolerations, func(have corev1.Toleration) bool { return tolerates(have, t) }) {
			return false
		}
	}
	return true
}

// ofCondition tells whether a taint follows a condition of the node, which does not
// keep DaemonSets away.
func ofCondition(key string) bool {
	return slices.Contains([]string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure,
		corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable}, key)
}

// tolerates tells whether a toleration admits a taint.
func tolerates(have corev1.Toleration, t *corev1.Taint) bool {
	return (have.Effect == "" || have.Effect == t.Effect) && (have.Key == "" || have.Key == t.Key) &&
		(have.Operator == corev1.TolerationOpExists || have.Key != "" && have.Value == t.Value)
}
