package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
)

// The gap stands beside the cost, and a difference within it is called one.
func TestCertainty(t *testing.T) {
	r := Comparison{comparisonData: comparisonData{FreshChange: freshChange{USDPerHour: 0.0123, AtLeast: -0.5, AtMost: 0.25, WithinGap: true}}}
	require.Equal(t, "Planned from empty, both at their best, the new side costs between 0.5000 less and 0.2500 more: the difference is within the gap of the search, and may come of it alone.", r.certainty())
	require.Equal(t, "within the gap", r.significance())
	r.FreshChange = freshChange{USDPerHour: 1, AtLeast: 0.5, AtMost: 1.25}
	require.Equal(t, "Planned from empty, both at their best, the new side costs between 0.5000 more and 1.2500 more: the difference is beyond the gap of the search.", r.certainty())
	require.Equal(t, "beyond the gap", r.significance())
	require.Empty(t, (&Comparison{}).certainty())
}

// The first sentence is the answer.
func TestVerdict(t *testing.T) {
	r := &Comparison{}
	require.Equal(t, "Nothing would change.", r.Verdict())
	require.True(t, strings.HasPrefix(r.Format(nil), "What would change with \nNothing would change.\n"))
	r.found = []compare.Difference{{}}
	r.Old.AtRest, r.New.AtRest = billSummary{USDPerHour: 2, Nodes: 3}, billSummary{USDPerHour: 1.5, Nodes: 3}
	require.Equal(t, "At rest the new policies cost 25.0% less, 2.0000 → 1.5000 USD/h, on 3 nodes.", r.Verdict())
	r.New.AtRest, r.New.Pending = billSummary{USDPerHour: 2, Nodes: 1}, 2
	r.Old.FromEmpty.USDPerHour, r.New.FromEmpty.USDPerHour = 1, 1.1
	r.FreshChange = freshChange{USDPerHour: .1, WithinGap: true}
	require.Equal(t, "At rest the new policies cost the same, 2.0000 USD/h, on 1 node instead of 3, and 2 pods have no place any more; "+
		"planned from empty they cost 10.0% more, 1.0000 → 1.1000 USD/h, within the gap of the search.", r.Verdict())
	r.Old.AtRest, r.Old.Pending, r.FreshChange = billSummary{}, 3, freshChange{}
	require.Equal(t, "At rest the new policies cost 2.0000 USD/h more, on 1 node instead of 0, and 1 more pod has a place.", r.Verdict())
}

func TestNodesOfToday(t *testing.T) {
	require.Equal(t, "No managed node runs today.", billSummary{}.sentence())
	require.Equal(t, "1 managed node runs today for 1.0000 USD/h.", billSummary{USDPerHour: 1, Nodes: 1}.sentence())
}

// Costs of different pods are called so.
func TestCostsOfOtherPods(t *testing.T) {
	var r Comparison
	require.Empty(t, r.unlike())
	r.Old.FromEmpty.NoPlace = []noPlace{{Namespace: "shop", Name: "a"}, {Namespace: "shop", Name: "b"}}
	r.New.FromEmpty.NoPlace = []noPlace{{Namespace: "shop", Name: "a"}}
	require.Equal(t, "The costs from empty are not of the same pods: 1 pod has a place on the new side only, such as shop/b.", r.unlike())
	require.Contains(t, r.lost(), "Planned from empty 1 pod has no place on either side, such as shop/a")
	r.New.FromEmpty.NoPlace = append(r.New.FromEmpty.NoPlace, noPlace{Namespace: "shop", Name: "c"})
	require.Equal(t, "The costs from empty are not of the same pods: 1 pod has a place on the new side only, such as shop/b; 1 pod has a place on the old side only, such as shop/c.", r.unlike())
}

// What a bill leaves out is said.
func TestNodesThatCountAsNothing(t *testing.T) {
	require.Equal(t, "2 managed nodes run today for 1.0000 USD/h.", billSummary{USDPerHour: 1, Nodes: 2}.sentence())
	text := billSummary{USDPerHour: 1, Nodes: 2, UnknownPrices: 1, Unmanaged: 3}.sentence()
	require.Contains(t, text, "The price of 1 of them is not known")
	require.Contains(t, text, "3 nodes without a NodeClaim are somebody else's and count as 0 throughout.")
}
