package nodefit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Features lists the features that a node has to declare in status.declaredFeatures to take a
// pod, as kube-scheduler 1.36 and later infer them from the pod; nil for most pods.
func Features(pod *corev1.Pod) (features []string) {
	if users := pod.Spec.HostUsers; pod.Spec.HostNetwork && users != nil && !*users {
		features = append(features, "UserNamespacesHostNetworkSupport")
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, rule := range containers[i].RestartPolicyRules {
				if rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					return append(features, "RestartAllContainersOnContainerExits")
				}
			}
		}
	}
	return features
}

// Undeclared is a feature that a pod needs and a node does not declare; "" if it declares all.
func Undeclared(pod *corev1.Pod, declared []string) string {
	for _, feature := range Features(pod) {
		if !slices.Contains(declared, feature) {
			return feature
		}
	}
	return ""
}
