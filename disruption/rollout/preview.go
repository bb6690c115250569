package rollout

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// Pace returns how many more nodes of a pool may begin to be replaced at an instant, while
// disrupting nodes are being replaced already, and until when the answer is valid if nothing else
// changes; zero means forever. It is called again at that time, and whenever a replacement is done.
// BudgetPace makes one from budgets.
type Pace func(nodePool string, at time.Time, disrupting int) (more int, until time.Time)

// BudgetPace returns the pace that the budgets of each pool allow for a reason. counts has the
// counts of each pool; the nodes that the preview replaces are added to Disrupting. A pool without
// budgets is not bounded.
func BudgetPace(pools map[string]*budgets.Compiled, counts map[string]budgets.Counts, reason budgets.Reason) Pace {
	return func(pool string, at time.Time, disrupting int) (int, time.Time) {
		c := pools[pool]
		if c == nil {
			return math.MaxInt, time.Time{}
		}
		n := counts[pool]
		n.Disrupting = max(n.Disrupting, 0) + disrupting
		a := c.Allow(at, n, reason)
		return a.Nodes, a.Until
	}
}

// PreviewOptions set the speed of a rollout.
type PreviewOptions struct {
	// Waves divide the nodes.
	Waves Options
	// Pace bounds how many nodes of a pool are replaced at a time; nil means no bound.
	Pace Pace
	// Replacement is how long a node takes from the beginning of its
	// replacement until it is done: the launch of the new one and the drain of
	// the old one.
	Replacement time.Duration
	// Horizon is how far the preview looks ahead. Nodes that cannot begin within it have no time.
	// Default 366 days.
	Horizon time.Duration
}

// Bounds of a preview.
const (
	defaultHorizon = 366 * 24 * time.Hour
	// maxQuestions bounds how often the Pace of one pool is called, in addition to three times for
	// each node: if each answer is valid for a minute, that is half a year.
	maxQuestions = 300_000
)

// Move is the replacement of one node.
type Move struct {
	// Node, NodePool and Reason are those of the node.
	Node, NodePool, Reason string
	// Wave is the number of its wave.
	Wave int
	// Start is when it begins at the earliest, End when it is done. Both are
	// zero if it does not begin within the horizon.
	Start, End time.Time
}

// Rollout is the result of Preview.
type Rollout struct {
	// Waves are the waves, by pool and number.
	Waves []Wave
	// Moves are the replacements, sorted by Start (those without last), NodePool, Wave, and the
	// order within the wave.
	Moves []Move
	// Finish is when the last replacement is done; zero if Complete is false or there is none.
	Finish time.Time
	// Complete says that all Moves have a time.
	Complete bool
}

// Preview returns when each node is replaced and when all are done, if the rollout begins now and
// no replacement fails. Pools are independent of each other, each at its own pace. A wave begins
// when the previous one is done and the soak time is over. Times are the earliest possible: a drain
// may wait for pods that cannot be evicted.
//
// The error joins all faults of nodes and options.
func Preview(now time.Time, nodes []Node, opts *PreviewOptions) (Rollout, error) {
	if opts == nil {
		opts = &PreviewOptions{}
	}
	var errs []error
	if opts.Replacement < 0 {
		errs = append(errs, fmt.Errorf("options.replacement: %s must not be negative", opts.Replacement))
	}
	if opts.Horizon < 0 {
		errs = append(errs, fmt.Errorf("options.horizon: %s must not be negative; zero is 366 days", opts.Horizon))
	}
	waves, err := Waves(nodes, &opts.Waves)
	if err := errors.Join(append(errs, err)...); err != nil {
		return Rollout{}, err
	}
	reasons := make(map[string]string, len(nodes))
	for _, n := range nodes {
		reasons[n.Name] = n.Reason
	}
	p := &player{opts: opts, horizon: now.Add(cmp.Or(opts.Horizon, defaultHorizon))}
	out := Rollout{Waves: waves, Complete: true}
	for i, w := range waves {
		if i == 0 || waves[i-1].NodePool != w.NodePool {
			p.at, p.steps = now, 3*len(nodes)+maxQuestions
		}
		for _, m := range p.play(w) {
			m.Reason = reasons[m.Node]
			out.Moves = append(out.Moves, m)
			out.Complete = out.Complete && !m.Start.IsZero()
			if m.End.After(out.Finish) {
				out.Finish = m.End
			}
		}
	}
	if !out.Complete {
		out.Finish = time.Time{}
	}
	slices.SortStableFunc(out.Moves, func(a, b Move) int {
		return cmp.Or(order.Instants(a.Start, b.Start), cmp.Compare(a.NodePool, b.NodePool), cmp.Compare(a.Wave, b.Wave))
	})
	return out, nil
}

// player simulates the waves of a pool.
type player struct {
	opts    *PreviewOptions
	horizon time.Time
	at      time.Time // the simulated time of the pool; zero if it makes no more progress
	steps   int
}

// play returns the moves of a wave with their times.
func (p *player) play(w Wave) []Move {
	moves := make([]Move, len(w.Nodes))
	for i, name := range w.Nodes {
		moves[i] = Move{Node: name, NodePool: w.NodePool, Wave: w.Number}
	}
	next, done := 0, 0 // of moves: to begin, and over
	for ; !p.at.IsZero() && !p.at.After(p.horizon) && p.steps > 0; p.steps-- {
		// All take equally long, so they end in the order of their beginnings.
		for done < next && !moves[done].End.After(p.at) {
			done++
		}
		if done == len(moves) {
			p.at = p.at.Add(p.opts.Waves.Soak)
			return moves
		}
		more, until := 0, time.Time{}
		if next < len(moves) {
			more, until = p.ask(w.NodePool, next-done)
		}
		began := 0
		for ; began < more && next < len(moves); began++ {
			moves[next].Start, moves[next].End = p.at, p.at.Add(p.opts.Replacement)
			next++
		}
		if began > 0 && p.opts.Replacement == 0 {
			continue // a replacement without duration frees its place at once
		}
		if done < next && (until.IsZero() || next == len(moves) || moves[done].End.Before(until)) {
			until = moves[done].End
		}
		if !until.After(p.at) {
			until = time.Time{} // the answer will never change
		}
		p.at = until
	}
	p.at = time.Time{}
	return moves
}

// ask returns the answer of the pace, within the bounds of the preview.
func (p *player) ask(pool string, disrupting int) (int, time.Time) {
	if p.opts.Pace == nil {
		return math.MaxInt, time.Time{}
	}
	more, until := p.opts.Pace(pool, p.at, disrupting)
	if !until.After(p.at) {
		until = time.Time{}
	}
	return more, until
}
