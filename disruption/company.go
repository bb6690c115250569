package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

// companies tells which pods share no node with which, by required anti-affinity
// over the name of the node. Terms that look for namespaces by their labels are
// left to the engine.
type companies struct {
	groups  []group
	index   map[string]int
	inSpace map[string][]int // groups, by the namespace that they are in
}

// group is a set of pods that other pods keep away from.
type group struct {
	namespaces []string
	selector   labels.Selector
}

// readCompanies lists the groups of the pods on all nodes.
func (e *estimate) readCompanies() *companies {
	c := &companies{index: map[string]int{}, inSpace: map[string][]int{}}
	for i := range e.w.in.Nodes {
		for _, p := range e.w.in.Nodes[i].Pods {
			if p != nil && !finished(p) {
				c.shunned(p)
			}
		}
	}
	for g := range c.groups {
		for _, space := range c.groups[g].namespaces {
			c.inSpace[space] = append(c.inSpace[space], g)
		}
	}
	return c
}

// shunned lists the groups that a pod keeps away from. New ones are added.
func (c *companies) shunned(p *corev1.Pod) []int {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	var out []int
	for _, term := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname || term.NamespaceSelector != nil || len(term.MatchLabelKeys)+len(term.MismatchLabelKeys) > 0 {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil {
			continue
		}
		namespaces := term.Namespaces
		if len(namespaces) == 0 {
			namespaces = []string{p.Namespace}
		}
		namespaces = slices.Sorted(slices.Values(namespaces))
		key := selector.String()
		for _, space := range namespaces {
			key += "|" + space
		}
		g, known := c.index[key]
		if !known {
			g = len(c.groups)
			c.index[key] = g
			c.groups = append(c.groups, group{namespaces: namespaces, selector: selector})
		}
		out = append(out, g)
	}
	return out
}

// of is what a pod is to others.
func (c *companies) of(p *corev1.Pod) screen.Company {
	if len(c.groups) == 0 {
		return screen.Company{}
	}
	words := (len(c.groups) + 63) / 64
	bits := make([]uint64, 2*words)
	out := screen.Company{Of: bits[:words:words], Shuns: bits[words:]}
	for _, g := range c.inSpace[p.Namespace] {
		if c.groups[g].selector.Matches(labels.Set(p.Labels)) {
			out.Of[g/64] |= 1 << (g % 64)
		}
	}
	for _, g := range c.shunned(p) {
		out.Shuns[g/64] |= 1 << (g % 64)
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
		one := c.of(p)
		for i := range words {
			out.Of[i] |= one.Of[i]
			out.Shuns[i] |= one.Shuns[i]
		}
	}
	return out
}
