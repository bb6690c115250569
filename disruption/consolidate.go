package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Consolidate searches for cheaper ways to run the pods of the fleet, as it will
// be once other actions are under way. Nodes of those are left alone, and what
// they move is where they move it to. The candidates are those of
// MethodConsolidation whose price is known; see Candidates.
//
// Any set of nodes may go, for any number of new ones or for none. What is
// proposed has been simulated: the engine (package provisioning) found a place
// for every pod that must have one, on nodes that stay or on new ones, with all
// that is proposed done together. No action depends on another: if one is not
// carried out, there is only more room for the others. An action is as small as
// that allows: nodes go in one action only if their pods share a new node.
//
// An action saves money for certain, at least what Options asks for, whichever
// option of its replacements is launched. It never launches what it removes. A
// spot node is replaced by one spot node only with Options.SpotFloor types to
// choose from. Pods go neither to nodes of Settling nor to those that are not
// initialized. Pods with a topology spread, affinity or anti-affinity over zones
// that must hold, and pods that such affinity selects, stay in their zones where
// it holds now, so that each action holds by itself; but one pod of each spread,
// of those that all nodes together move, may change its zone where the spread holds
// with that pod moved and no other. Where a spread or an affinity is broken as things
// are, or is about pods that do not have it, or an affinity is over nodes, only so many
// pods change their zone or node as hold whichever of them do, and others are left for
// the next time. Options.DefaultSpread of package provisioning counts as spreads do that
// pods have themselves.
// Budgets bound how many nodes are looked at; Pace has the last word on them.
//
// The search is in this order:
//
//  1. Of up to six candidates every set is tried that could gain more than the best
//     so far, on more than 500 nodes only those that promise most, and the best is
//     taken, again and again.
//  2. Of more, an estimate chooses those to remove: see SearchStats.WhatIfs.
//     They are tried together, and in fleets of up to 300 nodes once more, with
//     pods on the nodes where the estimate has them, if they are many and that
//     promises to launch less. Of a part that is not worth doing, the halves are
//     tried.
//  3. If nothing came of that, nodes are tried one by one, and with their
//     neighbours, where the estimate says that it may save something, until
//     several in a row do not.
//  4. If something was found, it begins anew, once, with the nodes that are
//     left.
//
// Carrying out what is proposed, and asking again, ends: each action makes the
// cluster cheaper.
//
// The actions are in the order of savings for each unit of DisruptionCost,
// highest first, and then of the first target. Each candidate that is in none is
// Blocked with the reason that was found.
//
// The error is that of ctx, once that is done.
func (f *Fleet) Consolidate(ctx context.Context, others []Action) (*Consolidation, error) {
	c, _, err := f.consolidate(ctx, others)
	return c, err
}

// consolidate also returns the world that it asked about, nil if there was nothing to
// ask.
func (f *Fleet) consolidate(ctx context.Context, others []Action) (*Consolidation, *world, error) {
	s := &search{f: f, reasons: map[string]verdict{}, waits: map[string]bool{}, vain: map[string]bool{}, totals: f.poolTotals(), quota: f.newQuota(Underutilized, others)}
	blocked := s.findCandidates(others)
	out := &Consolidation{}
	if len(s.candidates) > 0 {
		w, err := newWorld(ctx, f.pinned(), others)
		if err != nil {
			return nil, nil, err
		}
		s.w = w
		if err := s.run(ctx); err != nil {
			return nil, nil, err
		}
		out.Stats, out.Market = w.stats, w.shared
	}
	out.Stats.Candidates = len(s.candidates)
	out.Truncated = s.truncated
	out.Actions, out.Waiting = s.sortedActions(), s.waiting
	out.Blocked = append(blocked, s.leftAlone()...)
	slices.SortFunc(out.Blocked, Blocked.Compare)
	out.Next = sooner(sooner(soonest(out.Blocked), sooner(s.quota.next, s.quota.g.next)), f.shortagesEnd())
	return out, s.w, nil
}

// search is one run of Consolidate.
type search struct {
	f          *Fleet
	w          *world
	first, e   *estimate // as things were, and when this pass began
	quota      *quota
	totals     map[string]poolTotals
	candidates []*member // by name
	parts      []*part   // accepted
	waiting    []Waiting
	waits      map[string]bool // nodes of waiting
	reasons    map[string]verdict
	truncated  bool
	before     int             // actions that were found before this pass
	vain       map[string]bool // sets that were tried in vain, by setKey
}

// findCandidates sets the candidates, and returns what keeps other nodes.
func (s *search) findCandidates(others []Action) []Blocked {
	f := s.f
	taken := map[string]bool{}
	for _, a := range others {
		for _, t := range a.Targets {
			taken[t.Node] = true
		}
	}
	var out []Blocked
	for _, m := range f.members {
		if taken[m.name] {
			continue
		}
		reasons := f.check(m, MethodConsolidation)
		c := &check{f: f, m: m, method: MethodConsolidation}
		if len(reasons) == 0 {
			if _, known := m.price(); !known {
				c.add(RulePriceUnknown, never, "what it costs is not known: %s", m.priceFault())
			}
			if old := f.young(m); !old.IsZero() {
				c.add(RuleYoung, old, "it was launched less than %s ago", f.opts.MinimumAge)
			}
			reasons = c.blocked
		}
		if len(reasons) == 0 {
			s.candidates = append(s.candidates, m)
		}
		out = append(out, reasons...)
	}
	return without(out, RuleEmpty)
}

// priceFault says why a price is not known.
func (m *member) priceFault() string {
	if m.offering == nil {
		return "its instance type has no offering of its zone and capacity type"
	}
	return "its offering has no price"
}

// run searches.
func (s *search) run(ctx context.Context) error {
	if s.w.refused != nil {
		return nil
	}
	s.promises()
	if len(s.open()) <= exhaustiveLimit {
		return s.exhaust(ctx)
	}
	for pass := 0; pass < max(1, min(mostPasses, lookedAt/len(s.f.members))); pass++ {
		s.e = newEstimate(s.w, s.e)
		if pass == 0 {
			s.first = s.e
		}
		s.before = s.found()
		if err := s.cover(ctx); err != nil {
			return err
		}
		if !s.news() && (pass == 0 || len(s.f.members) <= repolished) { // a try takes long on a large cluster
			if err := s.polish(ctx); err != nil {
				return err
			}
		}
		if !s.news() || s.spent() {
			return nil
		}
	}
	return nil
}

// mostPasses bounds how often the search begins anew where it found something:
// the nodes that pods are about to come to stay, so that later passes find less.
const mostPasses = 2

// repolished is up to how many nodes later passes polish as well.
const repolished = 200

// found is how many actions were found, and news whether this pass found one.
func (s *search) found() int { return len(s.parts) + len(s.waiting) }
func (s *search) news() bool { return s.found() > s.before }

// promises leaves nodes alone that pods elsewhere need.
func (s *search) promises() {
	for _, m := range s.candidates {
		s.promise(m.name)
	}
}

func (s *search) promise(node string) {
	if pod := s.w.promised[node]; pod != "" && s.reasons[node].rule == "" {
		s.reasons[node] = verdict{rule: RulePromised, object: pod, detail: pod + " is about to come here"}
	}
}

// open lists the candidates that may still go.
func (s *search) open() []*member {
	var out []*member
	for _, m := range s.candidates {
		if s.mayGo(m) {
			out = append(out, m)
		}
	}
	return out
}

func (s *search) mayGo(m *member) bool {
	return !s.w.leaving[m.name] && s.w.promised[m.name] == "" && !s.waits[m.name]
}

// spent reports whether the steps are used up.
func (s *search) spent() bool {
	if s.w.stats.Steps >= s.f.opts.MaxSteps {
		s.truncated = true
	}
	return s.truncated
}

// try asks about some nodes and accepts the parts that are worth doing. It
// returns those that are not.
func (s *search) try(ctx context.Context, targets []*member) ([]*part, error) {
	parts, err := s.ask(ctx, targets)
	if err != nil {
		return nil, err
	}
	if parts, err = s.refit(ctx, targets, parts); err != nil {
		return nil, err
	}
	var bad []*part
	for _, pt := range bestFirst(parts) {
		if pt.verdict.bad() {
			s.remember(pt)
			s.vain[setKey(pt.targets)] = true
			bad = append(bad, pt)
			continue
		}
		s.accept(pt)
	}
	return bad, nil
}

// ask judges the parts of some nodes that are removed together.
func (s *search) ask(ctx context.Context, targets []*member) ([]*part, error) {
	if s.w.refused != nil {
		return nil, nil
	}
	parts, err := s.w.try(ctx, targets)
	if err != nil {
		return nil, err
	}
	s.judge(parts)
	return s.untie(ctx, targets, parts)
}

// judge judges parts, also by how many nodes one action may remove, and whether they
// hold in any order, beside what was accepted before.
func (s *search) judge(parts []*part) {
	for _, pt := range parts {
		s.f.judge(pt, s.totals)
		if !pt.verdict.bad() && len(pt.targets) > s.f.opts.MaxNodes {
			pt.verdict = forbid(RuleNotCheaper, "%d nodes would have to go together, and one action removes %d at most", len(pt.targets), s.f.opts.MaxNodes)
		}
	}
	s.setApart(parts)
}

// accept takes a part that is worth doing. One that has to wait is counted on all
// the same: it begins as soon as it may.
func (s *search) accept(pt *part) {
	for _, m := range pt.targets {
		delete(s.reasons, m.name)
	}
	a := pt.action(Underutilized)
	wait, members := s.quota.g.judge(a)
	if wait != nil {
		s.waiting = append(s.waiting, *wait)
		for _, m := range pt.targets {
			s.waits[m.name] = true
		}
	} else {
		s.quota.g.pass(a, members)
		s.parts = append(s.parts, pt)
	}
	s.w.accept(pt)
	for _, move := range pt.moves {
		s.promise(move.Node)
	}
}

// remember keeps the reason against a part for its nodes. What was found of a
// node alone says most.
func (s *search) remember(pt *part) {
	for _, m := range pt.targets {
		if _, known := s.reasons[m.name]; !known || len(pt.targets) == 1 {
			v := pt.verdict
			if v.rule == RuleNotCheaper {
				v.object = pt.needy(m)
			}
			s.reasons[m.name] = v
		}
	}
}

// sortedActions are what was accepted, best first.
func (s *search) sortedActions() []Action {
	var out []Action
	for _, pt := range s.parts {
		out = append(out, pt.action(Underutilized))
	}
	slices.SortFunc(out, func(a, b Action) int {
		return cmp.Or(cmp.Compare(b.Savings/b.DisruptionCost, a.Savings/a.DisruptionCost),
			strings.Compare(a.Targets[0].Node, b.Targets[0].Node))
	})
	return out
}
