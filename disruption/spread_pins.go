package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// pinned is the fleet with pods kept in the domains that they are spread over.
func (f *Fleet) pinned() *Fleet {
	pinned := *f
	pinned.pinSpread = true
	return &pinned
}

// pinnedAt is the same for the pods of some nodes, as others do not move.
func (f *Fleet) pinnedAt(actions []Action) *Fleet {
	pinned := f.pinned()
	pinned.pinnedOn = map[string]bool{}
	for _, a := range actions {
		for _, t := range a.Targets {
			pinned.pinnedOn[t.Node] = true
		}
	}
	return pinned
}

// pinSpread keeps each pod in its domain of a topology spread that must hold,
// other than by node. What is found for many nodes is carried out in parts, and
// by itself each part must hold too: were pods of a workload to change places
// between zones, one part would lean on what another does. In its own domain a
// pod may always come back, whatever becomes of the others.
//
// The same goes for required affinity and anti-affinity over such a label.
//
// That holds where the skew is no more than allowed as things are. A pod in a
// domain that has too many is left free, or it could not be moved at all, and so is
// one that is counted by a spread which it does not have: see balance.
//
// One pod of each spread may leave its domain, as all others stay: see roamer.
func (w *world) pinSpread() {
	c := newSpreadCensus(w)
	w.roamers, w.balance = map[*corev1.Pod]*roamer{}, newBalance(w, c)
	for i := range w.in.Nodes {
		n := &w.in.Nodes[i]
		if n.Node == nil || w.leaving[n.Name()] || w.f.pinnedOn != nil && !w.f.pinnedOn[n.Name()] {
			continue
		}
		var pods []*corev1.Pod
		for k, p := range n.Pods {
			if p == nil {
				continue
			}
			kind := c.kinds.of(p)
			held := c.pins(kind, n.Node)
			if w.f.pinnedOn != nil { // nobody looks again at what pods do to the counts of others
				held = bothOf(held, w.balance.home(p, n.Node))
			}
			if held == nil {
				continue
			}
			if pods == nil {
				pods = slices.Clone(n.Pods)
			}
			pods[k] = withNodeSelector(p, held)
			c.kinds.pin(pods[k], kind, held)
			if r := c.roamer(kind, p, n.Node); r != nil {
				r.pinned = pods[k]
				w.roamers[p], w.roamers[pods[k]] = r, r
			}
		}
		if pods != nil {
			w.displaced[n.Name()] = instead(w.displaced[n.Name()], n.Pods, pods)
			n.Pods = pods
		}
	}
}

// bothOf are the labels of two maps; the first is changed.
func bothOf(a, b map[string]string) map[string]string {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}

// instead is a list with the changed pods in the place of those they were.
func instead(list, before, changed []*corev1.Pod) []*corev1.Pod {
	out := slices.Clone(list)
	for i, p := range out {
		if k := slices.Index(before, p); k >= 0 {
			out[i] = changed[k]
		}
	}
	return out
}

// withNodeSelector is a pod that asks for more labels of its node.
func withNodeSelector(p *corev1.Pod, more map[string]string) *corev1.Pod {
	out := *p
	out.Spec.NodeSelector = make(map[string]string, len(p.Spec.NodeSelector)+len(more))
	for key, value := range p.Spec.NodeSelector { // by key: the order does not matter
		out.Spec.NodeSelector[key] = value
	}
	for key, value := range more {
		out.Spec.NodeSelector[key] = value
	}
	return &out
}

// spreadCensus counts pods by domain.
type spreadCensus struct {
	kinds   *podKinds
	read    []*kindFacts // by kind; nil while nobody asked
	nodes   []*corev1.Node
	domains map[string]map[string][]*corev1.Node // by label and its value
	counted []countedPod
	present []*podKind               // those of the counted pods, and of those that lose their place
	inSpace map[string][]countedPod  // the same by namespace
	byLabel map[labelIn][]countedPod // and by label; nil while nobody asked
	known   map[string]map[string]int
	spaces  *podterm.Namespaces
	bonds   bonds
	spreads spreads
	hosts   spreads // those over the name of the node

	defaults *podterm.Defaults // topology spreads of pods without any
}

type countedPod struct {
	pod  *corev1.Pod
	kind *podKind
	node *corev1.Node
}

// kindFacts are what the constraints of all pods have to do with those of a kind.
type kindFacts struct {
	selecting []int // bonds that are about them, by number
	spreads   []ownSpread
	hosts     []ownSpread // those over the name of the node
	inHosts   []int       // such spreads that count them, by number; nil while nobody asked
	counting  []*spread   // that count them; nil while nobody asked
	asked     bool
}

// facts are what is known of a kind, once all bonds are read.
func (c *spreadCensus) facts(kind *podKind) *kindFacts {
	for len(c.read) <= kind.number {
		c.read = append(c.read, nil)
	}
	if c.read[kind.number] == nil {
		f := &kindFacts{selecting: c.bonds.selecting(kind.pod)}
		f.spreads, f.hosts = c.spreadsOf(kind.pod)
		c.read[kind.number] = f
	}
	return c.read[kind.number]
}

func newSpreadCensus(w *world) *spreadCensus {
	c := &spreadCensus{kinds: w.kinds, inSpace: map[string][]countedPod{}, domains: map[string]map[string][]*corev1.Node{}, known: map[string]map[string]int{}, spaces: w.namespaces(), defaults: w.defaults}
	for _, n := range w.in.Nodes {
		if n.Node == nil {
			continue
		}
		c.nodes = append(c.nodes, n.Node) // also one that leaves: its domain is there until it has gone
		for _, p := range n.Pods {
			if p != nil && p.DeletionTimestamp.IsZero() && !finished(p) {
				one := countedPod{p, c.kinds.of(p), n.Node}
				c.counted = append(c.counted, one)
				c.inSpace[p.Namespace] = append(c.inSpace[p.Namespace], one)
			}
		}
	}
	c.findKinds(w.leavingPods())
	c.readBonds()
	c.readSpreads(w.waitingPods())
	return c
}

// findKinds lists the kinds of the counted pods, and of those that lose their place: they
// may be on nodes that there are not yet.
func (c *spreadCensus) findKinds(leaving []*corev1.Pod) {
	seen := map[*podKind]bool{}
	add := func(kind *podKind) {
		if !seen[kind] {
			seen[kind] = true
			c.present = append(c.present, kind)
		}
	}
	for _, p := range c.counted {
		add(p.kind)
	}
	for _, p := range leaving {
		add(c.kinds.of(p))
	}
}

// pins are the labels of its node that a pod of a kind must keep, nil if there are
// none.
func (c *spreadCensus) pins(kind *podKind, node *corev1.Node) map[string]string {
	out := c.bonded(kind, node)
	spreads := c.facts(kind).spreads
	for i := range spreads {
		t := &spreads[i]
		domain, found := node.Labels[t.TopologyKey]
		if !found {
			continue
		}
		counts := c.counts(kind, t)
		if counts[domain]-t.least(counts) > int(t.MaxSkew) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[t.TopologyKey] = domain
	}
	return out
}

// counts are the pods that a constraint of pods of a kind counts, by domain that
// they may be in. They are the same for all pods of a workload.
func (c *spreadCensus) counts(kind *podKind, t *ownSpread) map[string]int {
	if t.counts != nil {
		return t.counts
	}
	counts, found := c.known[t.text]
	if !found {
		counts = c.count(kind.pod, t)
		c.known[t.text] = counts
	}
	t.counts = counts
	return counts
}

// count counts them: on nodes that the constraint looks at, as kube-scheduler does.
func (c *spreadCensus) count(p *corev1.Pod, t *ownSpread) map[string]int {
	counts := map[string]int{}
	looks := t.view(p)
	for domain, nodes := range c.domainsOver(t.TopologyKey) { // each by itself: the order does not matter
		if slices.ContainsFunc(nodes, looks.at) {
			counts[domain] = 0
		}
	}
	for _, other := range c.among(&t.pods) {
		domain, found := other.node.Labels[t.TopologyKey]
		if _, eligible := counts[domain]; found && eligible && t.pods.Select(other.pod.Namespace, other.pod.Labels) && looks.at(other.node) {
			counts[domain]++
		}
	}
	return counts
}

// domainsOver are the nodes by their values of a label.
func (c *spreadCensus) domainsOver(key string) map[string][]*corev1.Node {
	if known, found := c.domains[key]; found {
		return known
	}
	out := map[string][]*corev1.Node{}
	for _, n := range c.nodes {
		if value, found := n.Labels[key]; found {
			out[value] = append(out[value], n)
		}
	}
	c.domains[key] = out
	return out
}

// among are the pods that some may be among.
func (c *spreadCensus) among(pods *podterm.Pods) []countedPod {
	if len(pods.Namespaces) != 1 {
		return c.counted
	}
	namespace := pods.Namespaces[0]
	key, value, single := singleValue(pods.Selector)
	if !single {
		return c.inSpace[namespace]
	}
	if c.byLabel == nil {
		c.byLabel = map[labelIn][]countedPod{}
		for _, p := range c.counted {
			for key, value := range p.pod.Labels { // each in a list of its own
				at := labelIn{p.pod.Namespace, key, value}
				c.byLabel[at] = append(c.byLabel[at], p)
			}
		}
	}
	return c.byLabel[labelIn{namespace, key, value}]
}
