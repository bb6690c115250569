package scenario_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func smallProposal() *scenario.Proposal {
	return &scenario.Proposal{
		Contender: "somebody 1.0", Scenario: "small", SolveSeconds: []float64{1.5}, SetupSeconds: []float64{0.5},
		CostBefore: 3, CostAfter: 1, Converged: true, Rounds: 2, Stopped: "nothing left to do", NodesAfter: 1,
		Actions: []scenario.Action{{
			Reason: "Underutilized", Nodes: []string{"a", "b"}, SavingsPerHour: 2, Seconds: 0.1,
			Replacements: []scenario.NewNodeClaim{{NodePool: "pool", InstanceTypes: []string{"m.large"}}},
			Moves:        map[string]string{"b/two": "replacement-0", "b/three": "c"},
		}},
		Blocked: []scenario.Blocked{{Node: "c", Rule: "pdb", Reason: "why"}},
	}
}

func TestProposalsComeBackAsTheyWere(t *testing.T) {
	for _, name := range []string{"p.json", "p.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, scenario.WriteProposal(path, smallProposal()))
		got, err := scenario.ReadProposal(path)
		require.NoError(t, err)
		require.Equal(t, smallProposal(), got)
	}
	_, err := scenario.ReadProposal("missing.json")
	require.ErrorContains(t, err, "missing.json")
	_, err = scenario.DecodeProposal([]byte("{"))
	require.ErrorContains(t, err, "proposal: no valid JSON document")
}

func TestFaultsOfProposals(t *testing.T) {
	p := smallProposal()
	p.Scenario = ""
	p.Actions[0].Moves["b/four"] = "replacement-1"
	p.Actions[0].Moves["b/five"] = ""
	p.Actions[0].Replacements[0] = scenario.NewNodeClaim{}
	p.Actions = append(p.Actions, scenario.Action{Nodes: []string{"a"}}, scenario.Action{})
	err := p.Validate()
	for _, want := range []string{
		"proposal: scenario: is empty",
		`proposal: actions[1].nodes: "a" is there twice`,
		"proposal: actions[2]: removes no node",
		"proposal: actions[0].replacements[0]: nodePool is empty",
		"proposal: actions[0].replacements[0]: has no instanceTypes",
		`proposal: actions[0].moves: "b/four" goes to "replacement-1"`,
		`proposal: actions[0].moves: "b/five" goes to ""`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestNamesOfReplacements(t *testing.T) {
	i, ok := scenario.ReplacementIndex(scenario.Replacement(7))
	require.True(t, ok)
	require.Equal(t, 7, i)
	for _, name := range []string{"node-1", "replacement-", "replacement-x", "replacement--1"} {
		_, ok := scenario.ReplacementIndex(name)
		require.False(t, ok, name)
	}
}
