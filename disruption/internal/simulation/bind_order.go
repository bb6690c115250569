package simulation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// BindOrder checks that topology spreads, affinity and anti-affinity admit the pods of some nodes
// in their new places, in the state that earlier decisions leave. The engine finds places for the
// pods of many nodes at once, but actions are carried out one after the other, and each has to be
// valid in its turn. Takes chooses the order.
//
// Where a pod is may be uncertain: a pending pod, or one that is left to the next plan, may be in
// its planned place or nowhere yet, and a new node may come up in any of the zones of its options.
// The state excludes a pod wherever such a pod may be, and lets it satisfy no constraint.
type BindOrder struct {
	*engine.State
	w    *Simulation
	done []*footprint // footprints counted so far, in order
}

// readState makes the state of the engine in which pods are moved one after the other, unless it is
// there.
func (w *Simulation) readState() {
	if w.moves != nil {
		return
	}
	if w.Compile(); w.Refused != nil {
		return
	}
	waiting := map[types.NamespacedName]bool{}
	for _, p := range w.waitingPods() {
		waiting[state.NameOf(p)] = true
	}
	nodes, pods := slices.Clone(w.In.Nodes), []engine.Pod(nil)
	for i := range nodes {
		n := &nodes[i]
		if n.Node == nil || w.Leaving[n.Name()] {
			continue
		}
		var stay []*corev1.Pod
		for _, p := range n.Pods {
			switch {
			case p == nil:
			case !podlife.Moves(p):
				stay = append(stay, p)
				delete(waiting, state.NameOf(p)) // it has got its place
			case podlife.ComesBack(p):
				pods = append(pods, engine.Pod{Pod: podlife.Moved(p, "")})
			default:
				pods = append(pods, engine.Pod{Pod: p, Node: n.Name(), Perhaps: waiting[state.NameOf(p)]})
				delete(waiting, state.NameOf(p))
			}
		}
		n.Pods = stay
	}
	for _, p := range w.waitingPods() {
		if waiting[state.NameOf(p)] {
			pods = append(pods, engine.Pod{Pod: p})
		}
	}
	if w.moves, w.Refused = w.Problem.State(nodes, pods); w.Refused == nil {
		w.kinds = estimate.NewKinds(w.moves)
	}
}

// begin records the earlier decisions. The simulation has carried them out, except for new nodes.
func (l *BindOrder) begin(begun []Decision) {
	for i := range begun {
		cs, name := l.w.setOf(&begun[i]), begun[i].Name
		l.launch(cs.Nodes, name)
		print := l.footprint(cs, name)
		for _, node := range begun[i].Nodes {
			if n := l.w.object(node); n != nil && l.w.Leaving[node] {
				print.remove(l, n)
			}
		}
		print.countNodes(l, nil)
		l.done = append(l.done, print)
		for k := range cs.Moves {
			if a := l.arrival(&cs.Moves[k], name); cs.Moves[k].Node == "" && a.to != "" {
				l.Arrive(a.pod, a.to, true)
			}
		}
	}
}

// Takes counts a set of nodes if all its pods can be bound in their places. Otherwise it changes
// nothing, and returns the constraint that excludes a pod.
//
// Two orders are tried, because the order in which the pods come is unknown. Pods with topology
// spreads come last; if the set was simulated alone, they also come first. In both orders a pod
// that is excluded is tried again after the others, as kube-scheduler does. No other orders are
// tried: a set that needs one is rejected, and in the cluster any order may occur.
func (l *BindOrder) Takes(cs *CandidateSet) (ok bool, tie string) {
	mark, name := l.Mark(), cs.Targets[0].Name
	l.launch(cs.Nodes, name)
	print := l.footprint(cs, name)
	tie = l.carryOut(cs, true)
	if tie != "" && cs.alone {
		l.Rewind(mark)
		l.launch(cs.Nodes, name)
		tie = l.carryOut(cs, false)
	}
	if tie != "" {
		l.Rewind(mark)
		return false, tie
	}
	l.done = append(l.done, print)
	l.Log(func() { l.done = l.done[:len(l.done)-1] })
	return true, ""
}

// After returns the names of the actions that have to be done before the one counted last, because
// one changes something on which the other depends.
func (l *BindOrder) After() (names []string) {
	last := len(l.done) - 1
	for _, before := range l.done[:last] {
		if before.touches(l.done[last]) || l.done[last].touches(before) {
			names = append(names, before.name)
		}
	}
	return names
}

// launch adds new nodes. They are named after the action that launches them.
func (l *BindOrder) launch(nodes []provisioning.NewNode, action string) {
	for i := range nodes {
		n := &nodes[i]
		l.Launch(engine.NewNode{Name: newName(action, i), Pool: n.Pool.Name, Requirements: n.Requirements, Labels: n.Labels, Options: n.Options})
	}
}

// carryOut moves the pods of a set, those with topology spreads of their own last or first, and
// removes its nodes. It returns the constraint that excludes the first pod that cannot be bound; ""
// if all can.
func (l *BindOrder) carryOut(cs *CandidateSet, spreadLast bool) string {
	var waiting []arrival
	for i := range cs.Moves {
		a := l.arrival(&cs.Moves[i], cs.Targets[0].Name)
		l.Depart(a.pod, a.from)
		waiting = append(waiting, a)
	}
	slices.SortStableFunc(waiting, func(a, b arrival) int {
		if spreadLast {
			a, b = b, a
		}
		return len(b.concern.Spreads) - len(a.concern.Spreads)
	})
	for len(waiting) > 0 {
		first, left := "", waiting[:0]
		for _, a := range waiting {
			if t := l.Excluder(a.pod, a.to); t != nil {
				left = append(left, a)
				if first == "" {
					first = constraintOf(t)
				}
				continue
			}
			l.Arrive(a.pod, a.to, false)
		}
		if len(left) == len(waiting) {
			return first
		}
		waiting = left
	}
	for _, m := range cs.Targets {
		l.Remove(m.Name)
	}
	return ""
}

// constraintOf says which constraint a term is.
func constraintOf(t *workload.Term) string {
	switch {
	case t.Key == "":
		return "a host port or a volume"
	case t.Kind == topology.Spread:
		return "a topology spread over " + t.Key
	case t.Kind == topology.Together:
		return "an affinity over " + t.Key
	}
	return "an anti-affinity over " + t.Key
}

// arrival is a pod that moves.
type arrival struct {
	concern *engine.Concern
	pod     *corev1.Pod
	from    string // node on which it is counted; empty if none
	to      string // node to which it goes, perhaps a new one; empty if that is unknown
}

func (l *BindOrder) arrival(move *Move, action string) arrival {
	a := arrival{concern: l.Concern(move.Pod), pod: move.Pod, to: move.Node}
	if a.concern == nil {
		a.concern = &engine.Concern{}
	}
	if move.Pod.DeletionTimestamp.IsZero() {
		a.from = move.From
	}
	if move.Node == "" && move.Replacement >= 0 {
		a.to = newName(action, move.Replacement)
	}
	return a
}

// newName returns a name for a new node of an action, unique within the search.
func newName(action string, i int) string { return fmt.Sprintf("%s~new~%d", action, i) }

// object returns the Node with a name, or nil if there is none.
func (w *Simulation) object(name string) *corev1.Node {
	if i, found := w.At[name]; found {
		return w.In.Nodes[i].Node
	}
	return nil
}
