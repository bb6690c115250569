package disruption

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Simulate finds out what actions have to launch that replace nodes of dynamic
// pools: those of Drift and Repair, and of Interruption for a recommendation. It
// returns all actions in the same order, these with Simulated, Replacements,
// Moves, Savings, DisruptionCost and a Detail that sums them up, and less those
// whose pods would find no place, which are Blocked by RuleUnplaced. Capacity for pods that nothing can
// evict is launched as well, as they will need it when the drain is ended by
// force.
//
// All are thought of as done together, on a cluster where the other actions are
// under way. Each has replacements of its own, and none leans on another: whichever
// of them are carried out, and in whatever order, their pods may go where Moves say.
// So pods with a topology spread, affinity or anti-affinity over zones that must hold,
// and pods that such affinity selects, stay in their zones where they can. Where two
// cannot both stand, the one does that keeps its pods in their zones, or else the first
// in the order given, and the other is Blocked by RuleNotSearched: ask again once the
// first is done. Neither prices nor consolidation policies play a part, but
// Options.NoReplacements does not hold.
//
// Where the pods of a node would find no place, but would if the node gave its
// place in a reservation back, it is terminated first (StepCause
// NoReservedCapacity) if Options.TerminateFirstDrift or TerminateFirstRepair let
// that be. It is looked at by itself, and is not Simulated: where its pods go is
// for the next plan.
//
// The error is that of ctx, once that is done.
func (f *Fleet) Simulate(ctx context.Context, actions []Action) (Result, error) {
	return f.simulate(ctx, actions, nil)
}

// simulate is Simulate, where no pod goes to some nodes that are about to go.
func (f *Fleet) simulate(ctx context.Context, actions []Action, tied []Blocked) (Result, error) {
	var others, wanted []Action
	for _, a := range actions {
		if f.simulatable(a) {
			wanted = append(wanted, a)
		} else {
			others = append(others, a)
		}
	}
	if len(wanted) == 0 {
		return Result{Actions: actions}, ctx.Err()
	}
	w, err := newWorld(ctx, f.withReplacements().pinnedAt(wanted), others)
	if err != nil {
		return Result{}, err
	}
	found, verdicts, err := w.replace(ctx, wanted, tied)
	if err != nil {
		return Result{}, err
	}
	var r Result
	for _, a := range actions {
		t := Target{}
		if f.simulatable(a) {
			t = a.Targets[0]
		}
		if v := verdicts[t]; v.bad() {
			if v.rule != RuleNotSearched { // else it waits for others
				first, ok, err := f.terminateReserved(ctx, a)
				if err != nil {
					return Result{}, err
				}
				if ok {
					r.Actions = append(r.Actions, first)
					continue
				}
			}
			r.Blocked = append(r.Blocked, Blocked{Target: t, Method: methodOf(a.Reason), Rule: v.rule, Object: v.object, Detail: v.detail})
			continue
		}
		if pt := found[t]; pt != nil {
			a = pt.completes(a)
		}
		r.Actions = append(r.Actions, a)
	}
	slices.SortFunc(r.Blocked, Blocked.Compare)
	return r, nil
}

// replace finds what becomes of the pods of actions, and what speaks against each.
func (w *world) replace(ctx context.Context, wanted []Action, tied []Blocked) (map[Target]*part, map[Target]verdict, error) {
	found, verdicts := map[Target]*part{}, map[Target]verdict{}
	if w.refused == nil {
		r := replacements{w: w, found: found}
		for _, b := range tied {
			r.close(b.Node)
		}
		if err := r.find(ctx, wanted); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range wanted {
		t := a.Targets[0]
		switch pt := found[t]; {
		case pt == nil:
			verdicts[t] = forbid(RuleNotSimulated, "the engine refuses the input: %v", w.refusal())
		case pt.verdict.bad():
			verdicts[t] = pt.verdict
		}
	}
	return found, verdicts, nil
}

// completes adds to an action what was found for it.
func (pt *part) completes(a Action) Action {
	done := pt.action(a.Reason)
	a.Simulated, a.Replacements, a.Moves, a.Savings, a.DisruptionCost = true, done.Replacements, done.Moves, done.Savings, done.DisruptionCost
	if text := pt.destinations().String(); text != "" {
		a.Detail += "; " + text
	}
	return a
}

// withReplacements is the fleet with an engine that may launch nodes.
func (f *Fleet) withReplacements() *Fleet {
	if !f.opts.NoReplacements {
		return f
	}
	free := *f
	free.opts.NoReplacements = false
	return &free
}

func (w *world) refusal() string {
	if w.refused == nil {
		return "it has not such a node"
	}
	return firstLine(w.refused)
}

// simulatable reports whether an action of a rule replaces one node of a dynamic
// pool.
func (f *Fleet) simulatable(a Action) bool {
	if a.Step != Replace || a.Simulated || len(a.Targets) != 1 {
		return false
	}
	m := f.byName[a.Targets[0].Node]
	return m != nil && m.pool != nil && !m.pool.static() && !m.marked()
}

// takeApart gives each node of some parts replacements of its own: the pods that
// have a place on nodes that stay keep it, and the others are simulated node by
// node.
func (w *world) takeApart(ctx context.Context, shared []*part, found map[Target]*part) error {
	if len(shared) == 0 {
		return nil
	}
	kept := map[string][]Move{} // by node that goes
	alone := *w
	alone.in.Nodes = slices.Clone(w.in.Nodes)
	alone.displaced, alone.promised = map[string][]*corev1.Pod{}, map[string]string{}
	for i, n := range alone.in.Nodes {
		alone.in.Nodes[i] = closedNode(n)
	}
	var targets []*member
	for _, pt := range shared {
		placed := map[string]bool{}
		for _, move := range pt.moves {
			if move.Node != "" {
				kept[move.From] = append(kept[move.From], move)
				placed[podObject(move.Pod)] = true
				alone.bind(move.Node, move.Pod)
			}
		}
		for _, m := range pt.targets {
			targets = append(targets, m)
			has := func(p *corev1.Pod) bool { return p != nil && placed[podObject(p)] }
			entry := &alone.in.Nodes[alone.at[m.name]]
			entry.Pods = slices.DeleteFunc(slices.Clone(entry.Pods), has)
			alone.displaced[m.name] = slices.DeleteFunc(slices.Clone(w.displaced[m.name]), has)
		}
	}
	for _, m := range targets {
		if alone.refused != nil {
			break
		}
		parts, err := alone.try(ctx, []*member{m})
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			continue
		}
		pt := parts[0]
		if !pt.verdict.bad() {
			alone.reserve(m.name, pt.nodes)
		}
		pt.moves = append(pt.moves, kept[m.name]...)
		slices.SortFunc(pt.moves, func(a, b Move) int { return comparePods(a.Pod, b.Pod) })
		found[m.target()] = pt
	}
	w.stats, w.refused = alone.stats, alone.refused
	return nil
}

// paceSimulated says which actions begin, with what they have to launch. Where
// one is blocked others may begin in its stead.
func (f *Fleet) paceSimulated(ctx context.Context, actions []Action) (Pacing, []Blocked, error) {
	var blocked, tied []Blocked
	for round := 0; ; round++ {
		pacing := f.Pace(actions)
		r, err := f.simulate(ctx, pacing.Go, tied)
		if err != nil {
			return Pacing{}, nil, err
		}
		blocked = append(blocked, r.Blocked...)
		waits := waitingForOthers(r.Blocked)
		tied = append(tied, waits...)
		if len(r.Blocked) == 0 || round == mostRepaced || len(pacing.Wait) == 0 && len(waits) == len(r.Blocked) {
			pacing.Go = r.Actions
			return pacing, blocked, nil
		}
		failed := map[string]bool{}
		for _, b := range r.Blocked {
			failed[fmt.Sprint(b.Method, b.Target)] = true
		}
		actions = slices.DeleteFunc(slices.Clone(actions), func(a Action) bool {
			return len(a.Targets) == 1 && failed[fmt.Sprint(methodOf(a.Reason), a.Targets[0])]
		})
	}
}

// waitingForOthers are those that are blocked only as others go first: their nodes are
// about to go.
func waitingForOthers(blocked []Blocked) []Blocked {
	return slices.DeleteFunc(slices.Clone(blocked), func(b Blocked) bool { return b.Rule != RuleNotSearched })
}

// mostRepaced bounds how often actions are let begin in the stead of others.
const mostRepaced = 4
