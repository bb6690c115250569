package disruption

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

// companies tells which pods share no node with which, by required anti-affinity
// over the name of the node. Terms that look for namespaces by their labels are
// left to the engine.
type companies struct {
	kinds   *podKinds
	groups  []group
	numbers map[string]int    // of groups, by key
	index   *selectorIndex    // by number
	known   []*screen.Company // by kind; nil while nobody asked
}

// group is a set of pods that other pods keep away from.
type group struct {
	key        string // the same for the same pods
	namespaces []string
	selector   labels.Selector
}

// readCompanies lists the groups of the pods on all nodes.
func (e *estimate) readCompanies() *companies {
	c := &companies{kinds: e.w.kinds, numbers: map[string]int{}, index: newSelectorIndex()}
	seen := map[*podKind]bool{}
	for i := range e.w.in.Nodes {
		for _, p := range e.w.in.Nodes[i].Pods {
			if p == nil || finished(p) || p.Spec.Affinity == nil {
				continue
			}
			if kind := c.kinds.of(p); !seen[kind] {
				seen[kind] = true
				c.add(kind)
			}
		}
	}
	return c
}

// add adds the groups that pods of a kind keep away from and that are not there yet.
func (c *companies) add(kind *podKind) {
	for _, g := range kind.shunned() {
		if _, known := c.numbers[g.key]; !known {
			c.numbers[g.key] = len(c.groups)
			c.index.add(len(c.groups), g.selector, g.namespaces)
			c.groups = append(c.groups, g)
		}
	}
}

// shunned lists the groups that the pods keep away from.
func (k *podKind) shunned() []group {
	return k.shuns.get(func() []group { return shunned(k.pod) })
}

// shunned lists the groups that a pod keeps away from.
func shunned(p *corev1.Pod) []group {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	var out []group
	for _, term := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname || term.NamespaceSelector != nil || len(term.MatchLabelKeys)+len(term.MismatchLabelKeys) > 0 {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil {
			continue
		}
		g := group{selector: selector, namespaces: slices.Sorted(slices.Values(term.Namespaces))}
		if len(g.namespaces) == 0 {
			g.namespaces = []string{p.Namespace}
		}
		g.key = selector.String() + "|" + strings.Join(g.namespaces, "|")
		out = append(out, g)
	}
	return out
}

func (g *group) selects(p *corev1.Pod) bool {
	return slices.Contains(g.namespaces, p.Namespace) && g.selector.Matches(labels.Set(p.Labels))
}

// of is what pods of a kind are to others.
func (c *companies) of(kind *podKind) screen.Company {
	if len(c.groups) == 0 {
		return screen.Company{}
	}
	for len(c.known) <= kind.number {
		c.known = append(c.known, nil)
	}
	if c.known[kind.number] == nil {
		company := c.read(kind)
		c.known[kind.number] = &company
	}
	return *c.known[kind.number]
}

func (c *companies) read(kind *podKind) screen.Company {
	words := (len(c.groups) + 63) / 64
	bits := make([]uint64, 2*words)
	out := screen.Company{Of: bits[:words:words], Shuns: bits[words:]}
	for _, n := range c.index.candidates(kind.pod) {
		if c.groups[n].selects(kind.pod) {
			out.Of[n/64] |= 1 << (n % 64)
		}
	}
	for _, g := range kind.shunned() {
		if n, known := c.numbers[g.key]; known { // that of a pod that is on no node may not be
			out.Shuns[n/64] |= 1 << (n % 64)
		}
	}
	return out
}

// all is what some pods are to others, together.
func (c *companies) all(pods []*corev1.Pod) screen.Company {
	if len(c.groups) == 0 {
		return screen.Company{}
	}
	words := (len(c.groups) + 63) / 64
	out := screen.Company{Of: make([]uint64, words), Shuns: make([]uint64, words)}
	for _, p := range pods {
		if p == nil || finished(p) {
			continue
		}
		one := c.of(c.kinds.of(p))
		for i := range words {
			out.Of[i] |= one.Of[i]
			out.Shuns[i] |= one.Shuns[i]
		}
	}
	return out
}
