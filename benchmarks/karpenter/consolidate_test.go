package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func TestConsolidation(t *testing.T) {
	s := generate(t, family.Spec{Family: "consolidate", Types: "aws", Nodes: 6, Seed: 1})
	dir := t.TempDir()
	c := settings{
		scenario: filepath.Join(dir, "s.json.gz"), plan: filepath.Join(dir, "p.json.gz"), final: filepath.Join(dir, "f.json.gz"),
		reps: 1, cpuRequests: 1000, consolidate: true, limit: time.Minute,
	}
	require.NoError(t, scenario.WriteScenario(c.scenario, s))
	require.NoError(t, run(t.Context(), c))
	once, err := scenario.ReadProposal(c.plan)
	require.NoError(t, err)
	require.Equal(t, contender, once.Contender)
	require.Len(t, once.Actions, 1)
	require.False(t, once.Converged)
	require.Contains(t, []string{"Empty", "Underutilized"}, once.Actions[0].Reason)
	require.InDelta(t, once.CostBefore-once.CostAfter, once.Actions[0].SavingsPerHour, 1e-6)

	c.converge = true
	require.NoError(t, run(t.Context(), c))
	quiet, err := scenario.ReadProposal(c.plan)
	require.NoError(t, err)
	require.True(t, quiet.Converged)
	require.Equal(t, len(quiet.Actions)+1, quiet.Rounds)
	require.LessOrEqual(t, quiet.CostAfter, once.CostAfter)
	require.Len(t, quiet.SolveSeconds, 1)
	final, err := scenario.ReadScenario(c.final)
	require.NoError(t, err)
	require.Len(t, final.Nodes, quiet.NodesAfter)
	for _, b := range quiet.Blocked {
		require.NotEmpty(t, b.Reason)
	}
}
