package simulation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
)

// pin restricts a pod to some domains.
type pin struct {
	held   map[string]string // labels of its node that the pod keeps
	of     *spread           // the spread for which it may change its domain; nil if it may not
	choice engine.Choice     // its domains then, the present one first
}

// spread is a required topology spread. One of its pods may change its domain.
type spread struct {
	key    string
	closed bool // pods that it counts are pending
	left   bool // a pod of it has changed its domain
}

// pin pins each pod to its domain of a required topology spread over a label other than the name of
// the node. What is found for many nodes is carried out set by set, and each set must be valid in
// its turn. If pods of a workload changed places between zones, one set would depend on another. In
// its own domain a pod is always admitted, wherever the others go.
//
// The same applies to required affinity and anti-affinity over such a label.
//
// Pods are pinned only where the skew is within its limit now. A pod in a domain that has too many
// is not pinned, or it could not be moved at all. Nor is a pod that is counted by a spread which it
// does not have: BindOrder checks it.
//
// One pod of each spread may leave its domain, because all others stay: see pin.
func (w *Simulation) pin() {
	moves, spreads := w.moves, map[int]*spread{}
	w.pins = map[*corev1.Pod]*pin{}
	of := func(rule int) *spread {
		if spreads[rule] == nil {
			spreads[rule] = &spread{}
		}
		return spreads[rule]
	}
	for _, p := range w.waitingPods() {
		for _, rule := range moves.SpreadsCounting(p) {
			of(rule).closed = true
		}
	}
	for i := range w.In.Nodes {
		n := &w.In.Nodes[i]
		if n.Node == nil || w.Leaving[n.Name()] {
			continue
		}
		for _, p := range n.Pods {
			if p == nil {
				continue
			}
			r := &pin{held: w.heldLabels(p, n.Name())}
			if r.held == nil {
				continue
			}
			w.pins[p] = r
			w.kinds.Pin(p, pinOf(r.held))
			if choice, ok := moves.Choose(p, n.Name()); ok && !of(choice.Rule).closed {
				r.of, r.choice = of(choice.Rule), choice
				r.of.key = choice.Key
				w.kinds.Loosen(p, estimate.Pin{choice.Key: choice.Values})
			}
		}
	}
}

// pinOf returns labels as a pin.
func pinOf(labels map[string]string) estimate.Pin {
	out := make(estimate.Pin, len(labels))
	for key, value := range labels {
		out[key] = []string{value}
	}
	return out
}

// heldLabels returns the labels of its node that a pod must keep; nil if there are none. A label is
// left out if the pod's node selector now requires another value.
func (w *Simulation) heldLabels(p *corev1.Pod, node string) map[string]string {
	out := w.BindOrder.Held(p, node)
	for key, value := range p.Spec.NodeSelector { // the order does not matter
		if out[key] != value {
			delete(out, key)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Constraints reports whether a pod has a required topology spread, and a required anti-affinity, over
// a label.
func (w *Simulation) Constraints(p *corev1.Pod, key string) (spread, apart bool) {
	concern := w.moves.Concern(p)
	if concern == nil {
		return false, false
	}
	spread = slices.ContainsFunc(concern.Spreads, func(k engine.Count) bool { return k.Key == key })
	apart = slices.ContainsFunc(concern.Counts, func(k engine.Count) bool { return k.Key == key && k.Owners })
	return spread, apart
}

// restrict returns a copy of a pod with its pin, which may be nil. With loose the pod may change its domain.
func (r *pin) restrict(p *corev1.Pod, loose bool) *corev1.Pod {
	switch {
	case r == nil:
		return p
	case loose:
		return withNodeChoice(p, r.choice)
	}
	return withNodeSelector(p, r.held)
}

// withNodeSelector returns a copy of a pod with more node selector labels.
func withNodeSelector(p *corev1.Pod, more map[string]string) *corev1.Pod {
	out := *p
	out.Spec.NodeSelector = make(map[string]string, len(p.Spec.NodeSelector)+len(more))
	maps.Copy(out.Spec.NodeSelector, p.Spec.NodeSelector)
	maps.Copy(out.Spec.NodeSelector, more)
	return &out
}

// withNodeChoice returns a copy of a pod that requires one of some values of a node label.
func withNodeChoice(p *corev1.Pod, choice engine.Choice) *corev1.Pod {
	out := *p
	affinity := &corev1.Affinity{}
	if p.Spec.Affinity != nil {
		*affinity = *p.Spec.Affinity
	}
	node := &corev1.NodeAffinity{}
	if affinity.NodeAffinity != nil {
		*node = *affinity.NodeAffinity
	}
	asked := corev1.NodeSelectorRequirement{Key: choice.Key, Operator: corev1.NodeSelectorOpIn, Values: choice.Values}
	terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{asked}}}
	if required := node.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms = slices.Clone(required.NodeSelectorTerms)
		for i, t := range terms {
			if len(t.MatchExpressions)+len(t.MatchFields) > 0 { // an empty term admits no node
				terms[i].MatchExpressions = append(slices.Clone(t.MatchExpressions), asked)
			}
		}
	}
	node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	affinity.NodeAffinity = node
	out.Spec.Affinity = affinity
	return &out
}

// Moving returns the pods that may change their domain when some nodes are removed. It chooses one
// pod of each spread, the first with the largest choice of domains, because two moves would have to
// be carried out one after the other. If a pod of a spread has moved before, it chooses none of that
// spread.
func (w *Simulation) Moving(targets []*state.StateNode) map[*corev1.Pod]bool {
	best := map[*spread]*corev1.Pod{}
	for _, m := range targets {
		for _, p := range w.Displaced[m.Name] {
			r := w.pins[p]
			if r == nil || r.of == nil || r.of.left || best[r.of] != nil && len(w.pins[best[r.of]].choice.Values) >= len(r.choice.Values) {
				continue
			}
			best[r.of] = p
		}
	}
	out := map[*corev1.Pod]bool{}
	for _, p := range best { // the order does not matter
		out[p] = true
	}
	return out
}

// Pinned reports whether a pod keeps to some domains.
func (w *Simulation) Pinned(p *corev1.Pod) bool { return w.pins[p] != nil }

// moved records that a set moves a pod to another domain. From then on other pods of its spread
// stay in their domains.
func (w *Simulation) moved(cs *CandidateSet) {
	for _, move := range cs.Moves {
		r := w.pins[move.Pod]
		if r == nil || r.of == nil {
			continue
		}
		if i, found := w.At[move.Node]; !found || w.In.Nodes[i].Node == nil || w.In.Nodes[i].Node.Labels[r.of.key] != r.choice.Values[0] {
			before := r.of.left
			r.of.left = true
			w.BindOrder.Log(func() { r.of.left = before })
		}
	}
}

// waitingPods returns the pods that have no place or lose it.
func (w *Simulation) waitingPods() []*corev1.Pod {
	out := pending(w.Cluster.In.Pods)
	for _, m := range w.Cluster.Nodes {
		if d, alone := w.departing[m.Name]; alone {
			out = append(out, d.Displaced...)
		} else if w.Leaving[m.Name] {
			out = append(out, m.Movable()...)
		}
	}
	return out
}
