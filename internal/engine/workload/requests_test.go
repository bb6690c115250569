package workload_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"
	"k8s.io/component-helpers/nodedeclaredfeatures/types"

	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func asking(cpu string) *corev1.Pod {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests}}}}}
}

// TestRequestsAreWorkedOutOnce counts what it allocates to ask again: nothing.
func TestRequestsAreWorkedOutOnce(t *testing.T) {
	known := workload.NewRequestsCache(minors.Range{})
	for i := range 10_000 { // more than are kept
		pod := asking(fmt.Sprintf("%dm", i))
		want, err := resources.PodRequests(pod)
		require.NoError(t, err)
		got, err := known.Of(pod)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if i%1_000 == 0 {
			require.Zero(t, testing.AllocsPerRun(10, func() { _, _ = known.Of(pod) }))
		}
	}
}

// TestRequestsFollowAResize: what is remembered of a pod does not outlive its status.
func TestRequestsFollowAResize(t *testing.T) {
	known, pod := workload.NewRequestsCache(minors.Range{}), asking("1")
	for _, cpu := range []string{"2", "3", "2500m"} {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}
		got, err := known.Of(pod)
		require.NoError(t, err)
		want := resource.MustParse(cpu)
		require.Equal(t, want.MilliValue(), got.Get(corev1.ResourceCPU))
	}
}

// TestBadRequestsAreNotRemembered: each error names the pod that was asked about.
func TestBadRequestsAreNotRemembered(t *testing.T) {
	known := workload.NewRequestsCache(minors.Range{})
	for _, name := range []string{"x", "y"} {
		pod := asking("-1")
		pod.Name = name
		_, err := known.Of(pod)
		require.ErrorContains(t, err, "a/"+name)
	}
}

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
