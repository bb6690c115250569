package disruption

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// part is some nodes that go together, as they share what replaces them, and
// what becomes of their pods.
type part struct {
	targets []*member // by name
	nodes   []provisioning.NewNode
	moves   []Move
	spare   []Move // of spare room: pods of buffers, which no action names
	verdict verdict
	saving  float64
	tied    bool // turned down for the sake of a topology spread or an affinity
}

// try asks the engine what becomes of the pods of some nodes that are removed
// together, and parts the answer: nodes are in one part if pods of both go to
// one new node. The parts are in the order of their first nodes.
func (w *world) try(ctx context.Context, targets []*member) ([]*part, error) {
	without, home, err := w.emptied(targets)
	if err != nil {
		w.refused = err
		return nil, nil
	}
	w.market = without // it knows the nodes that have changed since
	plan, err := w.solve(ctx, without, len(home))
	if err != nil {
		return nil, err
	}
	return w.parts(targets, plan, home), nil
}

// emptied is the cluster without some nodes: what to solve to find places for their
// pods, and the node of each of these. The error is that of the engine.
func (w *world) emptied(targets []*member) (*provisioning.Problem, map[string]*member, error) {
	nodes, pods := slices.Clone(w.in.Nodes), slices.Clone(w.in.Pods)
	home, free := map[string]*member{}, w.roaming(targets)
	for _, m := range targets {
		for _, p := range w.displaced[m.name] {
			home[podObject(p)] = m
		}
		n := &nodes[w.at[m.name]]
		for _, p := range n.Pods {
			if p != nil && home[podObject(p)] == m {
				if free[p] != nil {
					p = free[p]
				}
				pods = append(pods, onNode(p, ""))
			}
		}
		*n = leavingNode(*n)
	}
	for _, m := range w.shut {
		nodes[w.at[m.name]] = closedNode(nodes[w.at[m.name]])
	}
	without, err := w.market.WithNodes(nodes, pods)
	return without, home, err
}

func (w *world) parts(targets []*member, plan *provisioning.Plan, home map[string]*member) []*part {
	g := newJoints(targets)
	for i := range plan.Create {
		var first *member
		for _, p := range plan.Create[i].Pods {
			m := home[podObject(p)]
			if first == nil {
				first = m
			}
			if m != nil {
				g.join(first, m)
			}
		}
	}
	byRoot := map[*member]*part{}
	var out []*part
	for _, m := range targets {
		root := g.root(m)
		if byRoot[root] == nil {
			byRoot[root] = &part{}
			out = append(out, byRoot[root])
		}
		byRoot[root].targets = append(byRoot[root].targets, m)
	}
	of := func(m *member) *part { return byRoot[g.root(m)] }
	for i := range plan.Create {
		n := &plan.Create[i]
		m := home[podObject(n.Pods[0])]
		if m == nil {
			continue // not for these nodes
		}
		pt := of(m)
		for _, p := range n.Pods {
			if from := home[podObject(p)]; from != nil {
				pt.moves = append(pt.moves, Move{Pod: p, From: from.name, Replacement: len(pt.nodes)})
			}
		}
		pt.nodes = append(pt.nodes, *n)
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if from := home[podObject(p)]; from != nil {
				pt := of(from)
				pt.moves = append(pt.moves, Move{Pod: p, From: from.name, Node: b.Node, Replacement: -1})
			}
		}
	}
	for _, u := range plan.Unplaced {
		if from := home[podObject(u.Pod)]; from != nil {
			if pt := of(from); !pt.verdict.bad() {
				pt.verdict = forbid(RuleUnplaced, "no other place for %s: %s", podObject(u.Pod), u.Reason)
				pt.verdict.object = podObject(u.Pod)
			}
		}
	}
	for _, pt := range out {
		pt.finish(w)
	}
	return out
}

// finish sorts a part, and puts the pods of the input in the place of copies.
func (pt *part) finish(w *world) {
	slices.SortFunc(pt.targets, func(a, b *member) int { return strings.Compare(a.name, b.name) })
	original := map[string]*corev1.Pod{}
	for _, m := range pt.targets {
		for _, p := range m.pods {
			original[podObject(p.Pod)] = p.Pod
		}
	}
	kept := pt.moves[:0]
	for _, move := range pt.moves {
		if p := original[podObject(move.Pod)]; p != nil {
			move.Pod = p
			kept = append(kept, move)
		} else {
			pt.spare = append(pt.spare, move)
		}
	}
	pt.moves = kept
	slices.SortFunc(pt.moves, func(a, b Move) int { return comparePods(a.Pod, b.Pod) })
	sortReplacements(pt)
}

// sortReplacements puts the dearest first.
func sortReplacements(pt *part) {
	order := make([]int, len(pt.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(pt.nodes[b].Price(), pt.nodes[a].Price()), strings.Compare(pt.nodes[a].Name, pt.nodes[b].Name))
	})
	nodes, place := make([]provisioning.NewNode, len(order)), make([]int, len(order))
	for to, from := range order {
		nodes[to], place[from] = pt.nodes[from], to
	}
	pt.nodes = nodes
	for i := range pt.moves {
		if r := pt.moves[i].Replacement; r >= 0 {
			pt.moves[i].Replacement = place[r]
		}
	}
}

// judge decides whether a part is worth doing to save money.
func (f *Fleet) judge(pt *part, totals map[string]poolTotals) {
	if pt.verdict.bad() {
		return
	}
	required := f.required(pt.targets, totals)
	nodes, v := priceRules(pt.targets, pt.nodes, required)
	if !v.bad() {
		nodes, v = f.spotRules(pt.targets, nodes)
	}
	if v.bad() {
		pt.verdict = v
		return
	}
	pt.nodes = nodes
	removed, cost := priceOf(pt.targets), totalPrice(nodes)
	pt.saving = removed - cost
	if pt.saving <= priceSlack || pt.saving < required-priceSlack {
		pt.verdict = notCheaper(pt.targets, nodes, removed, cost, required)
		return
	}
	pt.verdict = f.balanced(totals, pt.targets, pt.saving)
}

// needy names the first pod of a node that needs a new one, "" if none does.
func (pt *part) needy(m *member) string {
	for _, move := range pt.moves { // by namespace and name
		if move.Node == "" && move.From == m.name {
			return podObject(move.Pod)
		}
	}
	return ""
}

// accept counts a part in, and makes the world what it is once it is done.
func (w *world) accept(pt *part) {
	if w.balance != nil {
		w.balance.takes(pt)
	}
	w.carryOut(pt)
}

// carryOut makes the world what it is once a part is done.
func (w *world) carryOut(pt *part) {
	w.decided = append(slices.Clip(w.decided), pt)
	for _, m := range pt.targets {
		i := w.at[m.name]
		entry := leavingNode(w.in.Nodes[i])
		entry.Pods = m.staying()
		w.in.Nodes[i] = entry
		w.leaving[m.name] = true
	}
	w.roamed(pt)
	for _, move := range pt.moves {
		if move.Node != "" {
			w.bind(move.Node, move.Pod)
		}
	}
	for _, move := range pt.spare {
		if move.Node != "" {
			w.keepSpare(move.Node, move.Pod)
		}
	}
	for i := range pt.nodes {
		name := fmt.Sprintf("%s~%d", pt.targets[0].name, i)
		w.in.Nodes = append(w.in.Nodes, replacementNode(name, &pt.nodes[i]))
	}
}

// partOf is an action as a part, as far as its nodes go.
func (f *Fleet) partOf(a Action) *part {
	pt := &part{nodes: a.Replacements}
	for _, t := range a.Targets {
		if m := f.byName[t.Node]; m != nil && a.Step != Reboot {
			pt.targets = append(pt.targets, m)
		}
	}
	return pt
}

// action is a part as an action.
func (pt *part) action(r Reason) Action {
	a := Action{Reason: r, Step: Replace, Detail: pt.detail(), Simulated: true, Replacements: pt.nodes, Moves: pt.moves,
		Savings: priceOf(pt.targets) - totalPrice(pt.nodes)}
	units := evictionUnits(0)
	for _, m := range pt.targets {
		a.Targets = append(a.Targets, m.target())
		units += oneEviction + m.cost
	}
	slices.SortFunc(a.Targets, func(x, y Target) int { return strings.Compare(x.String(), y.String()) })
	a.DisruptionCost = units.float()
	return a
}

// detail says in one line what becomes of the pods of a part, and what that saves.
func (pt *part) detail() string {
	subject, object := "they cost", "them"
	if len(pt.targets) == 1 {
		subject, object = "it costs", "it"
	}
	d := pt.destinations()
	text := fmt.Sprintf("%s %s", subject, usd(priceOf(pt.targets)))
	if len(pt.nodes) > 0 {
		text += fmt.Sprintf(", and what replaces %s %s: %s", object, usd(d.price()), d.launches())
	}
	if d.other > 0 {
		text += "; " + d.room()
	}
	return text
}

// joints groups nodes.
type joints map[*member]*member

func newJoints(targets []*member) joints {
	g := joints{}
	for _, m := range targets {
		g[m] = m
	}
	return g
}

func (g joints) root(m *member) *member {
	for g[m] != m {
		m = g[m]
	}
	return m
}

func (g joints) join(a, b *member) {
	if a == nil || b == nil {
		return
	}
	if x, y := g.root(a), g.root(b); x != y {
		if y.name < x.name {
			x, y = y, x
		}
		g[y] = x
	}
}
