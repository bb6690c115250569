package estimate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/disruption/internal/selectors"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// antiAffinityGroups records which pods may not share a node, by required anti-affinity over the
// name of the node. Terms with a namespace selector are left to the engine.
type antiAffinityGroups struct {
	kinds   *podclass.Classes
	groups  []podclass.Group
	numbers map[string]int         // index in groups, by key
	index   *selectors.Index       // by index in groups
	known   []*screen.AntiAffinity // by number of the class; nil until it is needed
}

// readGroups returns the groups that the pods on all nodes have anti-affinity to.
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

// add adds the groups to which pods of a kind have anti-affinity, unless they are known.
func (c *antiAffinityGroups) add(kind *podclass.Class) {
	for _, g := range kind.Excluded() {
		if _, known := c.numbers[g.Key]; !known {
			c.numbers[g.Key] = len(c.groups)
			c.index.Add(len(c.groups), g.Selector, g.Namespaces)
			c.groups = append(c.groups, g)
		}
	}
}

// of returns the groups of pods of a kind, and the groups that they exclude.
func (c *antiAffinityGroups) of(kind *podclass.Class) screen.AntiAffinity {
	if len(c.groups) == 0 {
		return screen.AntiAffinity{}
	}
	for len(c.known) <= kind.Number {
		c.known = append(c.known, nil)
	}
	if c.known[kind.Number] == nil {
		groups := c.read(kind)
		c.known[kind.Number] = &groups
	}
	return *c.known[kind.Number]
}

func (c *antiAffinityGroups) read(kind *podclass.Class) screen.AntiAffinity {
	words := (len(c.groups) + 63) / 64
	bits := make([]uint64, 2*words)
	out := screen.AntiAffinity{Of: bits[:words:words], Excludes: bits[words:]}
	for _, n := range c.index.Candidates(kind.Pod) {
		if c.groups[n].Selects(kind.Pod) {
			out.Of[n/64] |= 1 << (n % 64)
		}
	}
	for _, g := range kind.Excluded() {
		if n, known := c.numbers[g.Key]; known { // a pod that is on no node may have a group that is unknown
			out.Excludes[n/64] |= 1 << (n % 64)
		}
	}
	return out
}

// all returns the union of the groups of some pods, and of the groups that they exclude.
func (c *antiAffinityGroups) all(pods []*corev1.Pod) screen.AntiAffinity {
	if len(c.groups) == 0 {
		return screen.AntiAffinity{}
	}
	words := (len(c.groups) + 63) / 64
	out := screen.AntiAffinity{Of: make([]uint64, words), Excludes: make([]uint64, words)}
	for _, p := range pods {
		if p == nil || podlife.Finished(p) {
			continue
		}
		one := c.of(c.kinds.Of(p))
		for i := range words {
			out.Of[i] |= one.Of[i]
			out.Excludes[i] |= one.Excludes[i]
		}
	}
	return out
}
