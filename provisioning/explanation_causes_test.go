package provisioning_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// reasonable is problems in which verify.Unplaced says something about each pod. By turns
// they have one kind of constraints between pods, the other, or minValues instead.
func reasonable(seed uint64) (provisioning.Input, *provisioning.Options) {
	features := randproblem.Volumes | randproblem.Reservations | randproblem.Buffers | randproblem.Static | randproblem.Defaults | randproblem.Ports
	features |= []randproblem.Feature{randproblem.Affinity, randproblem.Spread, randproblem.Affinity | randproblem.Spread}[seed%3]
	in, opts := richProblem(seed, randproblem.Config{Without: features})
	in.DaemonSetPods = nil // of which it counts all that could run
	if seed%3 < 2 {        // where constraints meet minValues, verify.Unplaced keeps silent
		for i, pool := range in.NodePools {
			in.NodePools[i] = withoutCause(pool, provisioning.CauseMinValues)
		}
	}
	return in, opts
}

// TestLawReasons takes away what the reason of a pod left over names: a constraint
// between pods, limits, or minValues with the limits that come after them. If the pod has
// no constraint of another kind, it has a place then: in the same plan, by
// verify.Unplaced, or in that of the problem as it is now.
func TestLawReasons(t *testing.T) {
	t.Parallel()
	asked, wrong := map[provisioning.Cause]int{}, []string(nil)
	for seed := range lawSeeds(3_000, 450) {
		in, opts := reasonable(seed)
		plan := solved(t, in, opts)
		for i, u := range plan.Unplaced {
			for _, cause := range causesOf(u.Explanation) {
				less, pod := relieved(in, u.Pod, cause)
				if constrained(pod) {
					continue
				}
				other := *plan
				other.Unplaced = slices.Clone(plan.Unplaced)
				other.Unplaced[i] = provisioning.Unplaced{Pod: pod}
				asked[cause]++
				named := func(v verify.Violation) bool { return v.Pod == pod.Namespace+"/"+pod.Name }
				left := func(u provisioning.Unplaced) bool { return u.Pod == pod }
				if !slices.ContainsFunc(verify.Unplaced(less, &other, opts), named) && slices.ContainsFunc(solved(t, less, opts).Unplaced, left) {
					wrong = append(wrong, fmt.Sprintf("seed %d: %s without %s: %s", seed, pod.Name, cause, u.Explanation))
				}
			}
		}
	}
	t.Log(asked)
	require.Empty(t, wrong)
	for _, cause := range []provisioning.Cause{provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity,
		provisioning.CauseMinValues, provisioning.CauseLimits} {
		require.Greater(t, asked[cause], enough(5), "%s", cause)
	}
}

// constrained says whether a pod has required constraints towards others.
func constrained(pod *corev1.Pod) bool {
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			return true
		}
	}
	a := pod.Spec.Affinity
	return a != nil && (a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0)
}

// causesOf lists what a reason names and can be taken away for good.
func causesOf(r *provisioning.Explanation) []provisioning.Cause {
	switch r.Cause {
	case provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity:
		return []provisioning.Cause{r.Cause}
	}
	var out []provisioning.Cause
	for _, pool := range r.Pools {
		switch pool.Cause {
		case provisioning.CauseMinValues, provisioning.CauseLimits:
			out = append(out, pool.Cause)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// relieved returns an input without what a reason of a pod names, and the pod there.
func relieved(in provisioning.Input, pod *corev1.Pod, cause provisioning.Cause) (provisioning.Input, *corev1.Pod) {
	out := pod.DeepCopy()
	in.Pods = slices.Clone(in.Pods)
	switch affinity := out.Spec.Affinity; cause {
	case provisioning.CauseSpread:
		out.Spec.TopologySpreadConstraints = slices.DeleteFunc(out.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == corev1.DoNotSchedule
		})
	case provisioning.CauseAffinity:
		affinity.PodAffinity = nil
	case provisioning.CauseAntiAffinity:
		if affinity != nil {
			affinity.PodAntiAffinity = nil
		}
		in.Pods = withoutAntiAffinity(in.Pods)
		in.Nodes = slices.Clone(in.Nodes)
		for i := range in.Nodes {
			in.Nodes[i].Pods = withoutAntiAffinity(in.Nodes[i].Pods)
		}
	default:
		in.NodePools = slices.Clone(in.NodePools)
		for i, pool := range in.NodePools {
			in.NodePools[i] = withoutCause(pool, cause)
		}
	}
	for i := range in.Pods {
		if in.Pods[i] != nil && in.Pods[i].Namespace == pod.Namespace && in.Pods[i].Name == pod.Name {
			in.Pods[i] = out
		}
	}
	return in, out
}

func withoutAntiAffinity(pods []*corev1.Pod) []*corev1.Pod {
	out := slices.Clone(pods)
	for i, pod := range out {
		if pod != nil && pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil {
			out[i] = pod.DeepCopy()
			out[i].Spec.Affinity.PodAntiAffinity = nil
		}
	}
	return out
}

func withoutCause(pool *v1.NodePool, cause provisioning.Cause) *v1.NodePool {
	pool = pool.DeepCopy()
	if pool.Spec.Limits = nil; cause == provisioning.CauseLimits {
		return pool
	}
	for i := range pool.Spec.Template.Spec.Requirements {
		pool.Spec.Template.Spec.Requirements[i].MinValues = nil
	}
	return pool
}
