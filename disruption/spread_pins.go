package disruption

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// pinned is the fleet with pods kept in the domains that they are spread over.
func (f *Fleet) pinned() *Fleet {
	pinned := *f
	pinned.pinSpread = true
	return &pinned
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
		if n.Node == nil || w.leaving[n.Name()] {
			continue
		}
		var pods []*corev1.Pod
		for k, p := range n.Pods {
			if p == nil {
				continue
			}
			kind := c.kinds.of(p)
			held := c.pins(kind, n.Node)
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
	counted []countedPod
	inSpace map[string][]countedPod  // the same by namespace
	byLabel map[labelIn][]countedPod // and by label; nil while nobody asked
	known   map[string]map[string]int
	spaces  namespaces
	bonds   bonds
	spreads spreads
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
	counting  []*spread // that count them; nil while nobody asked
	asked     bool
}

// ownSpread is a topology spread of a pod that must hold, other than by node.
type ownSpread struct {
	*corev1.TopologySpreadConstraint
	text     string // see spreadKey
	selector labels.Selector
	counts   map[string]int // nil while nobody asked
}

// facts are what is known of a kind, once all bonds are read.
func (c *spreadCensus) facts(kind *podKind) *kindFacts {
	for len(c.read) <= kind.number {
		c.read = append(c.read, nil)
	}
	if c.read[kind.number] == nil {
		f := &kindFacts{selecting: c.bonds.selecting(kind.pod)}
		for i := range kind.pod.Spec.TopologySpreadConstraints {
			t := &kind.pod.Spec.TopologySpreadConstraints[i]
			if t.WhenUnsatisfiable == corev1.DoNotSchedule && t.TopologyKey != corev1.LabelHostname {
				own := ownSpread{TopologySpreadConstraint: t}
				own.text, own.selector = spreadKey(kind.pod, t)
				f.spreads = append(f.spreads, own)
			}
		}
		c.read[kind.number] = f
	}
	return c.read[kind.number]
}

func newSpreadCensus(w *world) *spreadCensus {
	c := &spreadCensus{kinds: w.kinds, inSpace: map[string][]countedPod{}, known: map[string]map[string]int{}, spaces: newNamespaces(&w.in)}
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
	c.readBonds()
	c.readSpreads(w.waitingPods())
	return c
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
		least := counts[domain]
		for _, n := range counts {
			least = min(least, n)
		}
		if counts[domain]-least > int(t.MaxSkew) {
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

func (c *spreadCensus) count(p *corev1.Pod, t *ownSpread) map[string]int {
	counts := map[string]int{}
	affinity := nodeaffinity.GetRequiredNodeAffinity(p)
	for _, n := range c.nodes {
		domain, found := n.Labels[t.TopologyKey]
		if !found {
			continue
		}
		if _, known := counts[domain]; known {
			continue
		}
		if ok, err := affinity.Match(n); ok && err == nil {
			counts[domain] = 0
		}
	}
	for _, other := range c.among(p.Namespace, t.selector) {
		domain, found := other.node.Labels[t.TopologyKey]
		if _, eligible := counts[domain]; found && eligible && t.selector.Matches(labels.Set(other.pod.Labels)) && sameKeys(t.MatchLabelKeys, p.Labels, other.pod.Labels) {
			counts[domain]++
		}
	}
	return counts
}

// spreadKey is the same for constraints that count the same pods in the same
// domains. It returns whom they select as well.
func spreadKey(p *corev1.Pod, t *corev1.TopologySpreadConstraint) (string, labels.Selector) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		selector = labels.Nothing()
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%s|%s|%s", p.Namespace, t.TopologyKey, selector)
	for _, name := range t.MatchLabelKeys {
		if value, found := p.Labels[name]; found {
			fmt.Fprintf(&key, "|%s=%s", name, value)
		}
	}
	writeNodeDemand(&key, p)
	return key.String(), selector
}

// among are the pods of a namespace that a selector may select.
func (c *spreadCensus) among(namespace string, selector labels.Selector) []countedPod {
	key, value, single := singleValue(selector)
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

// sameKeys reports whether two pods have the same values of some labels. A label
// that the first does not have does not count.
func sameKeys(keys []string, a, b map[string]string) bool {
	for _, key := range keys {
		if value, found := a[key]; found && value != b[key] {
			return false
		}
	}
	return true
}
