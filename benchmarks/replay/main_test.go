package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// emptied is a scenario, and a proposal that removes all nodes but one: they have
// no pods that move or, if crowded, more than the one can hold.
func emptied(t *testing.T, crowded bool) settings {
	t.Helper()
	s, err := family.Generate(family.Spec{Family: "consolidate", Types: "aws", Nodes: 8, Seed: 1})
	require.NoError(t, err)
	a := scenario.Action{Reason: "Underutilized", Moves: map[string]string{}}
	for i := range s.Nodes[1:] {
		n := &s.Nodes[i+1]
		a.Nodes = append(a.Nodes, n.Name())
		if !crowded { // only daemons are left, so that nothing has to move
			n.Pods = slices.DeleteFunc(n.Pods, podlife.Moves)
		}
		for _, pod := range n.Pods {
			if podlife.Moves(pod) {
				a.Moves[scenario.PodKey(pod)] = s.Nodes[0].Name()
			}
		}
	}
	dir := t.TempDir()
	c := settings{scenario: filepath.Join(dir, "s.json"), proposal: filepath.Join(dir, "p.json"), steps: dir}
	require.NoError(t, scenario.WriteScenario(c.scenario, s))
	require.NoError(t, scenario.WriteProposal(c.proposal, &scenario.Proposal{Scenario: s.Name, Contender: "somebody", Actions: []scenario.Action{a}}))
	return c
}

func TestReplay(t *testing.T) {
	var out strings.Builder
	c := emptied(t, false)
	require.NoError(t, run(c, &out))
	require.Contains(t, out.String(), "by somebody: 1 actions, 0 nodes launched, 0 pods moved; 8 nodes at")
	require.Contains(t, out.String(), "become 1 at")
	step, err := scenario.ReadScenario(filepath.Join(c.steps, "step-0000-scenario.json.gz"))
	require.NoError(t, err)
	require.Len(t, step.Nodes, 1)
	plan, err := scenario.ReadPlan(filepath.Join(c.steps, "step-0000-plan.json.gz"))
	require.NoError(t, err)
	require.Empty(t, plan.NewNodeClaims)
}

func TestReplayOfWhatBreaksRules(t *testing.T) {
	var out strings.Builder
	err := run(emptied(t, true), &out)
	require.ErrorContains(t, err, "1 of 1 actions break rules")
	require.Contains(t, out.String(), "actions[0]: resources: node node-00000")
}

func TestWhatCannotBeReplayed(t *testing.T) {
	require.ErrorContains(t, run(settings{}, os.Stdout), "-scenario and -proposal are required")
	require.ErrorContains(t, run(settings{scenario: "missing.json", proposal: "p"}, os.Stdout), "missing.json")
	c := emptied(t, false)
	p, err := scenario.ReadProposal(c.proposal)
	require.NoError(t, err)
	p.Scenario = "another"
	require.NoError(t, scenario.WriteProposal(c.proposal, p))
	require.ErrorContains(t, run(c, os.Stdout), `the proposal is for scenario "another"`)
	p.Scenario, p.Actions[0].Nodes = "consolidate-8nodes-aws-seed1", []string{"gone"}
	require.NoError(t, scenario.WriteProposal(c.proposal, p))
	require.ErrorContains(t, run(c, os.Stdout), "actions[0]: node gone is not there")
}
