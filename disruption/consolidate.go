package disruption

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// consolidate searches for cheaper ways to run the pods of the cluster, as it will
// be once other actions are under way. Nodes of those are left alone, and what
// they move is where they move it to. The candidates are those of
// MethodConsolidation whose price is known; see Candidates.
//
// Any set of nodes may go, for any number of new ones or for none. What is
// proposed has been simulated: the engine (package provisioning) found a place
// for every pod that must have one, on nodes that stay or on new ones, with all
// that is proposed done. Actions hold in the order in which they are listed; one that
// is not carried out leaves only more room for the others, and Action.After names those
// that have to be done before. An action is as small as that allows: nodes go in one
// action only if their pods share a new node.
//
// An action saves money for certain, at least what Options asks for, whichever
// option of its replacements is launched. It never launches what it removes. A
// spot node is replaced by one spot node only with Options.Consolidation.SpotFloor types to
// choose from. Pods go neither to nodes of Settling nor to those that are not
// initialized. Pods with a topology spread, affinity or anti-affinity over zones
// that must hold, and pods that such affinity selects, stay in their zones where
// it holds now, so that most actions may begin together; but one pod of each spread,
// of those that all nodes together move, may change its zone where the spread holds
// with that pod moved and no other. Where a spread or an affinity is broken as things
// are, or is about pods that do not have it, or an affinity is over nodes, pods change
// their zone or node one action after the other: each is taken if kube-scheduler lets its
// pods land in the state that those before it leave. Nothing is asked of pods that stay.
// Options.DefaultSpread of package provisioning counts as spreads do that pods have
// themselves.
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
//  5. In fleets of up to 300 nodes, if nothing was found that may begin, each node is
//     tried alone, with its pods free to change their zones. So there is none left that
//     could be removed by itself, or replaced at the saving asked for, unless MaxSteps
//     ended the search.
//
// Carrying out what is proposed, and asking again, ends: each action makes the
// cluster cheaper.
//
// The actions are in the order of savings for each unit of DisruptionCost,
// highest first, and then of the first target. Each candidate that is in none is
// Blocked with the reason that was found.
//
// The error is that of ctx, once that is done.
//
// It also returns the simulation that it asked about, nil if there was nothing to ask.
func (f *Cluster) consolidate(ctx context.Context, others []Action) (*consolidated, *simulation, error) {
	s := &search{cluster: f, reasons: map[string]outcome{}, waits: map[string]bool{}, tried: map[string]bool{}, totals: f.poolTotals(), quota: f.newQuota(Underutilized, others)}
	blocked := s.findCandidates(others)
	out := &consolidated{}
	if len(s.candidates) > 0 {
		w, err := newSimulation(ctx, f.pinned(), others)
		if err != nil {
			return nil, nil, err
		}
		s.w = w
		if err := s.run(ctx); err != nil {
			return nil, nil, err
		}
		s.report(ctx)
		out.Stats, out.CatalogCache = w.stats, w.shared
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
	cluster    *Cluster
	w          *simulation
	first, e   *estimate.Estimate // as things were, and when this pass began
	quota      *quota
	totals     map[string]poolTotals
	candidates []*stateNode    // by name
	parts      []*candidateSet // accepted
	waiting    []Waiting
	waits      map[string]bool // nodes of waiting
	reasons    map[string]outcome
	truncated  bool
	before     int             // actions that were found before this pass
	tried      map[string]bool // sets that were tried in vain, by setKey
}

// findCandidates sets the candidates, and returns what keeps other nodes.
func (s *search) findCandidates(others []Action) []Blocked {
	f := s.cluster
	taken := map[string]bool{}
	for _, a := range others {
		for _, t := range a.Targets {
			taken[t.Node] = true
		}
	}
	var out []Blocked
	for _, m := range f.nodes {
		if taken[m.name] {
			continue
		}
		reasons := f.check(m, MethodConsolidation)
		c := &check{cluster: f, m: m, method: MethodConsolidation}
		if len(reasons) == 0 {
			if _, known := m.price(); !known {
				c.add(rulePriceUnknown, never, "what it costs is not known: %s", m.priceFault())
			}
			if old := f.young(m); !old.IsZero() {
				c.add(ruleYoung, old, "it was launched less than %s ago", f.opts.Consolidation.MinimumAge)
			}
			reasons = c.blocked
		}
		if len(reasons) == 0 {
			s.candidates = append(s.candidates, m)
		}
		out = append(out, reasons...)
	}
	return without(out, ruleEmpty)
}

// priceFault says why a price is not known.
func (m *stateNode) priceFault() string {
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
		if err := s.exhaust(ctx); err != nil {
			return err
		}
		return s.singles(ctx)
	}
	for pass := 0; pass < max(1, min(mostPasses, lookedAt/len(s.cluster.nodes))); pass++ {
		s.e = s.w.estimate(s.e)
		if pass == 0 {
			s.first = s.e
		}
		s.before = s.found()
		if err := s.cover(ctx); err != nil {
			return err
		}
		if !s.news() && (pass == 0 || len(s.cluster.nodes) <= repolished) { // a try takes long on a large cluster
			if err := s.polish(ctx); err != nil {
				return err
			}
		}
		if !s.news() || s.spent() {
			break
		}
	}
	return s.singles(ctx)
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
		s.reasons[node] = outcome{rule: rulePromised, object: pod, detail: pod + " is about to come here"}
	}
}

// open lists the candidates that may still go.
func (s *search) open() []*stateNode {
	var out []*stateNode
	for _, m := range s.candidates {
		if s.mayGo(m) {
			out = append(out, m)
		}
	}
	return out
}

func (s *search) mayGo(m *stateNode) bool {
	return !s.w.leaving[m.name] && s.w.promised[m.name] == "" && !s.waits[m.name]
}

// spent reports whether the steps are used up.
func (s *search) spent() bool {
	if s.w.stats.Steps >= s.cluster.opts.Consolidation.MaxSteps {
		s.truncated = true
	}
	return s.truncated
}

// try asks about some nodes and accepts the parts that are worth doing. It
// returns those that are not.
func (s *search) try(ctx context.Context, targets []*stateNode) ([]*candidateSet, error) {
	parts, err := s.ask(ctx, targets)
	if err != nil {
		return nil, err
	}
	if parts, err = s.refit(ctx, targets, parts); err != nil {
		return nil, err
	}
	var bad []*candidateSet
	for _, pt := range bestFirst(parts) {
		if pt.outcome.bad() {
			s.remember(pt)
			s.tried[setKey(pt.targets)] = true
			bad = append(bad, pt)
			continue
		}
		if s.accept(pt); pt.outcome.bad() {
			bad = append(bad, pt)
		}
	}
	s.report(ctx)
	return bad, nil
}

// report says how far the search has come.
func (s *search) report(ctx context.Context) {
	if report := progress.From(ctx); report != nil {
		report(progress.Event{Work: work, Stage: "search", Done: s.w.stats.Steps, Total: s.cluster.opts.Consolidation.MaxSteps, Unit: "steps",
			Detail: fmt.Sprintf("%d actions that save money", s.found())})
	}
}

// ask judges the parts of some nodes that are removed together.
func (s *search) ask(ctx context.Context, targets []*stateNode) ([]*candidateSet, error) {
	if s.w.refused != nil {
		return nil, nil
	}
	parts, err := s.w.try(ctx, targets)
	if err != nil {
		return nil, err
	}
	s.judge(parts)
	return parts, nil
}

// judge judges parts, also by how many nodes one action may remove, and whether they
// hold one after the other, beside what was accepted before.
func (s *search) judge(parts []*candidateSet) {
	for _, pt := range parts {
		s.cluster.judge(pt, s.totals)
		if !pt.outcome.bad() && len(pt.targets) > s.cluster.opts.Consolidation.MaxNodes {
			pt.outcome = forbid(ruleNotCheaper, "%d nodes would have to go together, and one action removes %d at most", len(pt.targets), s.cluster.opts.Consolidation.MaxNodes)
		}
	}
	s.setApart(parts)
}

// accept takes a part that is worth doing, if its pods can land in the state that what
// begins before it leaves. One that has to wait is counted on all the same, but for what
// its pods do to constraints: it begins as soon as it may.
func (s *search) accept(pt *candidateSet) {
	before := len(s.w.landing.undo)
	if ok, tie := s.w.landing.takes(pt); !ok {
		pt.turnDown(s.w.landing, tie)
		s.remember(pt)
		return
	}
	pt.after = s.w.landing.after()
	for _, m := range pt.targets {
		delete(s.reasons, m.name)
	}
	a := pt.action(Underutilized)
	wait, members := s.quota.g.judge(a)
	if wait != nil {
		s.w.landing.rewind(before)
		s.waiting = append(s.waiting, *wait)
		for _, m := range pt.targets {
			s.waits[m.name] = true
		}
	} else {
		s.quota.g.pass(a, members)
		s.parts = append(s.parts, pt)
	}
	s.w.carryOut(pt)
	for _, move := range pt.moves {
		s.promise(move.Node)
	}
}

// remember keeps the reason against a part for its nodes. What was found of a
// node alone says most.
func (s *search) remember(pt *candidateSet) {
	for _, m := range pt.targets {
		if _, known := s.reasons[m.name]; !known || len(pt.targets) == 1 {
			v := pt.outcome
			if v.rule == ruleNotCheaper {
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
	return inOrder(out)
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

// alone asks the engine about one node with its pods free to go where kube-scheduler
// lets them, whatever the pins of the others. What is found is what one action does by
// itself, beside what is decided already.
func (w *simulation) alone(ctx context.Context, m *stateNode) (*candidateSet, error) {
	free := w.freed([]*stateNode{m})
	parts, err := free.try(ctx, []*stateNode{m})
	w.stats, w.refused = free.stats, free.refused
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	parts[0].alone = true
	return parts[0], nil
}

// singles asks about each node alone once nothing else was found that may begin. Pins and estimates
// leave out ways that there are: kube-scheduler asks nothing of pods that stay, so that
// a constraint may be broken before and after.
func (s *search) singles(ctx context.Context) error {
	if len(s.parts) > 0 || len(s.cluster.nodes) > mostSingles {
		return nil
	}
	for _, m := range s.bySaving(s.open()) {
		if !s.mayGo(m) || !s.allowed([]*stateNode{m}) || s.answered(m) {
			continue
		}
		if s.w.refused != nil || s.spent() {
			return nil
		}
		pt, err := s.w.alone(ctx, m)
		if err != nil || pt == nil {
			return err
		}
		s.judge([]*candidateSet{pt})
		if pt.outcome.bad() {
			s.remember(pt)
			continue
		}
		if s.accept(pt); !pt.outcome.bad() {
			s.quota.take(m)
		}
	}
	return nil
}

// asksSingles reports whether each node was asked about alone, given what a proposal has
// found.
func (f *Cluster) asksSingles(actions []Action) bool {
	return len(f.nodes) <= mostSingles && !slices.ContainsFunc(actions, func(a Action) bool { return a.Reason == Underutilized })
}

// mostSingles is up to how many nodes each is asked about alone.
const mostSingles = 300

// bySaving sorts nodes by what they cost above what is asked for, the dearest first,
// without those that cannot save as much as that.
func (s *search) bySaving(nodes []*stateNode) []*stateNode {
	most := make(map[*stateNode]float64, len(nodes))
	var out []*stateNode
	for _, m := range nodes {
		price, _ := m.price()
		if most[m] = price - s.cluster.required([]*stateNode{m}, s.totals); most[m] > priceSlack {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *stateNode) int {
		return cmp.Or(cmp.Compare(most[b], most[a]), strings.Compare(a.name, b.name))
	})
	return out
}

// answered reports whether the engine was asked about a node by itself, and none of its
// pods was pinned: it would say the same again.
func (s *search) answered(m *stateNode) bool {
	if !s.tried[setKey([]*stateNode{m})] {
		return false
	}
	for _, p := range s.w.displaced[m.name] {
		if !slices.ContainsFunc(m.pods, func(v *podView) bool { return v.Pod == p }) {
			return false
		}
	}
	return true
}

// setApart turns down the parts whose pods could not land in their turn, or that limits
// leave no room for, the best of them being served first. What holds only once others
// have landed comes after them.
func (s *search) setApart(parts []*candidateSet) {
	meter, l := newLimitsMeter(s.w), s.w.landing
	var left []*candidateSet
	for _, pt := range bestFirst(parts) {
		if pt.outcome.bad() {
			continue
		}
		if full := meter.takes(pt); full != nil {
			pt.limited(full)
			continue
		}
		l.read(pt)
		left = append(left, pt)
	}
	start := len(l.undo)
	for turn := 1; len(left) > 0; turn++ {
		var later []*candidateSet
		ties := map[*candidateSet]string{}
		for _, pt := range left {
			ok, tie := l.takes(pt)
			if pt.turn = turn; !ok {
				later, ties[pt] = append(later, pt), tie
			}
		}
		if len(later) == len(left) {
			for _, pt := range left {
				pt.turnDown(l, ties[pt])
			}
			break
		}
		left = later
	}
	l.rewind(start)
}

// limited turns a part down that a pool has no room for while others stay.
func (pt *candidateSet) limited(pool *v1.NodePool) {
	pt.outcome = forbid(ruleNotSearched, "the limits of %s leave no room for what would be launched, unless others go first; ask again after them", poolObject(pool.Name))
}

// turnDown says that a part is tied to others, or that it would not hold by itself.
func (pt *candidateSet) turnDown(l *landing, tie string) {
	pt.tied = true
	pt.outcome = forbid(ruleNotSearched, "%s ties its pods to those of others in this proposal, which go first; ask again after them", tie)
	switch {
	case len(l.done) > 0:
	case len(l.uncertain) > 0:
		pt.outcome = forbid(ruleNotSearched, "%s ties its pods to some that are about to find a place; ask again once they have", tie)
	default:
		pt.outcome = forbid(ruleUnplaced, "%s would not hold where there are places for its pods", tie)
	}
}

// worth is what a part saves for each unit of disruption cost.
func (pt *candidateSet) worth() float64 {
	units := evictionUnits(0)
	for _, m := range pt.targets {
		units += oneEviction + m.cost
	}
	return pt.saving / units.float()
}

// bestFirst sorts parts by what they are worth.
func bestFirst(parts []*candidateSet) []*candidateSet {
	out := slices.Clone(parts)
	slices.SortStableFunc(out, func(a, b *candidateSet) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(b.worth(), a.worth()))
	})
	return out
}

// poolTotals is what an action on a pool is weighed against.
type poolTotals struct {
	cost       float64 // USD per hour of all nodes
	disruption float64 // of all nodes: see Candidate.DisruptionCost
	unit       float64 // what a unit of it is taken to cost: in the pool, or in all pools if that is less
}

// perUnit is what the pool costs for each unit of its disruption cost.
func (t poolTotals) perUnit() float64 {
	if !(t.disruption > 0) {
		return 0
	}
	return t.cost / t.disruption
}

// poolTotals are those of all pools.
func (f *Cluster) poolTotals() map[string]poolTotals {
	out := map[string]poolTotals{}
	var all poolTotals
	for _, name := range f.poolNames {
		p := f.pools[name]
		var t poolTotals
		var units evictionUnits
		for _, m := range p.members {
			price, _ := m.price()
			t.cost += price
			units += oneEviction + m.cost
		}
		t.disruption = units.float()
		all.cost, all.disruption = all.cost+t.cost, all.disruption+t.disruption
		out[name] = t
	}
	for name, t := range out { // by key: the order does not matter
		t.unit = min(t.perUnit(), all.perUnit())
		out[name] = t
	}
	return out
}

// scoreSlack is how much two scores may differ and count as equal: a node of many
// that are alike, replaced at half its price, scores exactly one half, but for the
// last digits of sums of prices.
const scoreSlack = 1e-9

// balanced judges an action by the pools that ask for balance: for each, the
// share of its cost that is saved over the share of its disruption cost must
// reach the threshold. What an action on several pools saves counts for each by
// what its nodes cost.
func (f *Cluster) balanced(totals map[string]poolTotals, targets []*stateNode, savings float64) outcome {
	price, disruption := map[string]float64{}, map[string]evictionUnits{}
	all := priceOf(targets)
	for _, m := range targets {
		p, _ := m.price()
		price[m.poolName] += p
		disruption[m.poolName] += oneEviction + m.cost
	}
	for _, name := range f.poolNames {
		total := totals[name]
		if _, concerned := price[name]; !concerned || f.pools[name].policy != v1.ConsolidationPolicyBalanced {
			continue
		}
		if score := balancedScore(total, savings*price[name]/all, disruption[name].float()); score+scoreSlack < f.opts.Consolidation.BalancedThreshold {
			return forbid(ruleBalanced, "%s weighs savings against disruption: saving %s scores %.3g, and %.3g is asked for",
				poolObject(name), usd(savings), score, f.opts.Consolidation.BalancedThreshold)
		}
	}
	return outcome{}
}

func balancedScore(total poolTotals, savings, disruption float64) float64 {
	if !(total.cost > 0) || !(total.disruption > 0) || !(savings > 0) {
		return 0
	}
	return (savings / total.cost) / (disruption / total.disruption)
}
