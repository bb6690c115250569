package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/judge"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// contender is a program that answers scenarios, with additional flags.
type contender struct {
	name, program string
	flags         []string
}

// entry is the result of one contender on one scenario.
type entry struct {
	contender       string
	solve, setup    float64 // seconds, medians
	pods            int     // placed pods
	unplaced        int
	nodes, existing int     // new nodes, and existing nodes that take pods
	cost            float64 // USD per hour
	bound           float64 // lower bound of the judge, in USD per hour, for the pods on new nodes
	ownBound        float64 // lower bound that the contender proved, in USD per hour; 0 if none
	bytes, allocs   uint64
	fault           error
}

// contest is a scenario and the results of all contenders.
type contest struct {
	name    string
	pods    int
	nodes   int
	types   int
	entries []entry
}

// build compiles the contenders into the directory.
func build(ctx context.Context, dir string) ([]contender, error) {
	var out []contender
	for _, name := range []string{"dovetail", "karpenter"} {
		program := filepath.Join(dir, name)
		cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./"+name)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("go build ./%s, from the directory of this module: %w", name, err)
		}
		out = append(out, contender{name: name, program: program})
	}
	return out, nil
}

// withQuick adds a contender: this library with Options.Quick.
func withQuick(contenders []contender) []contender {
	ours := slices.IndexFunc(contenders, func(c contender) bool { return c.name == "dovetail" })
	return slices.Insert(contenders, ours+1, contender{"quick", contenders[ours].program, []string{"-quick"}})
}

// match runs all contenders on one scenario, one after the other.
func match(ctx context.Context, dir string, spec family.Spec, contenders []contender, reps int) (*contest, error) {
	s, err := family.Generate(spec)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, s.Name+".json.gz")
	if err := scenario.WriteScenario(file, s); err != nil {
		return nil, err
	}
	j, err := judge.New(s)
	if err != nil {
		return nil, err
	}
	m := &contest{name: s.Name, pods: len(s.Pods), nodes: len(s.Nodes), types: len(s.InstanceTypes)}
	for _, c := range contenders {
		plan := filepath.Join(dir, s.Name+"."+c.name+".json.gz")
		e := entry{contender: c.name, fault: c.answer(ctx, file, plan, reps)}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := e.read(plan, j, len(s.Pods)); e.fault == nil {
			e.fault = err
		}
		m.entries = append(m.entries, e)
	}
	return m, nil
}

// answer runs the contender on a scenario. Its output goes to standard error.
func (c contender) answer(ctx context.Context, scenarioFile, planFile string, reps int) error {
	if err := os.Remove(planFile); err != nil && !os.IsNotExist(err) {
		return err
	}
	flags := append([]string{"-scenario", scenarioFile, "-plan", planFile, "-reps", fmt.Sprint(reps)}, c.flags...)
	cmd := exec.CommandContext(ctx, c.program, flags...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// read reads the plan from a file and fills in the entry: counts, cost and bound.
func (e *entry) read(file string, j *judge.Judge, pods int) error {
	p, err := scenario.ReadPlan(file)
	if err != nil {
		return err
	}
	onNew, onExisting := p.Placed()
	e.contender = p.Contender
	e.solve, e.setup = measure.Median(p.SolveSeconds), measure.Median(p.SetupSeconds)
	e.pods, e.unplaced = onNew+onExisting, pods-onNew-onExisting
	e.nodes, e.existing = len(p.NewNodeClaims), len(p.ExistingNodes)
	e.bytes, e.allocs = p.AllocBytes, p.Allocs
	e.ownBound = p.Bound
	if e.cost, err = j.Cost(p); err != nil {
		return err
	}
	e.bound, err = j.Bound(p)
	return err
}

// short returns the name of the contender without its version.
func (e *entry) short() string {
	name, _, _ := strings.Cut(e.contender, " ")
	return name
}
