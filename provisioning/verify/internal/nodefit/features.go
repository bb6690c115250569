package nodefit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// Features lists the features that a node must declare in status.declaredFeatures to take a pod, as
// kube-scheduler infers them from the pod; nil for most pods.
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

// Undeclared returns a feature that a pod needs and a node does not declare. It returns "" if the
// node declares all, or if the kube-schedulers in question do not check features.
func Undeclared(pod *corev1.Pod, declared []string, kubernetes minors.Range) string {
	if !kubernetes.After(minors.DeclaredFeatures) {
		return ""
	}
	for _, feature := range Features(pod) {
		if !slices.Contains(declared, feature) {
			return feature
		}
	}
	return ""
}
