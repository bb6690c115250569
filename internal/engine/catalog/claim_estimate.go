package catalog

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// claimEstimate has the certain properties of a NodeClaim that has not been launched. Whichever of
// its instance types is launched, the node has at least this allocatable and at most this capacity.
// Counting the least allocatable keeps a plan from launching a second node for the same pods;
// counting the most capacity keeps the limits.
type claimEstimate struct {
	Allocatable resources.List
	Capacity    resources.List
}

// Estimated computes the claim estimate of a node of the pool. It is zero if the claim allows none
// of the instance types of the pool.
func (p *Pool) Estimated(n model.Node, v *requirements.Vocabulary) (claimEstimate, error) {
	asked, err := requirements.FromNodeClaim(n.NodeClaim, v)
	if err != nil || asked.Impossible() {
		return claimEstimate{}, err
	}
	var out claimEstimate
	first := true
	for _, t := range p.Types {
		if !OverlapsType(asked, t) {
			continue
		}
		allocatable, err := t.Allocatable()
		if err != nil {
			return claimEstimate{}, err
		}
		if first {
			out = claimEstimate{allocatable, t.Capacity}
			first = false
			continue
		}
		out.Allocatable = out.Allocatable.Min(allocatable)
		out.Capacity = out.Capacity.Max(t.Capacity)
	}
	return out, nil
}
