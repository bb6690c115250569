package catalog

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// claimEstimate is what is sure of a NodeClaim that has not been launched: whichever
// of the instance types that it allows it becomes, it has at least this room
// and at most this capacity. Counting on the least room keeps a plan from
// launching twice for the same pods; counting the most capacity keeps limits.
type claimEstimate struct {
	Allocatable resources.List
	Capacity    resources.List
}

// Estimated works out the claim estimate of a node of a pool. A claim that allows none
// of the types of the pool promises nothing.
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
