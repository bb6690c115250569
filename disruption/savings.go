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
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// consolidate searches for cheaper ways to run the pods of the cluster, in the state with the
// accepted actions under way. It does not touch the nodes of these actions, and pods that they move
// are at their new places. The candidates are those of MethodConsolidation with a known price; see
// Candidates.
//
// Package consolidation describes the search and the limits of an action.
//
// The proposal has only the results of the search: actions by descending saving for each unit of
// DisruptionCost, and then by first target; waiting actions, which were simulated together with
// them; and each other candidate as Blocked, with the cause found.
//
// The error is that of ctx once ctx is done.
func (p *proposer) consolidate(ctx context.Context) (*Proposal, error) {
	candidates, blocked := p.consolidationCandidates(p.accepted)
	quota := admission.NewQuota(p.gate, Underutilized)
	out := &Proposal{Blocked: blocked, Stats: SearchStats{Candidates: len(candidates)}}
	if len(candidates) > 0 {
		if p.sim.Compiled != nil {
			out.CatalogCache = &CatalogCache{p.sim.Compiled}
		}
		if p.opts.Consolidation.NoReplacements {
			p.sim.StopLaunching()
		}
		rules := p.priceRules()
		out.Next = rules.ScoreFalls(candidates)
		found, err := consolidation.Find(ctx, p.sim, candidates, rules, quota)
		if err != nil {
			return nil, err
		}
		out.add(found)
	}
	out.Next = order.Sooner(out.Next, soonest(out.Blocked), quota.Next, quota.Admission.Next, p.shortagesEnd())
	return out, nil
}

// add converts the results of a search to actions and causes.
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

// priceRules returns what an action must save by the options.
func (f *Cluster) priceRules() *consolidation.Rules {
	return consolidation.NewRules(f.seen, consolidation.Settings(f.opts.Consolidation))
}

// consolidationCandidates returns the nodes that may be removed to save money, sorted by name, and
// the causes that prevent the others.
func (f *Cluster) consolidationCandidates(others []Action) (candidates []*state.StateNode, blocked []Blocked) {
	taken := map[string]bool{}
	for _, name := range nodeNames(others...) {
		taken[name] = true
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

// keepsConsolidation returns the causes that prevent the removal of a node to save money.
func (f *Cluster) keepsConsolidation(m *state.StateNode) []Blocked {
	reasons := f.check(m, MethodConsolidation)
	if len(reasons) > 0 {
		return reasons
	}
	c := &check{cluster: f, m: m, method: MethodConsolidation}
	if _, known := m.Price(); !known {
		why := "its offering has no price"
		if m.Offering == nil {
			why = "its instance type has no offering of its zone and capacity type"
		}
		c.add(rule.PriceUnknown, never, "what it costs is not known: %s", why)
	}
	return c.blocked
}

// inOrder moves each action after the actions that must be done before it, and keeps the order
// otherwise.
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

// name returns the name of the first target.
func (a Action) name() string {
	if len(a.Targets) == 0 {
		return ""
	}
	return a.Targets[0].String()
}

// asksSingles reports whether the search tried each node alone, given the actions of a proposal.
func (f *Cluster) asksSingles(actions []Action) bool {
	return len(f.seen.Nodes) <= consolidation.MostSingles && !slices.ContainsFunc(actions, func(a Action) bool { return a.Reason == Underutilized })
}

// shortagesEnd returns when the first of the shortages no longer counts.
func (f *Cluster) shortagesEnd() time.Time {
	var first time.Time
	for _, s := range f.in.UnavailableOfferings {
		if end := s.At.Add(UnavailableHold); end.After(f.seen.Now) {
			first = order.Sooner(first, end)
		}
	}
	return first
}
