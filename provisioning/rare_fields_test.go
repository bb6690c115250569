package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestRareFields: where pods, nodes and storage objects use every field that kube-scheduler
// reads, plans keep all rules, and pods with fields that are refused stay pending for that.
func TestRareFields(t *testing.T) {
	for seed := range testlong.Problems(3000, 150) {
		in, opts := richProblem(seed, randproblem.Config{With: randproblem.Fields})
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		reasons := map[*corev1.Pod]*provisioning.Explanation{}
		for _, u := range plan.Unplaced {
			reasons[u.Pod] = u.Explanation
		}
		for _, pod := range in.Pods {
			declared := !slices.Contains([]string{"1.34", "1.35"}, opts.Kubernetes)
			if !usesRefused(pod, declared) {
				continue
			}
			require.NotNil(t, reasons[pod], "seed %d: pod %s has a field that is refused, and is placed", seed, pod.Name)
			require.Contains(t, []provisioning.Cause{
				provisioning.CauseUnsupported, provisioning.CauseGated, provisioning.CauseDeleting, provisioning.CauseOtherScheduler,
			}, reasons[pod].Cause, "seed %d: pod %s", seed, pod.Name)
		}
	}
}

// usesRefused says whether a pod has one of the fields that the list of fields calls refused.
// Declared says that kube-scheduler asks for the features that nodes declare.
func usesRefused(pod *corev1.Pod, declared bool) bool {
	if !declared {
		return pod.Spec.SchedulingGroup != nil
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			if len(containers[i].RestartPolicyRules) > 0 {
				return true
			}
		}
	}
	return pod.Spec.SchedulingGroup != nil || pod.Spec.HostUsers != nil
}
