package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// TestATemplateEditRollsEveryNodeOnce edits the templates of pools that nobody writes
// new hashes to: the nodes that were there drift, no node that is launched for them
// does, and the cluster comes to rest.
func TestATemplateEditRollsEveryNodeOnce(t *testing.T) {
	n := int(testlong.Problems(60, 5))
	replaced := 0
	for seed := range n {
		m := newMaker(uint64(90_000 + seed))
		in, opts := m.mixed(6)
		hashes := map[string]string{}
		for i, pool := range in.NodePools {
			hashes[pool.Name] = pool.Hash()
			edited := pool.DeepCopy()
			edited.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: pool.Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
			edited.Spec.Template.Labels = map[string]string{"cost-center": "42"}
			in.NodePools[i] = edited
		}
		old := map[string]bool{}
		for i := range in.Nodes {
			old[in.Nodes[i].Name()] = true
			if claim := in.Nodes[i].NodeClaim; claim != nil {
				claim.Annotations = map[string]string{v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion,
					v1.NodePoolHashAnnotationKey: hashes[claim.Labels[v1.NodePoolLabelKey]]}
			}
		}
		drifted := 0
		for _, s := range observe(t, in, opts).Drifts() {
			if s.Reason == disruption.NodePoolDrifted {
				drifted++
			}
		}
		require.Positive(t, drifted, "seed %d", seed)
		rest, now, _ := atRest(t, seed, in, opts)
		fleet, err := disruption.Observe(now.Add(24*time.Hour), rest, opts)
		require.NoError(t, err)
		for _, s := range fleet.Drifts() {
			if old[s.Node] {
				continue
			}
			require.NotEqual(t, disruption.NodePoolDrifted, s.Reason, "seed %d: %s", seed, s)
			replaced++
		}
	}
	require.Greater(t, replaced, n, "nodes are launched")
}
