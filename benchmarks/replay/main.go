// Replay carries out a proposal of any contender on a copy of the scenario, and judges every
// action: whether the pods of the removed nodes get places that break no rule.
//
//	go run ./replay -scenario S.json.gz -proposal P.json.gz
//
// With -steps it also writes each action as a scenario, in which the nodes are gone and their pods
// pending, and a plan for it, so that another judge can check it. The exit status is 1 if an action
// cannot be carried out or breaks a rule.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/replay"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// settings are the command-line flags.
type settings struct{ scenario, proposal, steps string }

func main() {
	var c settings
	flag.StringVar(&c.scenario, "scenario", "", "scenario to read; gzip if the name ends in .gz")
	flag.StringVar(&c.proposal, "proposal", "", "proposal to read")
	flag.StringVar(&c.steps, "steps", "", "directory for a scenario and a plan of each action; none if empty")
	flag.Parse()
	if err := run(c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(c settings, out io.Writer) error {
	if c.scenario == "" || c.proposal == "" {
		return errors.New("-scenario and -proposal are required")
	}
	s, err := scenario.ReadScenario(c.scenario)
	if err != nil {
		return err
	}
	p, err := scenario.ReadProposal(c.proposal)
	if err != nil {
		return err
	}
	if p.Scenario != s.Name {
		return fmt.Errorf("the proposal is for scenario %q, and this is %q", p.Scenario, s.Name)
	}
	cluster, err := replay.New(s)
	if err != nil {
		return err
	}
	before, evictions, launched, broken := cluster.Cost(), 0, 0, 0
	for i, a := range p.Actions {
		if c.steps != "" {
			if err := writeStep(c.steps, i, cluster, a); err != nil {
				return err
			}
		}
		violations, err := cluster.Judge(a)
		if err != nil {
			return fmt.Errorf("actions[%d]: %w", i, err)
		}
		for _, v := range violations {
			fmt.Fprintf(out, "actions[%d]: %s\n", i, v)
		}
		if len(violations) > 0 {
			broken++
		}
		if err := cluster.Apply(a); err != nil {
			return fmt.Errorf("actions[%d]: %w", i, err)
		}
		evictions, launched = evictions+len(a.Moves), launched+len(a.Replacements)
	}
	saved := before - cluster.Cost()
	fmt.Fprintf(out, "%s by %s: %d actions, %d nodes launched, %d pods moved; %d nodes at %.3f USD/h become %d at %.3f",
		s.Name, p.Contender, len(p.Actions), launched, evictions, len(s.Nodes), before, len(cluster.Scenario().Nodes), cluster.Cost())
	if saved > 0 {
		fmt.Fprintf(out, ", %.1f pods moved for a USD/h", float64(evictions)/saved)
	}
	fmt.Fprintln(out)
	if broken > 0 {
		return fmt.Errorf("%d of %d actions break rules", broken, len(p.Actions))
	}
	return nil
}

// writeStep writes an action as a scenario and a plan for that scenario.
func writeStep(dir string, i int, cluster *replay.Cluster, a scenario.Action) error {
	s, p := cluster.Step(a)
	name := filepath.Join(dir, fmt.Sprintf("step-%04d", i))
	return errors.Join(scenario.WriteScenario(name+"-scenario.json.gz", s), scenario.WritePlan(name+"-plan.json.gz", p))
}
