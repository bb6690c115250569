package estimate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/disruption/internal/selectors"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// antiAffinityGroups tells which pods share no node with which, by required anti-affinity
// over the name of the node. Terms that look for namespaces by their labels are
// left to the engine.
type antiAffinityGroups struct {
	kinds   *podclass.Classes
	groups  []podclass.Group
	numbers map[string]int    // of groups, by key
	index   *selectors.Index  // by number
	known   []*screen.Company // by kind; nil while nobody asked
}

// readGroups lists the groups of the pods on all nodes.
func (e *Estimate) readGroups() *antiAffinityGroups {
	c := &antiAffinityGroups{kinds: e.in.Classes, numbers: map[string]int{}, index: selectors.NewIndex()}
	seen := map[*podclass.Class]bool{}
	for i := range e.in.Entries {
		for _, p := range e.in.Entries[i].Pods {
			if p == nil || podlife.Finished(p) || p.Spec.Affinity == nil {
				continue
			}
			if kind := c.kinds.Of(p); !seen[kind] {
				seen[kind] = true
				c.add(kind)
			}
		}
	}
	return c
}

// add adds the groups that pods of a kind keep away from and that are not there yet.
func (c *antiAffinityGroups) add(kind *podclass.Class) {
	for _, g := range kind.Shunned() {
		if _, known := c.numbers[g.Key]; !known {
			c.numbers[g.Key] = len(c.groups)
			c.index.Add(len(c.groups), g.Selector, g.Namespaces)
			c.groups = append(c.groups, g)
		}
	}
}

// of is what pods of a kind are to others.
func (c *antiAffinityGroups) of(kind *podclass.Class) screen.Company {
	if len(c.groups) == 0 {
		return screen.Company{}
	}
	for len(c.known) <= kind.Number {
		c.known = append(c.known, nil)
	}
	if c.known[kind.Number] == nil {
		company := c.read(kind)
		c.known[kind.Number] = &company
	}
	return *c.known[kind.Number]
}

func (c *antiAffinityGroups) read(kind *podclass.Class) screen.Company {
	words := (len(c.groups) + 63) / 64
	bits := make([]uint64, 2*words)
	out := screen.Company{Of: bits[:words:words], Shuns: bits[words:]}
	for _, n := range c.index.Candidates(kind.Pod) {
		if c.groups[n].Selects(kind.Pod) {
			out.Of[n/64] |= 1 << (n % 64)
		}
	}
	for _, g := range kind.Shunned() {
		if n, known := c.numbers[g.Key]; known { // that of a pod that is on no node may not be
			out.Shuns[n/64] |= 1 << (n % 64)
		}
	}
	return out
}

// all is what some pods are to others, together.
func (c *antiAffinityGroups) all(pods []*corev1.Pod) screen.Company {
	if len(c.groups) == 0 {
		return screen.Company{}
	}
	words := (len(c.groups) + 63) / 64
	out := screen.Company{Of: make([]uint64, words), Shuns: make([]uint64, words)}
	for _, p := range pods {
		if p == nil || podlife.Finished(p) {
			continue
		}
		one := c.of(c.kinds.Of(p))
		for i := range words {
			out.Of[i] |= one.Of[i]
			out.Shuns[i] |= one.Shuns[i]
		}
	}
	return out
}
