package disruption

import (
	"context"
	"slices"
	"time"
)

// Propose decides what to do with the nodes of a cluster: it asks every rule
// and the search for cheaper ways to run the same pods, and lets begin what
// budgets and PodDisruptionBudgets allow. In this order:
//
//  1. Observe reads the input.
//  2. Fleet.Actions asks the rules. Empty nodes that pending pods are about to come
//     to are left alone.
//  3. Fleet.Pace says which of them may begin, and Fleet.Simulate what those
//     that launch nodes first have to launch. Actions whose pods would find no
//     place, or only once others are done, are Blocked, and others may begin in
//     their stead.
//  4. Fleet.Consolidate searches beside them, for what may begin as well.
//  5. Of actions that end nodes and leave the pods to the next plan, such as those
//     of nodes that have expired, the Detail says where these will find places.
//
// The error is that of ctx, once that is done; then there is no proposal. Faults
// of the input are in the proposal. Nil options mean the defaults.
func Propose(ctx context.Context, now time.Time, in Input, opts *Options) (*Proposal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, faults := Observe(now, in, opts)
	rules, notices := f.actions()
	rules, err := f.keepPromised(ctx, rules)
	if err != nil {
		return nil, err
	}
	pacing, failed, err := f.paceSimulated(ctx, rules.Actions)
	if err != nil {
		return nil, err
	}
	search, w, err := f.consolidate(ctx, pacing.Go)
	if err != nil {
		return nil, err
	}
	if pacing.Go, err = f.foretell(ctx, pacing.Go, w); err != nil {
		return nil, err
	}
	p := &Proposal{Actions: slices.Concat(pacing.Go, search.Actions), Waiting: slices.Concat(pacing.Wait, search.Waiting),
		Blocked: slices.Concat(rules.Blocked, failed, search.Blocked),
		Ignored: notices.Ignored, Unavailable: notices.Unavailable,
		Stats: search.Stats, Truncated: search.Truncated, Market: search.Market, Faults: faults, Warnings: f.Warnings(), fleet: f}
	slices.SortFunc(p.Blocked, Blocked.Compare)
	p.Next = sooner(sooner(rules.Next, pacing.Next), search.Next)
	p.CostBefore, p.UnknownPrices = f.cost()
	p.CostAfter = p.CostBefore
	for _, a := range p.Actions {
		p.CostAfter -= f.savings(a)
	}
	return p, nil
}

// cost is what the managed nodes cost that are not on their way out.
func (f *Fleet) cost() (sum float64, unknown int) {
	for _, m := range f.members {
		if !m.managed() || m.marked() {
			continue
		}
		price, known := m.price()
		sum += price
		if !known {
			unknown++
		}
	}
	return sum, unknown
}

// savings is what an action saves of cost. One that was not simulated replaces
// what it removes by the same, or by nothing.
func (f *Fleet) savings(a Action) float64 {
	switch {
	case a.Simulated:
		return a.Savings
	case a.Step != Delete:
		return 0
	}
	var targets []*member
	for _, t := range a.Targets {
		if m := f.byName[t.Node]; m != nil && !m.marked() { // an interrupted node may be on its way out
			targets = append(targets, m)
		}
	}
	return priceOf(targets)
}
