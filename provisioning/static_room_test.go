package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestLawMissingNodesAreRoom: a plan puts on the nodes that static pools are short of what it puts
// on their NodeClaims once these are created, and the referee finds no fault with it.
func TestLawMissingNodesAreRoom(t *testing.T) {
	t.Parallel()
	pods := 0
	for seed := range lawSeeds(2_000, 300) {
		in, opts := richProblem(seed, randproblem.Config{Without: randproblem.Buffers})
		plan := solved(t, in, opts)
		now := plan.Static
		claimed, names := in, map[string][]*corev1.Pod{}
		claimed.Nodes = append([]provisioning.Node{}, in.Nodes...)
		for _, s := range now {
			for k, claim := range s.NodeClaims() {
				if k == len(in.Pods) {
					break // more make no difference
				}
				claim.Name = fmt.Sprintf("zzz-%s-%05d", s.Pool.Name, k)
				claimed.Nodes = append(claimed.Nodes, provisioning.Node{NodeClaim: claim})
				if k < len(s.Pods) {
					names[claim.Name] = s.Pods[k]
					pods += len(s.Pods[k])
				}
			}
		}
		if len(claimed.Nodes) == len(in.Nodes) {
			continue
		}
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		next := solved(t, claimed, opts)
		require.InDelta(t, next.Cost, plan.Cost, 1e-9, "seed %d", seed)
		require.Len(t, plan.Unplaced, len(next.Unplaced), "seed %d", seed)
		require.Equal(t, next.Order, plan.Order, "seed %d", seed)
		for _, b := range next.Bind {
			if want, ok := names[b.Node]; ok {
				require.Equal(t, b.Pods, want, "seed %d, node %s", seed, b.Node)
				delete(names, b.Node)
			}
		}
		require.Empty(t, names, "seed %d", seed)
	}
	require.Positive(t, pods)
}
