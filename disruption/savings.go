package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/consolidation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// consolidate searches for cheaper ways to run the pods of the cluster, as it is once what
// was accepted is under way. Nodes of that are left alone, and what it moves is where it
// moves it to. The candidates are those of MethodConsolidation whose price is known; see
// Candidates.
//
// How it searches, and what an action keeps to, is in package consolidation.
//
// The proposal has what was found, and nothing else: actions in the order of savings for
// each unit of DisruptionCost, highest first, and then of the first target; those that may not
// begin beside them, which were simulated together with them; and each candidate that is in
// none is Blocked with the reason that was found.
//
// The error is that of ctx, once that is done.
func (p *proposer) consolidate(ctx context.Context) (*Proposal, error) {
	candidates, blocked := p.consolidationCandidates(p.accepted)
	quota := admission.NewQuota(p.gate, Underutilized)
	out := &Proposal{Blocked: blocked, Stats: SearchStats{Candidates: len(candidates)}}
	if len(candidates) > 0 {
		out.CatalogCache = p.in.CatalogCache.orAnother(p.sim.Shared)
		if p.opts.Consolidation.NoReplacements {
			p.sim.StopLaunching()
		}
		found, err := consolidation.Find(ctx, consolidation.Input{Cluster: p.seen, Candidates: candidates, Rules: p.priceRules(), Quota: quota, Simulation: p.sim})
		if err != nil {
			return nil, err
		}
		out.add(found)
	}
	out.Next = state.Sooner(state.Sooner(soonest(out.Blocked), state.Sooner(quota.Next, quota.Admission.Next)), p.shortagesEnd())
	return out, nil
}

// add makes what a search has found actions and reasons.
func (p *Proposal) add(found *consolidation.Found) {
	p.Truncated = found.Truncated
	p.Stats.Steps, p.Stats.WhatIfs, p.Stats.Simulations = found.Stats.Steps, found.Stats.WhatIfs, found.Stats.Simulations
	for _, cs := range found.Sets {
		p.Actions = append(p.Actions, actionOf(cs, Underutilized))
	}
	slices.SortFunc(p.Actions, func(a, b Action) int {
		return cmp.Or(cmp.Compare(b.Savings/b.DisruptionCost, a.Savings/a.DisruptionCost),
			strings.Compare(a.Targets[0].Node, b.Targets[0].Node))
	})
	p.Actions = inOrder(p.Actions)
	for _, cs := range found.Waiting {
		p.Waiting = append(p.Waiting, actionOf(cs.CandidateSet, Underutilized).waits(cs.For))
	}
	for _, left := range found.Left {
		p.Blocked = append(p.Blocked, blockedBy(targetOf(left.Node), MethodConsolidation, left.Reason))
	}
}

// priceRules are what an action must save by the options.
func (f *Cluster) priceRules() *consolidation.Rules {
	o := &f.opts.Consolidation
	return consolidation.NewRules(f.seen, consolidation.Options{MaxSteps: o.MaxSteps, MaxNodes: o.MaxNodes, MinimumSaving: o.MinimumSaving,
		MinimumScore: o.MinimumScore, NoSpotToSpot: o.NoSpotToSpot, SpotFloor: o.SpotFloor})
}

// consolidationCandidates are the nodes that may go to save money, by name, and what keeps
// the others.
func (f *Cluster) consolidationCandidates(others []Action) (candidates []*state.StateNode, blocked []Blocked) {
	taken := map[string]bool{}
	for _, a := range others {
		for _, t := range a.Targets {
			taken[t.Node] = true
		}
	}
	var out []Blocked
	for _, m := range f.seen.Nodes {
		if taken[m.Name] {
			continue
		}
		reasons := f.keepsConsolidation(m)
		if len(reasons) == 0 {
			candidates = append(candidates, m)
		}
		out = append(out, reasons...)
	}
	return candidates, without(out, rule.Empty)
}

// consolidatable reports whether a node is a candidate.
func (f *Cluster) consolidatable(m *state.StateNode) bool { return len(f.keepsConsolidation(m)) == 0 }

// keepsConsolidation is what keeps a node from going to save money.
func (f *Cluster) keepsConsolidation(m *state.StateNode) []Blocked {
	reasons := f.check(m, MethodConsolidation)
	if len(reasons) > 0 {
		return reasons
	}
	c := &check{cluster: f, m: m, method: MethodConsolidation}
	if _, known := m.Price(); !known {
		c.add(rule.PriceUnknown, never, "what it costs is not known: %s", priceFault(m))
	}
	return c.blocked
}

// priceFault says why a price is not known.
func priceFault(m *state.StateNode) string {
	if m.Offering == nil {
		return "its instance type has no offering of its zone and capacity type"
	}
	return "its offering has no price"
}

// inOrder has each action come after those that have to be done before it, and keeps the
// order otherwise.
func inOrder(actions []Action) []Action {
	open := map[string]bool{}
	for _, a := range actions {
		open[a.name()] = true
	}
	out := make([]Action, 0, len(actions))
	for left := actions; len(left) > 0; {
		var later []Action
		for _, a := range left {
			if slices.ContainsFunc(a.After, func(name string) bool { return open[name] }) {
				later = append(later, a)
				continue
			}
			out = append(out, a)
			delete(open, a.name())
		}
		if len(later) == len(left) {
			return append(out, later...)
		}
		left = later
	}
	return out
}

// name is that of the first target.
func (a Action) name() string {
	if len(a.Targets) == 0 {
		return ""
	}
	return a.Targets[0].String()
}

// asksSingles reports whether each node was asked about alone, given what a proposal has
// found.
func (f *Cluster) asksSingles(actions []Action) bool {
	return consolidation.AsksSingles(len(f.seen.Nodes)) && !slices.ContainsFunc(actions, func(a Action) bool { return a.Reason == Underutilized })
}

// shortagesEnd is when the first of the shortages ceases to count.
func (f *Cluster) shortagesEnd() time.Time {
	var first time.Time
	for _, s := range f.in.UnavailableOfferings {
		if end := s.At.Add(UnavailableHold); end.After(f.seen.Now) {
			first = state.Sooner(first, end)
		}
	}
	return first
}
