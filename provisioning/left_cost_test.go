package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestAsManyAreLeftForLess is about pods of which one has to be left over: it is the one
// whose node costs most.
func TestAsManyAreLeftForLess(t *testing.T) {
	pool := scenes.Pool("pool")
	pool.Spec.Limits = v1.Limits(resources.MustParse("nodes=1").ResourceList())
	large, small := scenes.Pod("large", "6", "1Gi"), scenes.Pod("small", "1", "1Gi")
	scenes.Team("apart", large, small)
	scenes.Avoid(large, scenes.AffinityTerm(corev1.LabelHostname, "apart"))
	in := provisioning.Input{
		NodePools: []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"pool": {
			scenes.Type("large", "cpu=8, memory=32Gi, pods=20", 0.4, "linux"), scenes.Type("small", "cpu=2, memory=8Gi, pods=20", 0.1, "linux"),
		}},
		Pods: []*corev1.Pod{large, small},
	}
	plan := solved(t, in, nil)
	require.Len(t, plan.Order, 1)
	require.InDelta(t, 0.05, plan.Cost, 1e-9) // on spot
}

// TestAsManyForLessIsNotDearerInTheEnd is about a problem in which as many pods are left over
// for less, on three nodes of which none can be taken out of the plan: of the five without
// that, two can, and a third becomes one that a reservation pays for.
func TestAsManyForLessIsNotDearerInTheEnd(t *testing.T) {
	in, opts := richProblem(1765, everything)
	plan := solved(t, in, opts)
	require.Empty(t, verify.Plan(in, plan, opts))
	require.Len(t, plan.Unplaced, 45)
	require.InDelta(t, 1.0314, plan.Cost, 1e-4) // it was 1.0659
}
