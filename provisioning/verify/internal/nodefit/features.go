package nodefit

import corev1 "k8s.io/api/core/v1"

// NeedsFeature says whether kube-scheduler sends a pod only to nodes that declare a feature:
// the pod shares the network of the host but not its users, or one of its containers restarts
// all the others.
func NeedsFeature(pod *corev1.Pod) bool {
	if users := pod.Spec.HostUsers; pod.Spec.HostNetwork && users != nil && !*users {
		return true
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, rule := range containers[i].RestartPolicyRules {
				if rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					return true
				}
			}
		}
	}
	return false
}
