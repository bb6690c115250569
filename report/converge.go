package report

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// round is a proposal and what came of it.
type round struct {
	now      time.Time
	proposal *disruption.Proposal
	input    disruption.Input // that the proposal answers
	after    disruption.Input
	pending  int // pods that were placed by provisioning afterwards
	launched int // nodes that it launched for them
}

// maxRounds bounds the rounds. A fleet comes to rest long before.
const maxRounds = 500

// Follow adds the cluster after the actions that may begin now, and the plan that comes next.
// Nothing is launched or evicted: it is all done on paper. The error is that of ctx, of
// disruption.After or of provisioning.Solve.
func (r *Proposal) Follow(ctx context.Context) (err error) {
	p, in, opts := r.proposal, r.in, r.opts
	if r.Provisioned, err = pendingNeed(ctx, r.Now, in, opts); err != nil {
		return err
	}
	after, err := disruption.After(r.Now, in, p.Actions, opts)
	if err != nil {
		return err
	}
	planned, _, err := provision(ctx, r.Now, after, opts)
	if err != nil {
		return err
	}
	r.After, r.FollowUp = stateOf(planned, r.outside), followUp(in, after, planned, r.Provisioned)
	return nil
}

// Converge carries proposals out on paper, one after the other, until none begins anything, and
// adds each round and the cluster afterwards. What is left alone is then by the last proposal.
// It replaces Follow, takes as long as all proposals together, and its errors are those of
// Follow and of disruption.Propose.
func (r *Proposal) Converge(ctx context.Context) (err error) {
	if r.Provisioned, err = pendingNeed(ctx, r.Now, r.in, r.opts); err != nil {
		return err
	}
	rounds, after, stopped, err := converge(ctx, r.Now, r.in, r.proposal, r.opts)
	if err != nil {
		return err
	}
	last := rounds[len(rounds)-1].proposal
	r.proposal = last
	r.Rounds, r.Stopped, r.After = r.roundsOf(rounds), stopped, stateOf(after, r.outside)
	r.Converged = len(last.Actions) == 0 && len(last.Waiting) == 0
	r.Search = searched(rounds)
	r.leave(last)
	return nil
}

// converge carries proposals out on paper, beginning with p, until one proposes nothing. It
// returns all rounds, the last of which is the quiet one, the cluster as it is
// then, and why it stopped.
//
// Between two rounds the longest consolidateAfter passes, so that the nodes
// which pods have come to may be looked at again.
func converge(ctx context.Context, now time.Time, in disruption.Input, p *disruption.Proposal, opts *disruption.Options) ([]round, disruption.Input, string, error) {
	var rounds []round
	pause := longestPause(in.NodePools)
	for i := range maxRounds {
		progress.Report(ctx, progress.Event{Work: "consolidate", Stage: "carrying proposals out", Done: i, Total: maxRounds, Unit: "rounds",
			Detail: fmt.Sprintf("%d nodes", len(in.Nodes))})
		var err error
		if i > 0 {
			if p, err = disruption.Propose(progress.With(ctx, nil), now, in, opts); err != nil {
				return nil, in, "", err
			}
		}
		r := round{now: now, proposal: p, input: in}
		if len(p.Actions) == 0 {
			rounds = append(rounds, r)
			return rounds, in, quiet(p), nil
		}
		if in, err = disruption.After(now, in, p.Actions, opts); err != nil {
			return nil, in, "", err
		}
		nodes := len(in.Nodes)
		if in, r.pending, err = provision(progress.With(ctx, nil), now, in, opts); err != nil {
			return nil, in, "", err
		}
		r.launched = len(in.Nodes) - nodes
		r.after = in
		rounds = append(rounds, r)
		now = now.Add(pause)
	}
	return rounds, in, fmt.Sprintf("stopped after %d rounds", maxRounds), nil
}

// quiet says why nothing begins.
func quiet(p *disruption.Proposal) string {
	if n := len(p.Waiting); n > 0 {
		return fmt.Sprintf("nothing can begin, and %s", layout.Phrase(n, "action waits", "actions wait"))
	}
	return "nothing is left to do"
}

// provision finds places for pods of nodes that were ended without looking for
// any, such as those that have expired.
func provision(ctx context.Context, now time.Time, in disruption.Input, opts *disruption.Options) (disruption.Input, int, error) {
	if len(in.Pods) == 0 {
		return in, 0, nil
	}
	before := len(in.Pods)
	plan, err := provisioning.Solve(ctx, in.Input, opts.Provisioning)
	if err != nil {
		return in, 0, err
	}
	in = disruption.AfterPlan(now, in, plan)
	return in, before - len(in.Pods), nil
}

// pendingNeed is what pods that are pending before anything is done need, nil if
// there are none. A plan for them is due in any case, and no fault of what is
// proposed.
func pendingNeed(ctx context.Context, now time.Time, in disruption.Input, opts *disruption.Options) (*provisioned, error) {
	if len(in.Pods) == 0 {
		return nil, nil
	}
	after, _, err := provision(ctx, now, in, opts)
	if err != nil {
		return nil, err
	}
	was, is := stateOf(in, nil).Total, stateOf(after, nil).Total
	return &provisioned{Pods: len(in.Pods), Nodes: is.Nodes - was.Nodes, USDPerHour: layout.Rounded(is.USDPerHour - was.USDPerHour)}, nil
}

// followUp is what provisioning launches for pods of nodes that go without a
// replacement, nil if there are none. after is the input once the actions are
// carried out, and planned once all pods have found a place; what pods need that
// were pending before is left out.
func followUp(in, after, planned disruption.Input, due *provisioned) *provisioned {
	unplaced := len(after.Pods)
	for _, p := range in.Pods {
		if slices.Contains(after.Pods, p) {
			unplaced--
		}
	}
	if unplaced == 0 {
		return nil
	}
	was, is := stateOf(after, nil).Total, stateOf(planned, nil).Total
	out := provisioned{Pods: unplaced, Nodes: is.Nodes - was.Nodes, USDPerHour: is.USDPerHour - was.USDPerHour}
	if due != nil { // both may share nodes
		out.Nodes, out.USDPerHour = max(0, out.Nodes-due.Nodes), max(0, out.USDPerHour-due.USDPerHour)
	}
	out.USDPerHour = layout.Rounded(out.USDPerHour)
	return &out
}

// searched sums up the work of all rounds.
func searched(rounds []round) (sum searchCounts) {
	for _, r := range rounds {
		n := countsOf(r.proposal)
		sum.Candidates, sum.Steps = sum.Candidates+n.Candidates, sum.Steps+n.Steps
		sum.WhatIfs, sum.Simulations = sum.WhatIfs+n.WhatIfs, sum.Simulations+n.Simulations
	}
	return sum
}

// longestPause is the longest consolidateAfter of the pools, and at least a
// minute.
func longestPause(pools []*v1.NodePool) time.Duration {
	longest := time.Minute
	for _, p := range pools {
		if d := p.Spec.Disruption.ConsolidateAfter.Duration; d != nil && p.Spec.Replicas == nil {
			longest = max(longest, *d)
		}
	}
	return longest
}
