package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waits returns an action that waits.
func waits(node, why string, until *time.Time, savings float64) waiting {
	return waiting{action: action{Step: "Replace", Reason: "Drifted", Nodes: []nodeRef{{Node: node}}, Savings: savings}, Why: why, Until: until}
}

// What waits for the same is told once.
func TestWaitingIsGrouped(t *testing.T) {
	nine, also, ten := time.Unix(9, 0), time.Unix(9, 0), time.Unix(10, 0)
	r := &Proposal{proposalData: proposalData{Waiting: []waiting{
		waits("a", "a budget", &nine, 1), waits("b", "another", nil, 2), waits("c", "a budget", &also, 4),
		waits("d", "a budget", &ten, 8), waits("e", "another", nil, 16),
	}}}
	groups := groupWaiting(r.Waiting)
	require.Len(t, groups, 3)
	require.Equal(t, []string{"a", "c"}, groups[0].nodes)
	require.InDelta(t, 5, groups[0].savings, 1e-9)
	require.Equal(t, []string{"b", "e"}, groups[1].nodes)
	require.Equal(t, []string{"d"}, groups[2].nodes)

	page := &text{report: r}
	page.waiting()
	require.Contains(t, page.String(), "  2× Replace 1 node: Drifted")
	require.Contains(t, page.String(), "     remove  a, c\n     for     a budget, until 1 Jan 00:00\n")
}

// Nodes that count as nothing are told, and what that means.
func TestUnpriced(t *testing.T) {
	require.Empty(t, (&Proposal{}).unpriced())
	require.Equal(t, " The price of 1 managed node is not known, as the catalog has no offering that is like it: it counts as 0 USD/h in all amounts, and nothing is done to save on it."+
		" 2 nodes have no NodeClaim: somebody else manages them, nothing here removes them, and they count as 0 USD/h.", (&Proposal{proposalData: proposalData{Unknown: 1, Unmanaged: 2}}).unpriced())
}

// Pools without any node, before and after, are no table.
func TestNoTableWithoutNodes(t *testing.T) {
	r := &Proposal{proposalData: proposalData{Provisioned: &provisioned{Pods: 1}}}
	r.Before.Pools, r.After.Pools = []poolState{{NodePool: "web"}}, []poolState{{NodePool: "web"}}
	require.NotContains(t, r.Format(nil), "POOL")
	r.After.Total.Nodes = 1
	require.Contains(t, r.Format(nil), "POOL")
}

// A share of nothing is none: the words say so.
func TestChange(t *testing.T) {
	r := &Proposal{}
	r.Before.Total.USDPerHour, r.After.Total.USDPerHour = 2, 1
	require.Equal(t, "50% less", r.change())
	r.After.Total.USDPerHour = 3
	require.Equal(t, "50% more", r.change())
	r.Before.Total.USDPerHour = 0
	require.Equal(t, "where nothing is paid now", r.change())
	require.Equal(t, "1 pod is pending already, for which no node is launched.", (&provisioned{Pods: 1}).words())
}
