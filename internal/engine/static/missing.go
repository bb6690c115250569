package static

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// WithMissing says how static pools stand, and returns the nodes with those that the pools are
// short of and launch now: they are room for the pods of the same plan, as NodeClaims that have
// not been launched. As a pod needs one node, no more of a pool are returned than there are pods.
func WithMissing(pools []catalog.Pool, nodes []model.Node, pods int, v *requirements.Vocabulary, f *model.Faults) ([]Pool, []model.Node) {
	if slices.ContainsFunc(nodes, func(n model.Node) bool { return n.Node == nil && n.NodeClaim == nil }) {
		return nil, nodes // a fault that is reported with the nodes
	}
	standing := Pools(pools, nodes, v, f)
	var missing []model.Node
	for i := range standing {
		s := &standing[i]
		for k := range min(s.Missing, pods) {
			claim := s.Pool.Spec.Template.ToNodeClaim()
			claim.Name, claim.Labels = model.MissingName(s.Pool.Name, k), s.Labels
			claim.Spec.Requirements = s.Requirements.NodeSelectorRequirements()
			missing = append(missing, model.Node{NodeClaim: claim})
		}
	}
	if len(missing) == 0 {
		return standing, nodes
	}
	return standing, slices.Concat(nodes, missing)
}
