package provisioning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// poolsThatSay are pools with a reason each.
func poolsThatSay(details ...string) *provisioning.Explanation {
	r := &provisioning.Explanation{Cause: provisioning.CauseNodePools}
	for i, detail := range details {
		r.Pools = append(r.Pools, provisioning.PoolExplanation{NodePool: fmt.Sprintf("p%d", i), Cause: provisioning.CauseRequirements, Detail: detail})
	}
	return r
}

// Many pools that say the same are told together, and no reason is longer than an event may be.
func TestReasonsOfManyPools(t *testing.T) {
	require.Equal(t, "NodePool p0: a; NodePool p1: a; NodePool p2: b", poolsThatSay("a", "a", "b").String())
	require.Equal(t, "2 of 4 NodePools (p0, p2): a; NodePool p1: b; NodePool p3: c", poolsThatSay("a", "b", "a", "c").String())
	require.Equal(t, "5 of 5 NodePools (p0, p1, p2 and 2 more): a", poolsThatSay("a", "a", "a", "a", "a").String())

	var long []string
	for i := range 60 {
		long = append(long, fmt.Sprintf("%d %s", i, strings.Repeat("x", 60)))
	}
	r := poolsThatSay(long...)
	r.ExistingNodes = map[provisioning.Cause]int{provisioning.CauseResources: 3}
	require.LessOrEqual(t, len(r.String()), 1024)
	require.Regexp(t, `^NodePool p0: .*; and \d\d more NodePools; of 3 existing nodes, 3 have too little room$`, r.String())
	require.Equal(t, 60, strings.Count(r.Report(), "NodePool "), "the report has all")
	require.Len(t, poolsThatSay(strings.Repeat("x", 5000)).String(), 1024)
}

// A fault that shows a value shows it as it was written.
func TestReasonsShowValuesAsWritten(t *testing.T) {
	r := &provisioning.Explanation{Cause: provisioning.CauseRequirements, Detail: `Invalid value: ["\u003cb\u003e"]: a \u0026 b`}
	require.Equal(t, `Invalid value: ["<b>"]: a & b`, r.String())
}
