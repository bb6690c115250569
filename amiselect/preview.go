package amiselect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Node is a node that a change of terms may replace.
type Node struct {
	// Name is the name, unique among the nodes. Required.
	Name string
	// NodePool is the pool, whose budgets hold.
	NodePool string
	// ImageID is the image that it booted. A node for which it is empty is not
	// judged.
	ImageID string
	// InstanceType is its type. Without it neither the image that replaces its
	// own is known, nor whether its own is meant for the type.
	InstanceType *cloudprovider.InstanceType
	// Created is when it was created: of nodes that drift at the same time the
	// oldest go first.
	Created time.Time
}

// Pace says how many more nodes of a pool may begin to be replaced at a time,
// with so many on their way out already, and until when the answer holds if
// nothing else changes; zero is for ever. It is asked again at that time, and
// whenever a replacement is done. Allowance of package budgets has both numbers.
type Pace func(nodePool string, at time.Time, disrupting int) (more int, until time.Time)

// PreviewOptions say how fast a rollout goes. The zero value, and nil, replace
// all nodes at once in no time.
type PreviewOptions struct {
	// Pace bounds how many nodes go at a time; nil does not.
	Pace Pace
	// Replacement is how long a node takes from the beginning of its
	// replacement until it no longer counts as disrupted: the launch of the
	// new one and the drain of the old one.
	Replacement time.Duration
	// Horizon is how far to look ahead. Nodes that cannot begin within it are
	// left without a time. Default 366 days.
	Horizon time.Duration
}

// defaultHorizon covers budgets that open once a year.
const defaultHorizon = 366 * 24 * time.Hour

// maxPaceSteps bounds the questions for one pool, beyond three for each node: a
// Pace whose answers hold for a minute is still followed for half a year.
const maxPaceSteps = 300_000

// Move is the replacement of a node.
type Move struct {
	// Node and NodePool are the names.
	Node, NodePool string
	// Reason says why the node has drifted.
	Reason Reason
	// To is the image that a new node of the same type boots. Its ID is empty
	// if the type is not known, or nothing selected boots it: then a new node
	// must be of another type.
	To Image
	// Already says that the node had drifted under the old terms too, from the
	// image of this or of another one.
	Already bool
	// Start is when the replacement begins at the earliest, and End when it is
	// done. Both are zero if it does not begin within the horizon.
	Start, End time.Time
}

// Rollout is what a change of terms does to nodes.
type Rollout struct {
	// Moves are the nodes to replace, in the order in which they go: by Start,
	// those without one last, then by NodePool, then those that had drifted
	// Already, then the oldest node, then by name.
	Moves []Move
	// Settled are the names of nodes that had drifted under the old terms and
	// no longer do, sorted.
	Settled []string
	// Kept are the names of nodes that drift neither under the old nor the new
	// terms, sorted.
	Kept []string
	// Unjudged are the names of nodes whose image is not known, sorted.
	Unjudged []string
	// Finish is when the last replacement is done, or zero if Complete is false
	// or there is none.
	Finish time.Time
	// Complete says that all Moves have a time.
	Complete bool
}

// Preview says what happens if terms that give the selection next take the place
// of those that give old: which nodes drift, to which image, in which order, and
// by when all are replaced if now is when the change is made. old may be the
// empty Selection; then no node had drifted before.
//
// Pools go side by side, each at its own pace. Within a pool nodes that had
// drifted already go first, then the oldest. Times are the earliest possible:
// replacing may wait for pods that do not let themselves be evicted.
//
// The error joins all faults: an empty next, a node without name or named
// twice, negative durations.
func Preview(now time.Time, old, next Selection, nodes []Node, opts *PreviewOptions) (Rollout, error) {
	if opts == nil {
		opts = &PreviewOptions{}
	}
	if err := checkPreview(next, nodes, opts); err != nil {
		return Rollout{}, err
	}
	p := &previewer{now: now, pace: opts.Pace, takes: opts.Replacement, horizon: now.Add(cmp.Or(opts.Horizon, defaultHorizon))}
	var out Rollout
	queues := map[string][]*queued{}
	var pools []string
	for _, n := range nodes {
		reason, drifted := next.DriftedOn(n.ImageID, n.InstanceType)
		_, before := old.DriftedOn(n.ImageID, n.InstanceType)
		switch {
		case reason.Code == CodeNotJudged:
			out.Unjudged = append(out.Unjudged, n.Name)
			continue
		case !drifted && before:
			out.Settled = append(out.Settled, n.Name)
			continue
		case !drifted:
			out.Kept = append(out.Kept, n.Name)
			continue
		}
		to, _ := next.For(n.InstanceType)
		if _, seen := queues[n.NodePool]; !seen {
			pools = append(pools, n.NodePool)
		}
		queues[n.NodePool] = append(queues[n.NodePool], &queued{n.Created,
			Move{Node: n.Name, NodePool: n.NodePool, Reason: reason, To: to, Already: before}})
	}
	var all []*queued
	for _, pool := range pools {
		q := queues[pool]
		slices.SortFunc(q, compareQueued)
		p.schedule(pool, q)
		all = append(all, q...)
	}
	out.assemble(all)
	return out, nil
}

func checkPreview(next Selection, nodes []Node, opts *PreviewOptions) error {
	var errs []error
	if next.Empty() {
		errs = append(errs, errors.New("preview: the new selection is empty; an empty selection replaces nothing"))
	}
	if opts.Replacement < 0 {
		errs = append(errs, fmt.Errorf("options.replacement: %s must not be negative", opts.Replacement))
	}
	if opts.Horizon < 0 {
		errs = append(errs, fmt.Errorf("options.horizon: %s must not be negative; zero is 366 days", opts.Horizon))
	}
	seen := map[string]bool{}
	for i, n := range nodes {
		switch {
		case n.Name == "":
			errs = append(errs, fmt.Errorf("nodes[%d]: has no name", i))
		case seen[n.Name]:
			errs = append(errs, fmt.Errorf("nodes[%d]: %q is listed twice; remove one", i, shorten(n.Name)))
		}
		seen[n.Name] = true
	}
	return errors.Join(errs...)
}

// queued is a move and what orders it.
type queued struct {
	created time.Time
	move    Move
}

func compareQueued(a, b *queued) int {
	if a.move.Already != b.move.Already {
		if a.move.Already {
			return -1
		}
		return 1
	}
	return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.move.Node, b.move.Node))
}

// previewer plays a rollout through.
type previewer struct {
	now, horizon time.Time
	pace         Pace
	takes        time.Duration
}

// schedule gives times to the nodes of a pool, in order.
func (p *previewer) schedule(pool string, q []*queued) {
	at := p.now
	next, done := 0, 0 // of q: to begin, and over
	for steps := 3*len(q) + maxPaceSteps; next < len(q) && steps > 0 && !at.After(p.horizon); steps-- {
		// All replacements take equally long, so they end in the order in which
		// they began.
		for done < next && !q[done].move.End.After(at) {
			done++
		}
		more, until := len(q), time.Time{}
		if p.pace != nil {
			if more, until = p.pace(pool, at, next-done); !until.After(at) {
				until = time.Time{}
			}
		}
		began := 0
		for ; began < more && next < len(q); began++ {
			q[next].move.Start, q[next].move.End = at, at.Add(p.takes)
			next++
		}
		switch {
		case done < next && p.takes > 0:
			until = earlier(until, q[done].move.End)
		case began > 0:
			continue // over at once, so there is room again at once
		}
		if !until.After(at) {
			return // nothing will ever change
		}
		at = until
	}
}

// earlier is the earlier of two instants, of which the first may be zero for
// never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// assemble orders what was found.
func (r *Rollout) assemble(all []*queued) {
	slices.SortFunc(all, func(a, b *queued) int {
		if x, y := a.move.Start.IsZero(), b.move.Start.IsZero(); x != y {
			if x {
				return 1
			}
			return -1
		}
		return cmp.Or(a.move.Start.Compare(b.move.Start), cmp.Compare(a.move.NodePool, b.move.NodePool), compareQueued(a, b))
	})
	r.Complete = true
	for _, q := range all {
		r.Moves = append(r.Moves, q.move)
		if q.move.Start.IsZero() {
			r.Complete = false
		}
		if q.move.End.After(r.Finish) {
			r.Finish = q.move.End
		}
	}
	if !r.Complete {
		r.Finish = time.Time{}
	}
	slices.Sort(r.Settled)
	slices.Sort(r.Kept)
	slices.Sort(r.Unjudged)
}
