package provisioning

import (
	corev1 "k8s.io/api/core/v1"
)

// finished says whether a pod has run its course and takes no room.
func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
