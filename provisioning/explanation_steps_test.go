package provisioning_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
)

// TestLawReasonsLead takes away what reasons name, one after another: taints, host ports,
// volumes, devices, labels, requests, limits and minValues. What was taken away is not named
// again, and in the end the pod has a place, or no pool can launch anything for anybody.
// So a pod that follows its reasons gets there, and no reason hides another one that nothing
// can be done about. Of constraints between pods there are few: TestLawReasons has them.
func TestLawReasonsLead(t *testing.T) {
	t.Parallel()
	asked, wrong := map[provisioning.Cause]int{}, []string(nil)
	without := randproblem.Affinity | randproblem.Spread | randproblem.Defaults | randproblem.Buffers | randproblem.Static | randproblem.Reservations
	for seed := range lawSeeds(2_000, 300) {
		in, opts := richProblem(seed, randproblem.Config{Without: without})
		seen := map[string]bool{}
		for _, u := range solved(t, in, opts).Unplaced {
			if why := u.Explanation.String(); !seen[why] {
				seen[why] = true
				if fault := ledAstray(t, in, opts, u, asked); fault != "" {
					wrong = append(wrong, fmt.Sprintf("seed %d: %s: %s", seed, u.Pod.Name, fault))
				}
			}
		}
	}
	t.Log(asked)
	require.Empty(t, wrong)
	for _, cause := range []provisioning.Cause{provisioning.CauseTaints, provisioning.CauseHostPorts, provisioning.CauseVolumes,
		provisioning.CauseRequirements, provisioning.CauseResources, provisioning.CauseLimits, provisioning.CauseMinValues} {
		require.Greater(t, asked[cause], enough(0), "%s", cause)
	}
}

// ledAstray follows the reasons of a pod, and says where that leads to nothing; "" if it
// leads to a place, or to what no pod can do anything about.
func ledAstray(t *testing.T, in provisioning.Input, opts *provisioning.Options, u provisioning.Unplaced, asked map[provisioning.Cause]int) string {
	gone := map[provisioning.Cause]bool{}
	for {
		causes := reliefs(u.Explanation)
		if len(causes) == 0 {
			return pointless(u.Explanation)
		}
		for _, cause := range causes {
			if gone[cause] {
				return fmt.Sprintf("%s is named though it is gone: %s", cause, u.Explanation)
			}
			gone[cause] = true
			asked[cause]++
			in, u.Pod = eased(in, u.Pod, cause)
		}
		left := solved(t, in, opts).Unplaced
		at := slices.IndexFunc(left, func(other provisioning.Unplaced) bool { return other.Pod == u.Pod })
		if at < 0 {
			return ""
		}
		u = left[at]
	}
}

// pointless says what is wrong with a reason of which nothing can be taken away; "" if each
// pool can launch nothing, whoever asks.
func pointless(r *provisioning.Explanation) string {
	switch r.Cause {
	case provisioning.CauseNodePools:
	case provisioning.CauseNoNodePool, provisioning.CauseGated, provisioning.CauseDeleting, provisioning.CauseOtherScheduler:
		return ""
	default:
		return "nothing to take away: " + r.String()
	}
	for _, pool := range r.Pools {
		switch pool.Cause {
		case provisioning.CauseNotReady, provisioning.CauseNoInstanceTypes, provisioning.CauseReservations:
		default:
			if !fullOfDaemons(&pool) {
				return "nothing to take away: " + r.String()
			}
		}
	}
	return ""
}

// fullOfDaemons says whether DaemonSets leave no room for any pod in a pool.
func fullOfDaemons(r *provisioning.PoolExplanation) bool {
	return len(r.Shortfalls) > 0 && !slices.ContainsFunc(r.Shortfalls, func(s provisioning.Shortfall) bool { return s.Daemons < s.Largest })
}

// reliefs lists what a reason names and eased can take away: a constraint between pods by
// itself, as pools are then about the values that it lets the pod into.
func reliefs(r *provisioning.Explanation) []provisioning.Cause {
	switch r.Cause {
	case provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity:
		return []provisioning.Cause{r.Cause}
	}
	causes := []provisioning.Cause{r.Cause}
	for _, pool := range r.Pools {
		if !fullOfDaemons(&pool) {
			causes = append(causes, pool.Cause)
		}
	}
	known := []provisioning.Cause{provisioning.CauseTaints, provisioning.CauseHostPorts, provisioning.CauseVolumes, provisioning.CauseDevices,
		provisioning.CauseInvalid, provisioning.CauseRequirements, provisioning.CauseInstanceTypes, provisioning.CauseOfferings, provisioning.CauseResources,
		provisioning.CauseLimits, provisioning.CauseMinValues}
	causes = slices.DeleteFunc(causes, func(c provisioning.Cause) bool { return !slices.Contains(known, c) })
	slices.Sort(causes)
	return slices.Compact(causes)
}

// eased returns an input in which a pod has no cause of a kind any more, and the pod there.
func eased(in provisioning.Input, pod *corev1.Pod, cause provisioning.Cause) (provisioning.Input, *corev1.Pod) {
	switch cause {
	case provisioning.CauseLimits, provisioning.CauseMinValues, provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity:
		return relieved(in, pod, cause)
	}
	out := pod.DeepCopy()
	in.Pods = slices.Clone(in.Pods)
	in.Pods[slices.Index(in.Pods, pod)] = out
	switch cause {
	case provisioning.CauseTaints:
		out.Spec.Tolerations = append(out.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
	case provisioning.CauseHostPorts:
		withoutPorts(out)
	case provisioning.CauseVolumes:
		out.Spec.Volumes = nil
	case provisioning.CauseDevices:
		out.Spec.ResourceClaims = nil
	case provisioning.CauseInvalid, provisioning.CauseRequirements, provisioning.CauseInstanceTypes, provisioning.CauseOfferings:
		out.Spec.NodeSelector = nil
		if out.Spec.Affinity != nil {
			out.Spec.Affinity.NodeAffinity = nil
		}
	case provisioning.CauseResources: // of which volumes are one, where types attach so many
		withoutRequests(out)
		out.Spec.Volumes = nil
	}
	return in, out
}

func withoutPorts(pod *corev1.Pod) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Ports = nil
		}
	}
}

func withoutRequests(pod *corev1.Pod) {
	pod.Spec.Overhead, pod.Spec.Resources = nil, nil
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Resources = corev1.ResourceRequirements{}
		}
	}
}
