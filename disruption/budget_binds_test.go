package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Two nodes could become one that is cheaper than both, but the budget lets one go. It is what
// keeps them, and no price: one by itself has no cheaper place.
func TestTheBudgetThatKeepsNodesFromGoingTogether(t *testing.T) {
	scene := func(budget string) *disruption.Proposal {
		in := roomyInput()
		in.InstanceTypes["web"] = []*cloudprovider.InstanceType{sized("c.2", 2, 0.2), sized("c.4", 4, 0.3), sized("c.3", 3, 0.25)}
		in.Nodes = []provisioning.Node{roomy("a", "c.2", 2, newPod("a", asking("1900m"))), roomy("b", "c.2", 2, newPod("b", asking("1900m"))),
			roomy("full", "c.3", 3, newPod("c", asking("2900m")))}
		in.NodePools[0].Spec.Disruption.Budgets = newPool("web", budgetOf(budget)).Spec.Disruption.Budgets
		return propose(t, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}})
	}
	require.Len(t, scene("2").Actions, 1, "with both")
	p := scene("20%")
	require.Empty(t, p.Actions)
	for _, b := range p.Blocked {
		if b.Method == disruption.MethodConsolidation && b.Node != "full" {
			require.Equal(t, disruption.CodeBudget, b.Code, b.Detail)
			require.Contains(t, b.Detail, "a, b would save 0.1 USD/h together, and ")
			require.Contains(t, b.Detail, "lets 1 node go")
		}
	}
}
