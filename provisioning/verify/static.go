package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// withStatic returns an input and a plan in which the missing nodes of static pools are NodeClaims
// that have not been launched, and their pods are bound to these. Of the missing nodes without pods
// only one for each pool is added: several empty nodes have the same effect.
func withStatic(in provisioning.Input, plan *provisioning.Plan) (provisioning.Input, *provisioning.Plan) {
	var nodes []provisioning.Node
	var bind []provisioning.Binding
	for i := range plan.Static {
		s := &plan.Static[i]
		if s.Pool == nil {
			continue
		}
		missing := min(missingNodes(in, s.Pool), int64(s.Missing))
		for k := range min(missing, int64(len(s.Pods))+1) {
			claim := missingClaim(s, in.Vocabulary)
			claim.Name = missingName(s.Pool, int(k))
			nodes = append(nodes, provisioning.Node{NodeClaim: claim})
		}
		for k, pods := range s.Pods {
			bind = append(bind, provisioning.Binding{Node: missingName(s.Pool, k), Pods: pods})
		}
	}
	if len(nodes)+len(bind) == 0 {
		return in, plan
	}
	slices.SortFunc(bind, func(a, b provisioning.Binding) int { return strings.Compare(a.Node, b.Node) })
	out := *plan
	in.Nodes, out.Bind = slices.Concat(in.Nodes, nodes), slices.Concat(plan.Bind, bind)
	return in, &out
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
func missingNodes(in provisioning.Input, pool *v1.NodePool) int64 {
	if !slices.Contains(in.NodePools, pool) || pool.Spec.Replicas == nil || pool.DeletionTimestamp != nil {
		return 0
	}
	missing := *pool.Spec.Replicas
	limit, limited := pool.Spec.Limits["nodes"]
	room := limit.Value()
	for _, n := range in.Nodes {
		labels := map[string]string{}
		leaving := false
		if n.NodeClaim != nil {
			labels = n.NodeClaim.Labels
			leaving = n.NodeClaim.DeletionTimestamp != nil || terminating(n.NodeClaim)
		}
		if n.Node != nil {
			if name, ok := n.Node.Labels[v1.NodePoolLabelKey]; ok || n.NodeClaim == nil {
				labels = map[string]string{v1.NodePoolLabelKey: name}
			}
			leaving = leaving || n.Node.DeletionTimestamp != nil
		}
		if labels[v1.NodePoolLabelKey] != pool.Name {
			continue
		}
		if room--; !leaving {
			missing--
		}
	}
	if limited {
		missing = min(missing, room)
	}
	return max(missing, 0)
}

// terminating says whether the cloud is terminating the machine of a NodeClaim.
func terminating(claim *v1.NodeClaim) bool {
	return slices.ContainsFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == v1.ConditionTypeInstanceTerminating && c.Status == metav1.ConditionTrue
	})
}
