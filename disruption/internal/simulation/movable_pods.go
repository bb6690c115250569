package simulation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/selectors"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// spread is a required topology spread over a label other than the name of the node.
type spread struct {
	own    *ownSpread  // as one of its pods has it
	of     *corev1.Pod // that pod
	closed bool        // pods that it counts are pending
	left   bool        // a pod of it has changed its domain
}

// counts reports whether a spread counts a pod.
func (s *spread) counts(p *corev1.Pod) bool {
	return s.own.pods.Select(p.Namespace, p.Labels)
}

// spreads has the spreads of all pods, each once.
type spreads struct {
	list    []*spread
	numbers map[string]int   // index in list, by key
	index   *selectors.Index // by index in list
	known   [][]int          // by number of the class: indexes of the spreads that count its pods; nil until they are needed
}

// movablePod is a pod that may change its domain.
type movablePod struct {
	of     *spread
	domain string      // its present domain
	pinned *corev1.Pod // with a node selector that pins it to its domain
	free   *corev1.Pod // with an affinity to some other domains as well
	choice int         // the number of those domains
}

// readSpreads reads the spreads of the counted pods.
func (c *topologyCounts) readSpreads(waiting []*corev1.Pod) {
	c.spreads, c.hosts = newSpreads(), newSpreads()
	for _, kind := range c.present {
		c.spreads.add(kind.Pod, c.facts(kind).spreads)
		c.hosts.add(kind.Pod, c.facts(kind).hosts)
	}
	for _, p := range waiting {
		for _, n := range c.spreads.counting(c.kinds.Of(p)) {
			c.spreads.list[n].closed = true
		}
	}
}

func newSpreads() spreads { return spreads{numbers: map[string]int{}, index: selectors.NewIndex()} }

// add adds the spreads of a pod that are not yet in the list.
func (x *spreads) add(p *corev1.Pod, list []ownSpread) {
	for i := range list {
		t := &list[i]
		if _, known := x.numbers[t.text]; known {
			continue
		}
		n := len(x.list)
		x.numbers[t.text] = n
		if len(t.pods.Namespaces) > 0 { // else it counts no pod
			x.index.Add(n, t.pods.Selector, t.pods.Namespaces)
		}
		x.list = append(x.list, &spread{own: t, of: p})
	}
}

// counting returns the indexes of the spreads that count pods of a kind.
func (x *spreads) counting(kind *podclass.Class) []int {
	for len(x.known) <= kind.Number {
		x.known = append(x.known, nil)
	}
	if x.known[kind.Number] == nil {
		x.known[kind.Number] = []int{}
		for _, n := range x.index.Candidates(kind.Pod) {
			if x.list[n].counts(kind.Pod) {
				x.known[kind.Number] = append(x.known[kind.Number], n)
			}
		}
	}
	return x.known[kind.Number]
}

// movable returns the other domains to which a pod may move, or nil if there are none. In each of
// them the spread must be satisfied for all its pods after this pod has moved and no other. The pod
// must have exactly one spread, which alone counts it, and no other constraint that pins it.
func (c *topologyCounts) movable(kind *podclass.Class, p *corev1.Pod, node *corev1.Node) *movablePod {
	if len(c.facts(kind).spreads) == 0 || c.pinnedByAffinity(kind, node) != nil {
		return nil
	}
	counting := c.spreads.counting(kind)
	if len(counting) != 1 || c.spreads.list[counting[0]].closed {
		return nil
	}
	spreads := c.facts(kind).spreads
	if len(spreads) != 1 {
		return nil
	}
	s, own := c.spreads.list[counting[0]], &spreads[0]
	if c.spreads.numbers[own.text] != counting[0] || !plain(own.TopologySpreadConstraint) {
		return nil
	}
	counts, domain := c.counts(kind, own), node.Labels[own.TopologyKey]
	if _, eligible := counts[domain]; !eligible {
		return nil
	}
	domains := []string{domain}
	for _, to := range slices.Sorted(maps.Keys(counts)) {
		if to != domain && holdsAfter(counts, domain, to, int(own.MaxSkew)) {
			domains = append(domains, to)
		}
	}
	if len(domains) == 1 {
		return nil
	}
	return &movablePod{of: s, domain: domain, free: withNodeChoice(p, own.TopologyKey, domains), choice: len(domains) - 1}
}

// plain reports whether the domains of a spread are those of the nodes that its pods may use,
// without a minimum number.
func plain(t *corev1.TopologySpreadConstraint) bool {
	return t.MinDomains == nil &&
		(t.NodeAffinityPolicy == nil || honors(t.NodeAffinityPolicy)) && !honors(t.NodeTaintsPolicy)
}

// holdsAfter reports whether a spread is satisfied in all domains after a pod has moved.
func holdsAfter(counts map[string]int, from, to string, skew int) bool {
	most, least, first := 0, 0, true
	for domain, n := range counts { // the order does not matter
		switch domain {
		case from:
			n--
		case to:
			n++
		}
		if first {
			most, least, first = n, n, false
		}
		most, least = max(most, n), min(least, n)
	}
	return most-least <= skew
}

// withNodeChoice returns a copy of a pod that requires one of some values of a node label.
func withNodeChoice(p *corev1.Pod, key string, values []string) *corev1.Pod {
	out := *p
	affinity := &corev1.Affinity{}
	if p.Spec.Affinity != nil {
		*affinity = *p.Spec.Affinity
	}
	node := &corev1.NodeAffinity{}
	if affinity.NodeAffinity != nil {
		*node = *affinity.NodeAffinity
	}
	asked := corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
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

// Moving returns the pods that may change their domain when some nodes are removed, by their pinned
// copies. It chooses one pod of each spread, the first with the largest choice of domains, because
// two moves would have to be carried out one after the other. It chooses none of a spread of which
// a pod has moved before.
func (w *Simulation) Moving(targets []*state.StateNode) map[*corev1.Pod]*corev1.Pod {
	if len(w.movable) == 0 {
		return nil
	}
	var best map[*spread]*movablePod
	for _, m := range targets {
		for _, p := range w.Displaced[m.Name] {
			r := w.movable[p]
			if r == nil || r.pinned != p || r.of.left || best[r.of] != nil && best[r.of].choice >= r.choice {
				continue
			}
			if best == nil {
				best = map[*spread]*movablePod{}
			}
			best[r.of] = r
		}
	}
	if best == nil {
		return nil
	}
	out := map[*corev1.Pod]*corev1.Pod{}
	for _, r := range best { // the order does not matter
		out[r.pinned] = r.free
	}
	return out
}

// moved records that a set moves a pod to another domain. From then on other pods of its spread
// stay in their domains.
func (w *Simulation) moved(cs *CandidateSet) {
	for _, move := range cs.Moves {
		r := w.movable[move.Pod]
		if r == nil {
			continue
		}
		if i, found := w.At[move.Node]; !found || w.In.Nodes[i].Node == nil || w.In.Nodes[i].Node.Labels[r.of.own.TopologyKey] != r.domain {
			before := r.of.left
			r.of.left = true
			w.BindOrder.log(func() { r.of.left = before })
		}
	}
}

// waitingPods returns the pods that have no place or lose it.
func (w *Simulation) waitingPods() []*corev1.Pod {
	return append(pending(w.Cluster.In.Pods), w.leavingPods()...)
}

// leavingPods returns the pods that lose their place.
func (w *Simulation) leavingPods() []*corev1.Pod {
	var out []*corev1.Pod
	for _, m := range w.Cluster.Nodes {
		if d, alone := w.departing[m.Name]; alone {
			out = append(out, d.Displaced...)
		} else if w.Leaving[m.Name] {
			out = append(out, m.Movable()...)
		}
	}
	return out
}
