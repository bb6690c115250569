package simulation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// CandidateSet is a set of nodes that are removed together, because they share replacements, with
// the new places of their pods.
type CandidateSet struct {
	Targets []*state.StateNode // sorted by name
	Nodes   []provisioning.NewNode
	Moves   []Move
	spare   []Move // moves of buffer pods, which no action names
	Outcome rule.Outcome
	Saving  float64
	tied    bool     // rejected because of a topology spread or an affinity
	alone   bool     // simulated alone, with its pods free to change their domains
	first   bool     // it is removed before anything is launched for its pods
	After   []string // names of the actions that have to be done first
}

// Try simulates the removal of some nodes together, and splits the answer into sets: two nodes are
// in one set if pods of both go to one new node. The sets are in the order of their first nodes.
// places may have, by pod, the name of a node that the engine tries first.
func (w *Simulation) Try(ctx context.Context, targets []*state.StateNode, places map[types.NamespacedName]string) ([]*CandidateSet, error) {
	return w.ask(ctx, targets, places, false)
}

// ask is Try, or, with alone, Alone.
func (w *Simulation) ask(ctx context.Context, targets []*state.StateNode, places map[types.NamespacedName]string, alone bool) ([]*CandidateSet, error) {
	a, known := answer{}, false
	if len(places) == 0 {
		a, known = w.ahead.take(targets, alone)
	}
	if !known {
		asked := w
		if alone {
			asked = w.unpinned()
		}
		a = asked.answer(ctx, targets, places)
	}
	if a.problem != nil && !alone {
		w.Problem = a.problem // reads the nodes that have changed since
	}
	if a.refused != nil {
		w.Refused = a.refused
		return nil, nil
	}
	w.count(ctx, len(a.home))
	if a.err != nil {
		return nil, a.err
	}
	return w.sets(targets, a.plan, a.home), nil
}

// answer computes the answer to a what-if. It changes nothing.
func (w *Simulation) answer(ctx context.Context, targets []*state.StateNode, places map[types.NamespacedName]string) (a answer) {
	if a.problem, a.home, a.refused = w.Emptied(targets); a.refused != nil {
		return a
	}
	asked := a.problem
	if len(places) > 0 {
		if asked, a.refused = a.problem.Nominating(places); a.refused != nil {
			return a
		}
	}
	a.plan, a.err = w.plan(ctx, asked)
	return a
}

// Emptied returns the cluster without some nodes as a problem that finds places for their pods, and
// the node of each of these pods. The error is that of the engine.
func (w *Simulation) Emptied(targets []*state.StateNode) (*provisioning.Problem, map[types.NamespacedName]*state.StateNode, error) {
	nodes, pods := slices.Clone(w.In.Nodes), slices.Clone(w.In.Pods)
	home, loose := map[types.NamespacedName]*state.StateNode{}, w.Moving(targets)
	for _, m := range targets {
		for _, p := range w.Displaced[m.Name] {
			home[state.NameOf(p)] = m
		}
		n := &nodes[w.At[m.Name]]
		for _, p := range n.Pods {
			if p != nil && home[state.NameOf(p)] == m {
				pods = append(pods, w.pins[p].restrict(podlife.Moved(p, ""), loose[p]))
			}
		}
		*n = w.copies.changed(*n, w.copies.gone, provisioning.Node.Leaving)
	}
	for _, m := range w.cordoned {
		nodes[w.At[m.Name]] = w.copies.changed(nodes[w.At[m.Name]], w.copies.shut, ClosedNode)
	}
	without, err := w.Problem.WithNodes(nodes, pods)
	return without, home, err
}

func (w *Simulation) sets(targets []*state.StateNode, plan *provisioning.Plan, home map[types.NamespacedName]*state.StateNode) []*CandidateSet {
	of := joined(targets, plan, home)
	var out []*CandidateSet
	listed := map[*CandidateSet]bool{}
	for _, m := range targets {
		if cs := of[m]; !listed[cs] {
			listed[cs] = true
			out = append(out, cs)
		}
	}
	for i := range plan.Create {
		n := &plan.Create[i]
		cs := of[home[state.NameOf(n.Pods[0])]]
		if cs == nil {
			continue // for other pods
		}
		for _, p := range n.Pods {
			if from := home[state.NameOf(p)]; from != nil {
				cs.Moves = append(cs.Moves, Move{Pod: p, From: from.Name, Replacement: len(cs.Nodes)})
			}
		}
		cs.Nodes = append(cs.Nodes, *n)
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if from := home[state.NameOf(p)]; from != nil {
				cs := of[from]
				cs.Moves = append(cs.Moves, Move{Pod: p, From: from.Name, Node: b.Node, Replacement: -1})
			}
		}
	}
	for _, u := range plan.Unplaced {
		if from := home[state.NameOf(u.Pod)]; from != nil {
			if cs := of[from]; !cs.Outcome.Bad() {
				cs.Outcome = rule.Forbid(rule.Unplaced, "no other place for %s: %s", state.PodObject(u.Pod), u.Explanation)
				cs.Outcome.Object = state.PodObject(u.Pod)
			}
		}
	}
	for _, cs := range out {
		cs.finish()
	}
	return out
}

// joined returns the set of each node: nodes whose pods go to one new node are in one set.
func joined(targets []*state.StateNode, plan *provisioning.Plan, home map[types.NamespacedName]*state.StateNode) map[*state.StateNode]*CandidateSet {
	of := make(map[*state.StateNode]*CandidateSet, len(targets))
	for _, m := range targets {
		of[m] = &CandidateSet{Targets: []*state.StateNode{m}}
	}
	for i := range plan.Create {
		var first *CandidateSet
		for _, p := range plan.Create[i].Pods {
			switch cs := of[home[state.NameOf(p)]]; {
			case cs == nil: // the pod is not from these nodes
			case first == nil:
				first = cs
			case cs != first:
				first.Targets = append(first.Targets, cs.Targets...)
				for _, m := range cs.Targets {
					of[m] = first
				}
			}
		}
	}
	return of
}

// finish sorts a set, and replaces copies of pods by the pods of the input.
func (cs *CandidateSet) finish() {
	slices.SortFunc(cs.Targets, func(a, b *state.StateNode) int { return strings.Compare(a.Name, b.Name) })
	original := map[types.NamespacedName]*corev1.Pod{}
	for _, m := range cs.Targets {
		for _, p := range m.PodViews {
			original[state.NameOf(p.Pod)] = p.Pod
		}
	}
	kept := cs.Moves[:0]
	for _, move := range cs.Moves {
		if p := original[state.NameOf(move.Pod)]; p != nil {
			move.Pod = p
			kept = append(kept, move)
		} else {
			cs.spare = append(cs.spare, move)
		}
	}
	cs.Moves = kept
	slices.SortFunc(cs.Moves, func(a, b Move) int { return state.ComparePods(a.Pod, b.Pod) })
	sortReplacements(cs)
}

// sortReplacements sorts the new nodes by price, the highest first.
func sortReplacements(cs *CandidateSet) {
	nodes := make([]provisioning.NewNode, len(cs.Nodes))
	copy(nodes, cs.Nodes)
	slices.SortFunc(nodes, func(a, b provisioning.NewNode) int {
		return cmp.Or(cmp.Compare(b.Price(), a.Price()), strings.Compare(a.Name, b.Name))
	})
	for i := range cs.Moves {
		if r := cs.Moves[i].Replacement; r >= 0 {
			cs.Moves[i].Replacement = slices.IndexFunc(nodes, func(n provisioning.NewNode) bool { return n.Name == cs.Nodes[r].Name })
		}
	}
	cs.Nodes = nodes
}

// Needy names the first pod of a node that goes to a new node; "" if there is none.
func (cs *CandidateSet) Needy(m *state.StateNode) string {
	for _, move := range cs.Moves { // sorted by namespace and name
		if move.Node == "" && move.From == m.Name {
			return state.PodObject(move.Pod)
		}
	}
	return ""
}

// PriceSlack is the difference up to which two prices count as equal, in USD per hour. The last
// digits of sums of prices depend on the order of the terms.
const PriceSlack = 1e-9

// TotalPrice returns what new nodes cost together, each as its cheapest option, in USD per hour.
func TotalPrice(nodes []provisioning.NewNode) float64 {
	sum := 0.0
	for i := range nodes {
		sum += nodes[i].Price()
	}
	return sum
}

// Worth returns the saving of a set per unit of disruption cost, in USD per hour.
func (cs *CandidateSet) Worth() float64 {
	return cs.Saving / state.DisruptionCost(cs.Targets...)
}
