package simulation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/selectors"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// spread is a topology spread that must hold, other than by node.
type spread struct {
	own    *ownSpread  // as one of the pods has it
	of     *corev1.Pod // that pod
	closed bool        // pods that it counts wait for a place
	left   bool        // a pod of it has changed its domain
}

// counts reports whether a spread counts a pod.
func (s *spread) counts(p *corev1.Pod) bool {
	return s.own.pods.Select(p.Namespace, p.Labels)
}

// spreads are those of all pods, each once.
type spreads struct {
	list    []*spread
	numbers map[string]int   // in list, by key
	index   *selectors.Index // by number
	known   [][]int          // by kind: those that count its pods, by number; nil while nobody asked
}

// movablePod is a pod that may change its domain.
type movablePod struct {
	of     *spread
	domain string      // where it is
	pinned *corev1.Pod // as it stands on its node
	free   *corev1.Pod // the same, which may go to some other domains as well
	choice int         // to how many
}

// readSpreads reads those of the pods that the counts knows.
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

// add adds those of a pod that are not there yet.
func (x *spreads) add(p *corev1.Pod, list []ownSpread) {
	for i := range list {
		t := &list[i]
		if _, known := x.numbers[t.text]; known {
			continue
		}
		n := len(x.list)
		x.numbers[t.text] = n
		if len(t.pods.Namespaces) > 0 { // else it counts nobody
			x.index.Add(n, t.pods.Selector, t.pods.Namespaces)
		}
		x.list = append(x.list, &spread{own: t, of: p})
	}
}

// counting are the numbers of the spreads that count pods of a kind.
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

// movable says where else than in its domain a pod may be, nil if nowhere: where its
// spread holds for all pods of it once this one has moved, and no other has. It is
// for pods of one spread that no other counts, and that nothing else binds.
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

// plain reports whether the domains of a spread are those of the nodes that its pods
// ask for, however few they are.
func plain(t *corev1.TopologySpreadConstraint) bool {
	return t.MinDomains == nil &&
		(t.NodeAffinityPolicy == nil || honors(t.NodeAffinityPolicy)) && !honors(t.NodeTaintsPolicy)
}

// holdsAfter reports whether a spread holds in all domains once a pod has moved.
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

// withNodeChoice is a pod that asks for a node with one of some values of a label.
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
			if len(t.MatchExpressions)+len(t.MatchFields) > 0 { // a term that asks for nothing admits no node
				terms[i].MatchExpressions = append(slices.Clone(t.MatchExpressions), asked)
			}
		}
	}
	node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	affinity.NodeAffinity = node
	out.Spec.Affinity = affinity
	return &out
}

// Moving lists the pods that may change their domain when some nodes go, by the
// pods as they stand there: one of each spread, the first of those with the most
// domains to go to, as two would have to be carried out one after the other; and none where one has
// gone before.
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
	for _, r := range best { // by pod: the order does not matter
		out[r.pinned] = r.free
	}
	return out
}

// moved notes where a set takes a pod to another domain: others of its spread
// stay in theirs from then on.
func (w *Simulation) moved(cs *CandidateSet) {
	for _, move := range cs.Moves {
		r := w.movable[move.Pod]
		if r == nil {
			continue
		}
		if i, found := w.At[move.Node]; !found || w.In.Nodes[i].Node == nil || w.In.Nodes[i].Node.Labels[r.of.own.TopologyKey] != r.domain {
			before := r.of.left
			r.of.left = true
			w.Landing.log(func() { r.of.left = before })
		}
	}
}

// waitingPods are those that have no place, or lose theirs.
func (w *Simulation) waitingPods() []*corev1.Pod {
	return append(pending(w.Cluster.In.Pods), w.leavingPods()...)
}

// leavingPods are those that lose their place.
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
