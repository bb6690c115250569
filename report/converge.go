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

// round is a proposal and its effects.
type round struct {
	now      time.Time
	proposal *disruption.Proposal
	input    disruption.Input // that the proposal was made for
	after    disruption.Input
	pending  int // pods that were placed by provisioning afterwards
	launched int // nodes that it launched for them
}

// maxRounds limits the number of rounds. A cluster comes to rest long before.
const maxRounds = 500

// Follow adds two things to the proposal: the cluster after the actions that may begin now, and the
// plan for the pods that are then pending. Everything is computed; nothing is launched or evicted.
// The error is that of ctx, of disruption.After or of provisioning.Solve.
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

// Converge simulates proposals one after the other until no action may begin, and adds each round
// and the final cluster. The nodes left alone are then those of the last proposal. Converge
// replaces Follow and takes as long as all the proposals together. Its errors are those of Follow
// and of disruption.Propose.
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

// converge simulates proposals, beginning with p, until one has no action that may begin. It
// returns all rounds, the last of which has no actions, the final cluster, and why the simulation
// stopped.
//
// Between two rounds the longest consolidateAfter passes, so that nodes which have received pods
// may be consolidated again.
func converge(ctx context.Context, now time.Time, in disruption.Input, p *disruption.Proposal, opts *disruption.Options) ([]round, disruption.Input, string, error) {
	var rounds []round
	pause := longestPause(in.NodePools)
	for i := range maxRounds {
		progress.Report(ctx, progress.Event{Work: "consolidate", Stage: "carrying proposals out", Done: i, Total: maxRounds, Unit: "rounds",
			Detail: fmt.Sprintf("%d nodes", len(in.Nodes))})
		var err error
		if i > 0 {
			if p, _, err = disruption.Propose(progress.With(ctx, nil), now, in, opts); err != nil {
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

// quiet says why no action begins.
func quiet(p *disruption.Proposal) string {
	if n := len(p.Waiting); n > 0 {
		return fmt.Sprintf("nothing can begin, and %s", layout.Phrase(n, "action waits", "actions wait"))
	}
	return "nothing is left to do"
}

// provision finds places for the pods of nodes that were removed without planning for their pods,
// such as expired nodes.
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

// pendingNeed returns what is launched for pods that are pending before any action, nil if there
// are none. These launches are needed in any case and are not a cost of the proposal.
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

// followUp returns what provisioning launches for pods of nodes that are removed without a
// replacement, nil if there are none. after is the input once the actions are carried out; planned
// is the input once all pods have a place. Launches for pods that were pending before are left out.
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

// searched adds up the work of all rounds.
func searched(rounds []round) (sum searchCounts) {
	for _, r := range rounds {
		n := countsOf(r.proposal)
		sum.Candidates, sum.Steps = sum.Candidates+n.Candidates, sum.Steps+n.Steps
		sum.WhatIfs, sum.Simulations = sum.WhatIfs+n.WhatIfs, sum.Simulations+n.Simulations
	}
	return sum
}

// longestPause returns the longest consolidateAfter of the pools, at least one minute.
func longestPause(pools []*v1.NodePool) time.Duration {
	longest := time.Minute
	for _, p := range pools {
		if d := p.Spec.Disruption.ConsolidateAfter.Duration; d != nil && p.Spec.Replicas == nil {
			longest = max(longest, *d)
		}
	}
	return longest
}
