package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/results"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/judge"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func TestSizesCanBeGenerated(t *testing.T) {
	for size, specs := range sizes() {
		require.NotEmpty(t, specs, size)
		seen := map[string]bool{}
		for _, spec := range specs {
			require.False(t, seen[spec.Name()], "%s is there twice", spec.Name())
			seen[spec.Name()] = true
			spec.Pods, spec.Nodes = 10, min(spec.Nodes, 2)
			_, err := family.Generate(spec)
			require.NoError(t, err)
		}
	}
}

func TestTable(t *testing.T) {
	m := &contest{name: "x-100-aws-seed1", pods: 100, types: 7, nodes: 3, entries: []entry{
		{contender: "dovetail abc", solve: 0.01, setup: 0.01, pods: 100, nodes: 3, cost: 60, bound: 50, ownBound: 59.5, bytes: 1_500_000, allocs: 2500},
		{contender: "karpenter v1", solve: 200, setup: 1, pods: 100, nodes: 2, cost: 80, bound: 50, bytes: 26_000_000_000, allocs: 300_000_000},
	}}
	const want = `
x-100-aws-seed1 (100 pods, 7 types, 3 nodes)
dovetail    0.0100   0.0100    10000     5000     3     60.00   20.0%    0.8%     0     1.5     2.5
karpenter    200.0     1.00        0        0     2     80.00   60.0%       -     0 26000.0 300000.0
dovetail  20000 times as fast (10050 with set-up), at 75.0% of the cost
`
	require.Equal(t, want, m.text())
	for line := range strings.Lines(head() + m.text()) {
		require.LessOrEqual(t, len(line), 101, line)
	}

	m.entries[0].pods, m.entries[0].unplaced = 98, 2
	require.Contains(t, m.text(), "not comparable: dovetail placed 98 pods, karpenter 100")
	m.entries[1] = entry{contender: "karpenter", fault: errors.New("out of memory")}
	require.Contains(t, m.text(), "karpenter failed: out of memory")
	require.NotContains(t, m.text(), "times as fast")
	m.entries[0].fault = errors.New("breaks a rule")
	require.Contains(t, m.text(), "faulty: breaks a rule")
}

func TestMarkdown(t *testing.T) {
	r := &report{
		about: circumstances{Circumstances: results.Circumstances{Date: "2026-01-02", Machine: "a machine", Version: "go1", Commit: "abc", Command: "make compare"}, reps: 3},
		matches: []*contest{
			{name: "one", entries: []entry{{contender: "dovetail abc", solve: 1, pods: 1}, {contender: "karpenter v1", solve: 1, pods: 1}}},
			{name: "two", entries: []entry{{contender: "dovetail abc", solve: 1, pods: 1}}},
		},
	}
	text := r.markdown()
	require.Contains(t, text, "Contenders: dovetail abc, karpenter v1; quick is dovetail with\nOptions.Quick. Times are the median of 3.")
	for _, part := range []string{"2026-01-02", "a machine", "go1", "commit   abc", "`make compare`", head(), r.matches[0].text(), r.matches[1].text()} {
		require.Contains(t, text, part)
	}
	require.Equal(t, 2, strings.Count(text, "```"))
}

func TestEntriesAreReadFromPlans(t *testing.T) {
	s, err := family.Generate(family.Spec{Family: "generic", Types: "fake20", Pods: 3, Seed: 1})
	require.NoError(t, err)
	j, err := judge.New(s)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "p.json")
	plan := &scenario.Plan{
		Contender: "somebody", Scenario: s.Name, SolveSeconds: []float64{3, 1, 2}, SetupSeconds: []float64{1}, Allocs: 5, Bound: 0.25,
		NewNodeClaims: []scenario.NewNodeClaim{{
			NodePool: "default", InstanceTypes: []string{"fake-it-9"}, Pods: []string{scenario.PodKey(s.Pods[0]), scenario.PodKey(s.Pods[1])},
		}},
	}
	require.NoError(t, scenario.WritePlan(file, plan))
	e := entry{}
	require.NoError(t, e.read(file, j, 3))
	require.Equal(t, []float64{2, 1, 0.25}, []float64{e.solve, e.setup, e.ownBound})
	require.Equal(t, []int{2, 1, 1, 0}, []int{e.pods, e.unplaced, e.nodes, e.existing})
	require.InDelta(t, 3.1475, e.cost, 0.001)
	require.Greater(t, e.cost, e.bound)

	plan.NewNodeClaims[0].InstanceTypes = []string{"x"}
	require.NoError(t, scenario.WritePlan(file, plan))
	require.ErrorContains(t, e.read(file, j, 3), `cannot launch "x"`)
	require.ErrorIs(t, e.read(file+"x", j, 3), os.ErrNotExist)
}

// Contenders here are scripts, so that nothing has to be built.
func TestMatch(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) contender {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755))
		return contender{name: name, program: file}
	}
	good := script("good", `echo '{"contender":"good 1","scenario":"x","solveSeconds":[1]}' | gzip > "$4"`+"\n")
	bad := script("bad", "exit 3\n")
	spec := family.Spec{Family: "generic", Types: "fake3", Pods: 4, Seed: 1}
	m, err := match(t.Context(), dir, spec, []contender{good, bad}, 1)
	require.NoError(t, err)
	require.Equal(t, 4, m.pods)
	require.NoError(t, m.entries[0].fault)
	require.Equal(t, 4, m.entries[0].unplaced)
	require.ErrorContains(t, m.entries[1].fault, "exit status 3")
	require.Contains(t, m.text(), "bad       failed: exit status 3")
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), settings{sizes: "full,tiny", reps: 1}), `-sizes has "tiny"; use some of full, huge, small`)
	require.ErrorContains(t, run(t.Context(), settings{sizes: "small"}), "it must be 1 or more")
	require.ErrorContains(t, run(t.Context(), settings{sizes: "small", reps: 1, only: "("}), "-only")
}
