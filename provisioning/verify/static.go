package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// addMissing adds the missing nodes of static pools, as NodeClaims that have not been launched, and
// binds their pods to these. Of the missing nodes without pods only one for each pool is added:
// several empty nodes have the same effect.
func (r *referee) addMissing() {
	plan := *r.plan
	plan.Static = nil
	var nodes []provisioning.Node
	var bind []provisioning.Binding
	for i := range r.plan.Static {
		s := &r.plan.Static[i]
		if s.Pool == nil {
			continue
		}
		missing := min(r.missingNodes(s.Pool), int64(s.Missing))
		for k := range min(missing, int64(len(s.Pods))+1) {
			claim := missingClaim(s, r.in.Vocabulary)
			claim.Name = missingName(s.Pool, int(k))
			nodes = append(nodes, provisioning.Node{NodeClaim: claim})
		}
		for k, pods := range s.Pods {
			bind = append(bind, provisioning.Binding{Node: missingName(s.Pool, k), Pods: pods})
		}
	}
	slices.SortFunc(bind, func(a, b provisioning.Binding) int { return strings.Compare(a.Node, b.Node) })
	plan.Bind = slices.Concat(plan.Bind, bind)
	r.plan, r.in.Nodes = &plan, slices.Concat(r.in.Nodes, nodes)
	r.addNodes(nodes)
}

// missingClaim returns the NodeClaim of a missing node: made from the template, with the values
// that the plan gives to labels which the template leaves open.
func missingClaim(s *provisioning.StaticPool, v *requirements.Vocabulary) *v1.NodeClaim {
	claim := s.Pool.Spec.Template.ToNodeClaim()
	labels := map[string]string{v1.NodePoolLabelKey: s.Pool.Name}
	if ref := claim.Spec.NodeClassRef; ref != nil {
		labels[v1.NodeClassLabelKey(ref.GroupKind())] = ref.Name
	}
	maps.Copy(labels, claim.Labels)
	if asked, err := requirements.FromRequirements(claim.Spec.Requirements, v); err == nil {
		for r := range asked.All() {
			if value, ok := s.Labels[r.Key()]; ok && r.Has(value) {
				labels[r.Key()] = value
			}
		}
	}
	claim.Labels = labels
	return claim
}

// missingName returns the name of a missing node of a static pool. No object can have this name,
// and it sorts after all names of objects.
func missingName(pool *v1.NodePool, number int) string {
	return fmt.Sprintf("~%s/%d", pool.Name, number)
}

// missingNodes returns the number of nodes that a static pool of the input lacks, within its limit
// of nodes.
func (r *referee) missingNodes(pool *v1.NodePool) int64 {
	if !slices.Contains(r.in.NodePools, pool) || pool.Spec.Replicas == nil || pool.DeletionTimestamp != nil {
		return 0
	}
	missing := *pool.Spec.Replicas
	limit, limited := pool.Spec.Limits["nodes"]
	room := limit.Value()
	for _, s := range r.sites {
		if s.node.Pool != pool.Name {
			continue
		}
		if room--; !s.node.Deleting {
			missing--
		}
	}
	if limited {
		missing = min(missing, room)
	}
	return max(missing, 0)
}
