package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/parallel"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// DefaultMaxRounds is the default of Options.MaxRounds.
const DefaultMaxRounds = 200

// Horizon is how far in the future an awaited instant may be, such as the window of a budget.
const Horizon = 7 * 24 * time.Hour

// Options bound the simulation of a side. The zero value, and nil, mean the defaults.
type Options struct {
	// MaxRounds is the largest number of proposals for a side, including those that begin nothing.
	// Zero means 200.
	MaxRounds int
	// Parallel is the number of goroutines of Compare, which end before it returns: with 2 or 3
	// both sides are simulated concurrently, and more than 4 have no use. The result does not
	// depend on it. Zero means GOMAXPROCS of the runtime, and 4 at most; 1 is the goroutine of the
	// caller. A simulation of one side ignores it.
	Parallel int
}

// Validate returns the faults of the options; nil options have none.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	var errs []error
	if o.MaxRounds < 0 {
		errs = append(errs, fmt.Errorf("Options.MaxRounds is %d; use 0 for the default, or a positive number", o.MaxRounds))
	}
	if o.Parallel < 0 {
		errs = append(errs, fmt.Errorf("Options.Parallel is %d; use 0 for the default, or a positive number", o.Parallel))
	}
	return errors.Join(errs...)
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	return Options{MaxRounds: cmp.Or(out.MaxRounds, DefaultMaxRounds), Parallel: parallel.Width(out.Parallel)}
}

// Round is a proposal and its simulated execution.
type Round struct {
	// At is the instant of the proposal, and Actions are the actions that began.
	At      time.Time
	Actions []disruption.Action
	// Peak is the number of managed nodes including replacements.
	Peak int
	// Evicted is the number of moved pods, and Launched that of launched nodes.
	Evicted, Launched int
	// Bill is the bill after the round, and Pending the number of pods without a place.
	Bill    Bill
	Pending int
}

// Drift is a drifted node.
type Drift struct {
	Node, NodePool string
	// Reason and Detail are as in disruption.DriftStatus.
	Reason, Detail string
	// At is when the node is removed, for whatever reason; zero if it is not within the horizon.
	// Held says why in one line then.
	At   time.Time
	Held string
}

// Settled is the result of the simulation of one side: its bill at rest, and the rounds before.
type Settled struct {
	// Today is the present bill of the cluster.
	Today Bill
	// AtOnce is the cost of the managed nodes after the actions that may begin now, in USD per
	// hour, by disruption.Proposal.CostAfter.
	AtOnce float64
	// Bill is the bill at rest.
	Bill Bill
	// Input is the cluster at rest; its Pods have no place.
	Input disruption.Input
	// Rounds are the rounds in which an action began.
	Rounds []Round
	// Peak is the largest number of managed nodes.
	Peak int
	// Evicted and Launched are the sums over the rounds.
	Evicted, Launched int
	// Rested says that nothing begins or waits within the horizon any more, and Why why the
	// simulation ended.
	Rested bool
	Why    string
	// At is when the rest began: the instant of the last round, or the beginning of the simulation
	// if there was no round. If Rested is false, At is the end of the simulation.
	At time.Time
	// Drifts are the nodes that have drifted now, by name.
	Drifts []Drift
	// Unplaced are the pods of Input.Pods with the reasons of the last plan for them, by
	// namespace and name.
	Unplaced []provisioning.Unplaced
}

// Settle simulates a side until it rests: proposals are carried out one after the other, and pods
// that need a place are planned after each. Consolidations that wait for a PodDisruptionBudget are
// carried out in the same round. Between two rounds the longest consolidateAfter of the pools
// passes, at least a minute. If nothing can begin, the clock moves to the first awaited instant, if
// it is within the horizon. Nodes of pools that do not exist are removed first.
//
// The error is that of ctx, or lists the faults of the input.
func Settle(ctx context.Context, now time.Time, s Side, opts *Options) (*Settled, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	f, err := disruption.Observe(now, s.Input, s.Options)
	if err != nil {
		return nil, err
	}
	w := &way{s: s, in: s.Input, now: now, start: now, gone: map[string]time.Time{}, pause: longestPause(s), opts: opts.withDefaults(),
		out: &Settled{Today: billOf(f, s.Input)}}
	w.out.Peak = w.out.Today.Nodes
	if s.Options != nil {
		w.solver = s.Options.Provisioning
	}
	if err := w.dropPools(ctx); err != nil {
		return nil, err
	}
	last, err := w.follow(ctx)
	if err != nil {
		return nil, err
	}
	return w.finish(now, f, last)
}

// way is the state of a simulation.
type way struct {
	s      Side
	solver *provisioning.Options
	opts   Options
	in     disruption.Input
	now    time.Time
	start  time.Time
	pause  time.Duration
	// planned says that a plan for the pending pods was made.
	planned bool
	gone    map[string]time.Time // nodes
	out     *Settled
}

// dropPools removes the nodes of pools that do not exist.
func (w *way) dropPools(ctx context.Context) error {
	known := poolNames(w.in.NodePools)
	before := w.in
	after, err := remove(w.now, before, w.s.Options, func(n provisioning.Node) bool {
		pool := poolOf(n)
		return pool != "" && !slices.Contains(known, pool)
	})
	if err != nil || len(after.Nodes) == len(before.Nodes) {
		return err
	}
	return w.step(ctx, nil, after)
}

// follow makes proposals until nothing is left to do, and returns the last one.
func (w *way) follow(ctx context.Context) (*disruption.Proposal, error) {
	end := w.now.Add(Horizon)
	var p *disruption.Proposal
	for round := range w.opts.MaxRounds {
		var err error
		if p, _, err = disruption.Propose(progress.With(ctx, nil), w.now, w.in, w.s.Options); err != nil {
			return nil, err
		}
		if round == 0 {
			w.out.AtOnce = p.CostAfter
		}
		w.in.CatalogCache = p.CatalogCache
		w.report(ctx, round+1)
		if len(p.Actions) == 0 && len(w.in.Pods) > 0 && !w.planned {
			// Pending pods need a plan in any case.
			if err := w.step(ctx, nil, w.in); err != nil {
				return nil, err
			}
			continue
		}
		if len(p.Actions) == 0 {
			next := nextTurn(p, w.now)
			switch {
			case !next.IsZero() && !next.After(end):
				w.now = next
				continue
			case len(p.Waiting) == 0:
				w.out.Rested, w.out.Why = true, "nothing is left to do"
			default:
				w.out.Why = fmt.Sprintf("%d wait for what does not come within %s: %s", len(p.Waiting), words.Span(Horizon), p.Waiting[0].For)
			}
			return p, nil
		}
		actions := slices.Concat(p.Actions, following(p))
		after, err := disruption.After(w.now, w.in, actions, w.s.Options)
		if err != nil {
			return nil, err
		}
		if err := w.step(ctx, actions, after); err != nil {
			return nil, err
		}
		w.now = w.now.Add(w.pause)
	}
	w.out.Why = fmt.Sprintf("stopped after %s: Options.MaxRounds", layout.Count(w.opts.MaxRounds, "proposal"))
	return p, nil
}

// report reports the progress.
func (w *way) report(ctx context.Context, round int) {
	if report := progress.From(ctx); report != nil {
		report(progress.Event{Work: "compare.Settle", Stage: "proposals", Done: round, Total: w.opts.MaxRounds, Unit: "proposals",
			Detail: fmt.Sprintf("%d nodes, %s from now", len(w.in.Nodes), words.Span(w.now.Sub(w.start)))})
	}
}

// following returns the consolidations that wait only for a PodDisruptionBudget: they were planned
// together with the actions that begin, and can begin as soon as the pods of these run again.
func following(p *disruption.Proposal) (actions []disruption.Action) {
	for _, x := range p.Waiting {
		if x.Reason == disruption.Underutilized && strings.HasPrefix(x.For, "PodDisruptionBudget ") {
			actions = append(actions, x.Action)
		}
	}
	return actions
}

// nextTurn returns the first instant for which an action waits, or a node that is not consolidated
// because of recent pod events; zero if there is none.
func nextTurn(p *disruption.Proposal, now time.Time) (next time.Time) {
	sooner := func(t time.Time) {
		if t.After(now) {
			next = order.Sooner(next, t)
		}
	}
	for _, x := range p.Waiting {
		sooner(x.Until)
	}
	for _, b := range p.Blocked {
		switch b.Code {
		case disruption.CodeConsolidateAfter, disruption.CodeNominated, disruption.CodeBudget:
			sooner(b.Until)
		}
	}
	return next
}

// step carries out a round: after is the input after the actions, in which pods that need a place
// are planned.
func (w *way) step(ctx context.Context, actions []disruption.Action, after disruption.Input) error {
	before := w.in
	r := Round{At: w.now, Actions: actions, Evicted: evicted(before, after, actions)}
	had, has := nodeNames(before), nodeNames(after)
	for name := range has {
		if !had[name] {
			r.Launched++
		}
	}
	for name := range had { // the order does not matter
		if !has[name] {
			w.gone[name] = w.now
		}
	}
	r.Peak = managed(before) + r.Launched
	for name := range before.Nominated { // the order does not matter
		if !slices.ContainsFunc(after.Pods, func(p *corev1.Pod) bool { return podName(p) == name.String() }) {
			after.Nominated = nil
		}
	}
	w.out.Unplaced = nil
	if len(after.Pods) > 0 {
		plan, err := provisioning.Solve(progress.With(ctx, nil), after.Input, w.solver)
		if err != nil {
			return err
		}
		after = disruption.AfterPlan(w.now, after, plan)
		r.Launched += len(plan.Create)
		w.out.Unplaced, w.planned = plan.Unplaced, true
	}
	r.Peak = max(r.Peak, managed(after))
	w.in = after
	f, err := disruption.Observe(w.now, after, w.s.Options)
	if err != nil {
		return err
	}
	r.Bill, r.Pending = billOf(f, after), len(after.Pods)
	w.out.Rounds = append(w.out.Rounds, r)
	w.out.Peak = max(w.out.Peak, r.Peak)
	w.out.Evicted, w.out.Launched = w.out.Evicted+r.Evicted, w.out.Launched+r.Launched
	return nil
}

// finish sums up.
func (w *way) finish(start time.Time, f *disruption.Cluster, last *disruption.Proposal) (*Settled, error) {
	now, err := disruption.Observe(w.now, w.in, w.s.Options)
	if err != nil {
		return nil, err
	}
	w.out.Bill, w.out.Input, w.out.At = billOf(now, w.in), w.in, start
	w.out.Input.CatalogCache = nil
	for _, r := range w.out.Rounds {
		w.out.At = r.At
	}
	for _, d := range f.Drifts() {
		if d.Reason == "" {
			continue
		}
		drift := Drift{Node: d.Node, NodePool: d.NodePool, Reason: d.Reason, Detail: d.Detail, At: w.gone[d.Node]}
		if drift.At.IsZero() {
			drift.Held = held(last, d.Node)
		}
		w.out.Drifts = append(w.out.Drifts, drift)
	}
	return w.out, nil
}

// held returns why a drifted node is not replaced.
func held(p *disruption.Proposal, node string) string {
	if p == nil {
		return "no proposal was made"
	}
	for _, w := range p.Waiting {
		for _, t := range w.Targets {
			if t.Node == node {
				return "it waits for " + w.For + ": " + w.Why
			}
		}
	}
	for _, method := range []disruption.Method{disruption.MethodDrift, ""} {
		for _, b := range p.Blocked {
			if b.Node == node && (method == "" || b.Method == method) {
				return b.Detail
			}
		}
	}
	return "its turn did not come"
}

// longestPause returns the longest consolidateAfter of the pools, at least a minute.
func longestPause(s Side) time.Duration {
	longest := time.Minute
	for _, p := range s.Input.NodePools {
		if p == nil || p.Spec.Replicas != nil {
			continue
		}
		if d := p.Spec.Disruption.ConsolidateAfter.Duration; d != nil {
			longest = max(longest, *d)
		}
	}
	return longest
}

func nodeNames(in disruption.Input) map[string]bool {
	out := make(map[string]bool, len(in.Nodes))
	for _, n := range in.Nodes {
		out[n.Name()] = true
	}
	return out
}

func managed(in disruption.Input) (count int) {
	for _, n := range in.Nodes {
		if n.NodeClaim != nil {
			count++
		}
	}
	return count
}

// evicted counts the pods of nodes that are gone or rebooted, which have to restart.
func evicted(before, after disruption.Input, actions []disruption.Action) (count int) {
	stays := nodeNames(after)
	for _, a := range actions {
		if a.Operation == disruption.Reboot {
			for _, t := range a.Targets {
				stays[t.Node] = false
			}
		}
	}
	for _, n := range before.Nodes {
		if !stays[n.Name()] {
			for _, p := range n.Pods {
				if podlife.Moves(p) {
					count++
				}
			}
		}
	}
	return count
}
