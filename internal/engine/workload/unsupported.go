package workload

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// Unsupported describes the features of a pod that kube-scheduler considers and the engine does not
// model; "" for most pods. testdata/fields.txt of package randproblem lists the fields.
func Unsupported(pod *corev1.Pod, kubernetes minors.Range) string {
	var out []string
	if pod.Spec.SchedulingGroup != nil {
		out = append(out, "spec.schedulingGroup, as pods of a group start together or not at all")
	}
	if !kubernetes.After(minors.DeclaredFeatures) {
		return strings.Join(out, "; ")
	}
	if pod.Spec.HostNetwork && pod.Spec.HostUsers != nil && !*pod.Spec.HostUsers {
		out = append(out, "spec.hostUsers: false with spec.hostNetwork, which "+declaring+"UserNamespacesHostNetworkSupport")
	}
	if restartsAll(pod.Spec.Containers) || restartsAll(pod.Spec.InitContainers) {
		out = append(out, "restartPolicyRules with RestartAllContainers, which "+declaring+"RestartAllContainersOnContainerExits")
	}
	return strings.Join(out, "; ")
}

const declaring = "only nodes take whose status.declaredFeatures has "

// restartsAll says whether any of some containers can restart all containers of the pod.
func restartsAll(containers []corev1.Container) bool {
	for i := range containers {
		if slices.ContainsFunc(containers[i].RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
			return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
		}) {
			return true
		}
	}
	return false
}
