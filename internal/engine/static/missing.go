package static

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// WithMissing returns the state of the static pools, and the nodes together with the missing nodes
// that the pools launch now. Missing nodes are added as NodeClaims that have not been launched, so
// that pods of the same plan can use them. At most as many are added for each pool as there are
// pods, because one pod needs one node.
func WithMissing(pools []catalog.Pool, nodes []model.Node, pods int, v *requirements.Vocabulary, f *model.Faults) ([]Pool, []model.Node) {
	if slices.ContainsFunc(nodes, func(n model.Node) bool { return n.Node == nil && n.NodeClaim == nil }) {
		return nil, nodes // a fault, which is reported with the nodes
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
