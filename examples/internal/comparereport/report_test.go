package comparereport

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The gap stands beside the cost, and a difference within it is called one.
func TestCertainty(t *testing.T) {
	r := Report{FreshChange: freshChange{USDPerHour: 0.0123, AtLeast: -0.5, AtMost: 0.25, WithinGap: true}}
	require.Equal(t, "Planned from empty, both at their best, the new side costs between 0.5000 less and 0.2500 more: the difference is within the gap of the search, and may come of it alone.", r.certainty())
	require.Equal(t, "within the gap", r.verdict())
	r.FreshChange = freshChange{USDPerHour: 1, AtLeast: 0.5, AtMost: 1.25}
	require.Equal(t, "Planned from empty, both at their best, the new side costs between 0.5000 more and 1.2500 more: the difference is beyond the gap of the search.", r.certainty())
	require.Equal(t, "beyond the gap", r.verdict())
	require.Empty(t, (&Report{}).certainty())
}

// Costs of different pods are called so.
func TestCostsOfOtherPods(t *testing.T) {
	var r Report
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
