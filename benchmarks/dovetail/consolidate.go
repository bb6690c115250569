package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/replay"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// maxRounds bounds the rounds of -converge, which normally ends after a few.
const maxRounds = 1000

// consolidate writes a proposal for a scenario: what to do with its nodes.
func consolidate(ctx context.Context, c settings, s *scenario.Scenario) error {
	out := &scenario.Proposal{Contender: contender(false), Scenario: s.Name, Actions: []scenario.Action{}, Blocked: []scenario.Blocked{}}
	cluster, err := replay.New(s)
	if err != nil {
		return err
	}
	out.CostBefore = cluster.Cost()
	reps := c.reps
	if c.converge {
		reps = 1
	}
	var found *disruption.Proposal
	var a *asker
	err = measure.Profiled(c.profile, func() error {
		for range reps {
			a = new(asker)
			p, took, setup, err := a.propose(ctx, s)
			if err != nil {
				return err
			}
			found = p
			out.SolveSeconds, out.SetupSeconds = append(out.SolveSeconds, took.Seconds), append(out.SetupSeconds, setup.Seconds)
			fmt.Fprintf(os.Stderr, "%s: %d nodes at $%.3f/h: %d actions save $%.3f/h | setup %.4fs solve %.4fs | %d steps, %d simulations, %d kB in %d allocations\n",
				s.Name, len(s.Nodes), out.CostBefore, len(p.Actions), p.Savings(), setup.Seconds, took.Seconds,
				p.Stats.Steps, p.Stats.Simulations, took.Bytes>>10, took.Allocs)
		}
		if !c.converge {
			return carryOut(cluster, found, out, c)
		}
		return a.converge(ctx, c, cluster, found, out)
	})
	if err != nil {
		return err
	}
	return cluster.Finish(out, c.plan, c.final)
}

// asker asks for proposals about a cluster in every round. Like a controller, it keeps the catalog,
// and what the library compiled from it.
type asker struct {
	in disruption.Input
}

// propose makes one proposal. Set-up is converting the scenario into an input.
func (a *asker) propose(ctx context.Context, s *scenario.Scenario) (p *disruption.Proposal, took, setup measure.Cost, err error) {
	setup, err = measure.Of(func() error {
		if a.in.InstanceTypes != nil {
			a.in.Nodes, a.in.Pods = snapshot.Nodes(s), s.Pods
			return nil
		}
		in, err := snapshot.Input(s)
		a.in = disruption.Input{Input: in, PodDisruptionBudgets: s.PodDisruptionBudgets}
		return err
	})
	if err != nil {
		return nil, took, setup, err
	}
	var faults []*provisioning.InputError
	took, err = measure.Of(func() (err error) {
		p, faults, err = disruption.Propose(ctx, s.Now, a.in, proposing(s))
		return err
	})
	if err == nil {
		a.in.CatalogCache = p.CatalogCache
		for _, fault := range faults {
			err = errors.Join(err, fault)
		}
	}
	return p, took, setup, err
}

// proposing returns the options of each proposal.
func proposing(s *scenario.Scenario) *disruption.Options {
	return &disruption.Options{Provisioning: snapshot.Options(s), Consolidation: disruption.ConsolidationOptions{NoSpotToSpot: true}}
}

// converge carries proposals out until there are none. The first proposal is p.
func (a *asker) converge(ctx context.Context, c settings, cluster *replay.Cluster, p *disruption.Proposal, out *scenario.Proposal) error {
	started := time.Now()
	computed, setups := measure.Sum(out.SolveSeconds), measure.Sum(out.SetupSeconds)
	for out.Rounds = 1; ; out.Rounds++ {
		if len(p.Actions) == 0 {
			out.Converged, out.Stopped = true, "nothing left to do"
			if len(p.Waiting) > 0 {
				out.Stopped = fmt.Sprintf("%d actions wait for budgets", len(p.Waiting))
			}
			out.Blocked = blocked(p)
			break
		}
		if err := carryOut(cluster, p, out, c); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "round %d: %d actions -> %d nodes at $%.3f/h\n", out.Rounds, len(p.Actions), len(cluster.Scenario().Nodes), cluster.Cost())
		if out.Rounds == maxRounds || time.Since(started) > c.limit {
			out.Stopped = fmt.Sprintf("after %d rounds and %s", out.Rounds, time.Since(started).Round(time.Second))
			break
		}
		next, took, setup, err := a.propose(ctx, cluster.Scenario())
		if err != nil {
			return err
		}
		p, computed, setups = next, computed+took.Seconds, setups+setup.Seconds
	}
	out.SolveSeconds, out.SetupSeconds = []float64{computed}, []float64{setups}
	return nil
}

// carryOut applies the actions of a proposal, and judges each before if the flags ask for it. With
// -converge it also applies the actions that save money and wait for a PodDisruptionBudget, because
// by then the pods of the other actions are running again.
func carryOut(cluster *replay.Cluster, p *disruption.Proposal, out *scenario.Proposal, c settings) error {
	actions := slices.Clone(p.Actions)
	for _, w := range p.Waiting {
		if c.converge && w.Reason == disruption.Underutilized {
			actions = append(actions, w.Action)
		}
	}
	for _, a := range actions {
		action := describeAction(a)
		if c.verify {
			violations, err := cluster.Judge(action)
			if err != nil {
				return fmt.Errorf("%s: %w", a, err)
			}
			for _, v := range violations {
				fmt.Fprintln(os.Stderr, v)
			}
			if len(violations) > 0 {
				return fmt.Errorf("%s: breaks %d rules", a, len(violations))
			}
		}
		if err := cluster.Apply(action); err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
		out.Actions = append(out.Actions, action)
	}
	if !out.Converged {
		out.Blocked = blocked(p)
	}
	return nil
}

// describeAction converts an action.
func describeAction(a disruption.Action) scenario.Action {
	out := scenario.Action{Reason: string(a.Reason), Nodes: []string{}, Replacements: []scenario.NewNodeClaim{}, Moves: map[string]string{}, SavingsPerHour: a.Savings}
	for _, t := range a.Targets {
		out.Nodes = append(out.Nodes, t.Node)
	}
	for i := range a.Replacements {
		out.Replacements = append(out.Replacements, claim(&a.Replacements[i]))
	}
	for _, m := range a.Moves {
		to := m.Node
		if m.Replacement >= 0 {
			to = scenario.Replacement(m.Replacement)
		}
		out.Moves[scenario.PodKey(m.Pod)] = to
	}
	return out
}

func blocked(p *disruption.Proposal) []scenario.Blocked {
	out := []scenario.Blocked{}
	for _, b := range p.Blocked {
		out = append(out, scenario.Blocked{Node: b.Node, Rule: string(b.Code), Reason: b.Detail})
	}
	return out
}
