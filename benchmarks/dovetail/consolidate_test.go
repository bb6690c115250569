package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// proposed runs the program on a cluster of ten nodes, one of which is empty.
func proposed(t *testing.T, converge bool) (*scenario.Proposal, *scenario.Scenario) {
	t.Helper()
	dir := t.TempDir()
	c := settings{
		scenario: filepath.Join(dir, "s.json.gz"), plan: filepath.Join(dir, "p.json.gz"), final: filepath.Join(dir, "f.json.gz"),
		reps: 2, verify: true, consolidate: true, converge: converge, limit: time.Minute,
	}
	s := generate(t, family.Spec{Family: "consolidate", Types: "aws", Nodes: 10, Seed: 1})
	s.Nodes[0].Pods = nil
	require.NoError(t, scenario.WriteScenario(c.scenario, s))
	require.NoError(t, run(c))
	p, err := scenario.ReadProposal(c.plan)
	require.NoError(t, err)
	final, err := scenario.ReadScenario(c.final)
	require.NoError(t, err)
	require.Equal(t, s.Name, p.Scenario)
	require.Less(t, p.CostAfter, p.CostBefore)
	require.NotEmpty(t, p.Actions)
	require.Len(t, final.Nodes, p.NodesAfter)
	return p, final
}

func TestConsolidateOnce(t *testing.T) {
	p, _ := proposed(t, false)
	require.False(t, p.Converged)
	require.Len(t, p.SolveSeconds, 2)
	require.Len(t, p.SetupSeconds, 2)
	require.Zero(t, p.Rounds)
	require.Equal(t, "Empty", p.Actions[0].Reason)
	saved := 0.0
	for _, a := range p.Actions {
		require.Positive(t, a.SavingsPerHour, a.Reason)
		saved += a.SavingsPerHour
	}
	require.InDelta(t, p.CostBefore-p.CostAfter, saved, 1e-6)
}

// Every pod of the scenario is somewhere in the end, and nothing is left to do.
func TestConsolidateUntilQuiet(t *testing.T) {
	p, final := proposed(t, true)
	require.True(t, p.Converged)
	require.Equal(t, "nothing left to do", p.Stopped)
	require.Greater(t, p.Rounds, 1)
	require.Len(t, p.SolveSeconds, 1)
	saved := 0.0
	for _, a := range p.Actions {
		require.Positive(t, a.SavingsPerHour)
		saved += a.SavingsPerHour
	}
	require.InDelta(t, p.CostBefore-p.CostAfter, saved, 1e-6, "what it says it saves is what is saved")
	pods := map[string]bool{}
	for _, n := range final.Nodes {
		for _, pod := range n.Pods {
			pods[scenario.PodKey(pod)] = true
		}
	}
	for _, a := range p.Actions {
		for key := range a.Moves {
			require.True(t, pods[key], key)
		}
	}
}
