package simulation

import (
	"context"
	"maps"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// replacements finds places for the pods of actions that launch nodes first, such that each action
// is valid after those before it are done.
type replacements struct {
	w      *Simulation // with pods pinned to their domains
	found  map[*state.StateNode]*CandidateSet
	most   int                       // the most nodes of one set
	shared map[*state.StateNode]bool // nodes that shared new nodes with others in a joint simulation
}

// Replace finds replacements for nodes that have to be replaced:
//
//  1. It closes the nodes, and simulates them together, with pods pinned to their domains.
//  2. Nodes that would share new nodes form one CandidateSet if they are at most most nodes.
//  3. It accepts the valid sets in the order given.
//  4. It simulates each other node again alone, in the cluster that has the accepted sets. Its pods
//     may change their domains then.
//
// A node whose pods have no place stays, and is opened again, unless pending pods need new nodes: they
// would take its room. Its room may spare a new node, so the other nodes are simulated again. A node that
// waits for another node remains closed: see Open.
//
// The error is that of ctx.
func (w *Simulation) Replace(ctx context.Context, wanted []*state.StateNode, most int) (map[*state.StateNode]*CandidateSet, error) {
	found := map[*state.StateNode]*CandidateSet{}
	for round := 0; ; round++ {
		for _, m := range wanted {
			w.Close(m.Name)
		}
		before := w.snapshot()
		r := &replacements{w: w, most: most, found: map[*state.StateNode]*CandidateSet{}, shared: map[*state.StateNode]bool{}}
		if err := r.find(ctx, wanted); err != nil {
			return nil, err
		}
		maps.Copy(found, r.found)
		if w.Refused != nil {
			return found, nil
		}
		stays := func(m *state.StateNode) bool {
			return r.found[m] == nil || r.found[m].Outcome.Bad() && !r.found[m].tied
		}
		launches := func(m *state.StateNode) bool { return !r.found[m].Outcome.Bad() && len(r.found[m].Nodes) > 0 }
		others := slices.DeleteFunc(slices.Clone(wanted), stays)
		again := len(others) < len(wanted) && round < mostAgain && slices.ContainsFunc(others, launches)
		if again {
			w.rewind(before)
		}
		for _, m := range wanted {
			if stays(m) && !w.launchesForPending() {
				w.Open(m.Name)
			}
		}
		if !again {
			return found, nil
		}
		wanted = others
	}
}

// launchesForPending reports whether pending pods need new nodes while the nodes that may be about to go
// are closed.
func (w *Simulation) launchesForPending() bool { return w.Settled != nil && len(w.Settled.Create) > 0 }

// mostAgain is the largest number of times that Replace starts again because some nodes stay.
const mostAgain = 4

// snapshot is an earlier state of a simulation.
type snapshot struct {
	sim  Simulation
	mark int // of the BindOrder
}

// snapshot returns the current state.
func (w *Simulation) snapshot() snapshot {
	s := snapshot{sim: *w, mark: w.BindOrder.Mark()}
	s.sim.In.Nodes = slices.Clone(w.In.Nodes)
	s.sim.Displaced, s.sim.Promised, s.sim.Leaving = maps.Clone(w.Displaced), maps.Clone(w.Promised), maps.Clone(w.Leaving)
	return s
}

// rewind restores an earlier state, except for the statistics of the work done.
func (w *Simulation) rewind(to snapshot) {
	w.Forget()
	w.BindOrder.Rewind(to.mark)
	to.sim.Stats, to.sim.Problem = w.Stats, w.Problem
	*w = to.sim
}

// find finds replacements for some nodes.
func (r *replacements) find(ctx context.Context, wanted []*state.StateNode) error {
	sets, err := r.w.Try(ctx, wanted, nil)
	if err != nil {
		return err
	}
	for _, cs := range sets {
		joint := len(cs.Targets) == 1 || len(cs.Targets) <= r.most && !cs.Outcome.Bad()
		for _, m := range cs.Targets {
			if joint {
				r.found[m] = cs
			} else {
				r.shared[m] = true
			}
		}
	}
	more := AskedAlone(len(r.w.Cluster.Nodes))
	for _, m := range r.left(wanted) {
		if r.w.Refused != nil {
			break
		}
		if !r.shared[m] {
			if more--; more < 0 {
				continue
			}
		}
		cs, err := r.w.Alone(ctx, m)
		if err != nil || cs == nil {
			return err
		}
		r.found[m] = cs
		r.takes(cs)
	}
	return nil
}

// left accepts the sets found for some nodes that are valid in the order given, and returns the
// other nodes.
func (r *replacements) left(wanted []*state.StateNode) (out []*state.StateNode) {
	asked := map[*CandidateSet]bool{}
	for _, m := range wanted {
		cs := r.found[m]
		switch {
		case cs == nil || cs.Outcome.Bad():
			out = append(out, m)
		case asked[cs]:
		default:
			asked[cs] = true
			if r.takes(cs) {
				continue
			}
			out = append(out, m)
			if len(cs.Targets) > 1 { // each is simulated alone
				for _, other := range cs.Targets {
					delete(r.found, other)
					r.shared[other] = true
				}
			}
		}
	}
	return out
}

// AskedAlone returns how many nodes without a place for their pods, or that depend on others, are
// simulated one by one in a cluster with the given number of nodes. Each what-if reads all nodes.
func AskedAlone(nodes int) int { return max(4, 20_000/max(1, nodes)) }

// takes accepts a set if it is valid together with those before it.
func (r *replacements) takes(cs *CandidateSet) bool {
	if cs.Outcome.Bad() {
		return false
	}
	if full := NewLimitsMeter(r.w).Takes(cs); full != nil {
		cs.Limited(full)
		cs.tied = true // to nodes that stay
		return false
	}
	if ok, tie := r.w.BindOrder.Takes(cs); !ok {
		cs.TurnDown(r.w.BindOrder, tie)
		return false
	}
	cs.After = r.w.BindOrder.After()
	r.w.CarryOut(cs)
	return true
}

// unpinned returns a copy of the simulation in which no pods are pinned.
func (w *Simulation) unpinned() *Simulation {
	out := *w
	out.pins = nil
	return &out
}

// Alone simulates one node with its pods free to go wherever kube-scheduler admits them, whatever
// the pins of other pods. The result is valid for one action carried out alone, after the earlier
// decisions.
func (w *Simulation) Alone(ctx context.Context, m *state.StateNode) (*CandidateSet, error) {
	sets, err := w.ask(ctx, []*state.StateNode{m}, nil, true)
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	sets[0].alone = true
	return sets[0], nil
}

// Limited rejects a set because the limits of a pool leave no room while other nodes stay.
func (cs *CandidateSet) Limited(pool *v1.NodePool) {
	cs.Outcome = rule.Forbid(rule.NotSearched, "the limits of %s leave no room for what would be launched, unless others go first; ask again after them", state.PoolObject(pool.Name))
}

// TurnDown rejects a set because a constraint ties its pods to those of others, or because it would
// not be valid alone.
func (cs *CandidateSet) TurnDown(l *BindOrder, tie string) {
	cs.tied = true
	switch {
	case len(l.done) > 0:
		cs.Outcome = rule.Forbid(rule.NotSearched, "%s ties its pods to those of others in this proposal, which go first; ask again after them", tie)
	case l.Uncertain() > 0:
		cs.Outcome = rule.Forbid(rule.NotSearched, "%s ties its pods to some that are about to find a place; ask again once they have", tie)
	default:
		cs.Outcome = rule.Forbid(rule.Unplaced, "%s would not hold where there are places for its pods", tie)
	}
}
