package fleet

import (
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// EditClaims returns the NodeClaims whose status must be stored, in the order of drifts, the result
// of disruption.Cluster.Drifts: with the conditions Drifted and Consolidatable and the last pod
// event. Claims that are being deleted are left out. Input must have its NodePools.
func (f *Fleet) EditClaims(drifts []disruption.DriftStatus) (out []*v1.NodeClaim) {
	for _, d := range drifts {
		claim := f.claims[d.NodeClaim]
		if claim == nil || claim.DeletionTimestamp != nil {
			continue
		}
		after := nodeclaim.EditDrifted(f.Now, claim, d.Reason, d.Detail)
		i := slices.IndexFunc(f.Input.NodePools, func(p *v1.NodePool) bool { return p.Name == claim.Labels[v1.NodePoolLabelKey] })
		if i >= 0 {
			var last time.Time
			if node := f.NodeOf(claim); node != nil {
				last = f.Input.PodEvents[node.Name]
			}
			after = nodeclaim.EditConsolidatable(f.Now, nodeclaim.EditPodEvent(after, last), f.Input.NodePools[i].Spec.Disruption.ConsolidateAfter, last)
		}
		if after != claim {
			out = append(out, after)
		}
	}
	return out
}
