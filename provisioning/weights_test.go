package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestLawWeightsSayWhoLaunches: where nothing but what pods ask of their nodes decides,
// each new node has a pod that heavier pools alone would leave over. Others may be
// beside it that they would not.
func TestLawWeightsSayWhoLaunches(t *testing.T) {
	t.Parallel()
	lighter, filled := 0, 0
	for seed := range lawSeeds(1_500, 150) {
		in, opts := richProblem(seed, randproblem.Plain())
		opts.Preferences = provisioning.Ignore
		for i, pool := range in.NodePools {
			pool.Spec.Limits = nil
			if pool.Spec.Replicas == nil {
				weight := []int32{50, 100, 10}[(i+int(seed))%3]
				pool.Spec.Weight = &weight
			}
		}
		all := in.Pods
		for i := range in.Nodes {
			all = slices.Concat(all, in.Nodes[i].Pods)
		}
		for _, pod := range all {
			pod.Spec.TopologySpreadConstraints = nil
			if pod.Spec.Affinity != nil {
				pod.Spec.Affinity.PodAffinity, pod.Spec.Affinity.PodAntiAffinity = nil, nil
			}
		}
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		for _, n := range plan.Create {
			heavier := provisioning.Input{InstanceTypes: in.InstanceTypes, DaemonSetPods: in.DaemonSetPods}
			for _, pool := range in.NodePools {
				if pool.Spec.Weight != nil && *pool.Spec.Weight > *n.Pool.Spec.Weight {
					heavier.NodePools = append(heavier.NodePools, pool)
				}
			}
			if len(heavier.NodePools) == 0 {
				continue
			}
			lighter++
			heavier.Pods = n.Pods
			left := len(solved(t, heavier, opts).Unplaced)
			require.Positive(t, left, "seed %d: %s\n%s", seed, n.Name, sketch(plan))
			if left < len(n.Pods) {
				filled++
			}
		}
	}
	t.Logf("of %d nodes of lighter pools %d are filled by pods that heavier ones could take", lighter, filled)
	require.Greater(t, filled, enough(5))
}
