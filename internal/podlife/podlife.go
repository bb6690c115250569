// Package podlife tells which pods have ended, and which end with their node: what is
// read of a pod the same way whoever asks.
package podlife

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Finished reports whether a pod has succeeded or failed: it takes no room any more.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// OfDaemonSet reports whether the controller of a pod is a DaemonSet.
func OfDaemonSet(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// SameDaemonSet reports whether a pod is of the DaemonSet that another pod stands for. One
// that is made from the template has no owner, but the name of the DaemonSet.
func SameDaemonSet(representative, pod *corev1.Pod) bool {
	owner, own := metav1.GetControllerOfNoCopy(pod), metav1.GetControllerOfNoCopy(representative)
	switch {
	case !OfDaemonSet(pod) || pod.Namespace != representative.Namespace:
		return false
	case own == nil:
		return owner.Name == representative.Name
	case own.UID != "" && owner.UID != "":
		return own.UID == owner.UID
	}
	return own.Name == owner.Name
}

// StaysBehind reports whether a pod belongs to its node and goes with it: it is of a
// DaemonSet, or the node runs it by itself.
func StaysBehind(pod *corev1.Pod) bool {
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}

// Moves reports whether a pod finds another place when its node goes. A nil pod does not.
func Moves(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && !Finished(pod) && !StaysBehind(pod)
}
