package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"
	"k8s.io/component-helpers/nodedeclaredfeatures/types"

	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// TestUnsupported compares with the code by which kube-scheduler finds out which features a pod
// needs that nodes declare. Those of fields that the API server drops by default do not count.
func TestUnsupported(t *testing.T) {
	rules := func(action corev1.ContainerRestartRuleAction) []corev1.Container {
		return []corev1.Container{{}, {RestartPolicyRules: []corev1.ContainerRestartRule{{Action: action}}}}
	}
	yes, no := true, false
	for name, spec := range map[string]corev1.PodSpec{
		"nothing":                           {Containers: []corev1.Container{{}}},
		"host network":                      {HostNetwork: true},
		"host network and host users":       {HostNetwork: true, HostUsers: &yes},
		"host network and other users":      {HostNetwork: true, HostUsers: &no},
		"other users":                       {HostUsers: &no},
		"restart":                           {Containers: rules(corev1.ContainerRestartRuleActionRestart)},
		"restart all":                       {Containers: rules(corev1.ContainerRestartRuleActionRestartAllContainers)},
		"restart all by the init container": {InitContainers: rules(corev1.ContainerRestartRuleActionRestartAllContainers)},
	} {
		pod := &corev1.Pod{Spec: spec}
		needs := ""
		for _, f := range features.AllFeatures {
			if f.InferForScheduling(&types.PodInfo{Spec: &pod.Spec, Status: &pod.Status}) {
				needs = f.Name()
			}
		}
		if needs == "" {
			require.Empty(t, workload.Unsupported(pod, minors.Range{}), name)
		} else {
			require.Contains(t, workload.Unsupported(pod, minors.Range{}), needs, name)
		}
	}
	require.Contains(t, workload.Unsupported(&corev1.Pod{Spec: corev1.PodSpec{SchedulingGroup: &corev1.PodSchedulingGroup{}}}, minors.Range{}), "spec.schedulingGroup")
}
