package disruption

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/status"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func targetOf(m *state.StateNode) Target {
	t := Target{Node: m.Name, NodePool: m.PoolName, ProviderID: m.ProviderID()}
	if m.NodeClaim != nil {
		t.NodeClaim = m.NodeClaim.Name
	}
	return t
}

// actionOn is one about this node.
func actionOn(m *state.StateNode, r Reason, step Step) Action {
	return Action{Reason: r, Step: step, Targets: []Target{targetOf(m)}}
}

// Leaving lists the nodes that are on their way out, by name: those whose NodeClaim
// or Node is being deleted, or whose machine is being ended. Their pods need a place
// elsewhere before they are evicted, so plan for them together with the pods that
// are pending:
//
//	problem, err := provisioning.Prepare(in.Input, nil)
//	problem, err = problem.Without(disruption.Leaving(in.Nodes)...)
//	plan, err := problem.Solve(ctx)
//
// Nodes that a command is to remove and that are not being deleted yet are not among
// them: their replacements are on their way.
func Leaving(nodes []provisioning.Node) []string {
	var names []string
	for _, n := range nodes {
		if name := n.Name(); name != "" && leaves(n) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func leaves(n provisioning.Node) bool {
	if n.Node != nil && n.Node.DeletionTimestamp != nil {
		return true
	}
	if n.NodeClaim == nil {
		return false
	}
	c := status.Find(n.NodeClaim.Status.Conditions, v1.ConditionTypeInstanceTerminating)
	return n.NodeClaim.DeletionTimestamp != nil || c != nil && c.Status == metav1.ConditionTrue
}
