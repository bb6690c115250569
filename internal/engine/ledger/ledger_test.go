package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// TestSpreadsRelyWhereTheirPodsAre: that no domain is empty matters to a spread only if it
// counts more than its skew where the plan has a pod that has it, or may have one. The many
// that run in another domain do not matter.
func TestSpreadsRelyWhereTheirPodsAre(t *testing.T) {
	rule := compile.DomainRule{Rule: topology.Rule{
		Kind: topology.Spread, Skew: 1,
		Members: []int{3, 1}, Owners: []int{0, 0}, Counted: []bool{true, true}, Sure: []bool{true, true},
	}}
	p := &compile.Problem{
		Workload:    compile.Workload{Classes: make([]workload.Class, 2)},
		Constraints: compile.Constraints{Rules: &compile.Rules{Domain: []compile.DomainRule{rule}, ByClass: []compile.ClassRules{{Owns: []int{0}}, {}}}},
	}
	relies := func(class int, domains ...int) bool {
		return ledger.New(p, []*ledger.Bin{{
			At: []ledger.Location{{Domains: domains}}, Pods: []attempt.Bundled{{Class: class, Count: 1}},
		}}).Relied[0]
	}
	require.False(t, relies(0, 1), "one is there, as many as the skew")
	require.True(t, relies(0, 0), "three are there")
	require.True(t, relies(0, 0, 1), "three are where it may be")
	require.False(t, relies(1, 0), "the pod does not have the constraint")
}
