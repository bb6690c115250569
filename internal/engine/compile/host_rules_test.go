package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// TestHostRulesAreReadOnce: every solution of a problem, and every class, begins with the
// same count of a constraint; another skew is another constraint.
func TestHostRulesAreReadOnce(t *testing.T) {
	spread := func(skew int, taints bool) workload.Class {
		return workload.Class{Terms: []workload.Term{{Kind: topology.Spread, Key: corev1.LabelHostname, Skew: skew, HonorTaint: taints}}}
	}
	p := &compile.Problem{
		Workload: compile.Workload{Classes: []workload.Class{spread(1, false), spread(1, false), spread(2, false), {}, spread(1, true)}},
		Cache:    &compile.Cache{},
	}
	first := p.HostRules(0)
	require.Len(t, first, 1)
	require.Same(t, first[0], p.HostRules(1)[0])
	require.NotSame(t, first[0], p.HostRules(2)[0])
	require.Equal(t, first[0].Way, p.HostRules(2)[0].Way, "both look at all nodes")
	require.NotEqual(t, first[0].Way, p.HostRules(4)[0].Way)
	require.Empty(t, p.HostRules(3))
	require.Zero(t, testing.AllocsPerRun(10, func() { p.HostRules(0) }))
}
