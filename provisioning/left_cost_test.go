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
