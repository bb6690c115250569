package simulation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// footprint lists the constraints and domains that an action changes, and those on which it
// depends.
type footprint struct {
	name    string // name of its first node
	changed map[constraint]map[string]bool
	depends map[constraint]map[string]bool
	removed map[domain]bool // domains of which it removes nodes
	opened  map[domain]bool // domains that have no nodes without this action, or without others that open them
}

// domain is a value of a label that a topology spread is over.
type domain struct{ key, value string }

// anywhere stands for all domains of a constraint.
const anywhere = "*"

// footprint returns the footprint of a set of nodes.
func (l *BindOrder) footprint(cs *CandidateSet, name string) *footprint {
	f := &footprint{name: name, changed: map[constraint]map[string]bool{}, depends: map[constraint]map[string]bool{}, removed: map[domain]bool{}, opened: map[domain]bool{}}
	net := map[constraint]map[string]int{}
	for i := range cs.Moves {
		a := l.arrival(cs, &cs.Moves[i])
		for _, k := range a.counted {
			delta, to := net[k], a.domains(k.kind, l.key(k))
			if a.from != nil && k.kind != overHosts {
				if value, found := a.from.Labels[l.key(k)]; found {
					more(&delta, value, -1)
				}
			}
			for _, value := range to {
				if more(&delta, value, 1); len(to) > 1 {
					mark(f.changed, k, value)
				}
			}
			net[k] = delta
		}
		f.dependOn(l, a)
	}
	for k, delta := range net { // the order does not matter
		for value, n := range delta {
			if n != 0 {
				mark(f.changed, k, value)
			}
		}
	}
	for _, m := range cs.Targets {
		if n := l.w.object(m.Name); n != nil {
			f.remove(l, n)
		}
	}
	f.countNodes(l, cs)
	return f
}

// remove records the domains of a node that is removed.
func (f *footprint) remove(l *BindOrder, n *corev1.Node) {
	for key := range l.all { // the order does not matter
		if value, found := n.Labels[key]; found {
			f.removed[domain{key, value}] = true
		}
	}
}

// dependOn records the constraints on which the place of a pod depends.
func (f *footprint) dependOn(l *BindOrder, a *arrival) {
	for _, o := range a.spreads {
		if o.kind == overLabel {
			mark(f.depends, o.constraint, anywhere)
			continue
		}
		for _, value := range a.domains(o.kind, corev1.LabelHostname) {
			mark(f.depends, o.constraint, value)
		}
	}
	for _, n := range a.terms {
		k := constraint{termMembers, n}
		for _, value := range a.domains(k.kind, l.key(k)) {
			mark(f.depends, k, value)
		}
		if !l.c.affinities.list[n].apart && slices.Contains(a.counted, k) { // the pod may be the first that the term selects
			mark(f.depends, k, anywhere)
		}
	}
	for _, n := range a.apart {
		k := constraint{termOwners, n}
		for _, value := range a.domains(k.kind, l.key(k)) {
			mark(f.depends, k, value)
		}
	}
}

// countNodes records the topology spreads whose number of domains changes: because this action, or
// one before it, removes the last node of a domain, or because the first node of a domain comes up.
// That node may be from any action that opens the domain. cs may be nil.
func (f *footprint) countNodes(l *BindOrder, cs *CandidateSet) {
	for key, before := range l.all { // the order does not matter
		sites := maps.Clone(before.sites)
		if cs != nil {
			for i := range cs.Nodes {
				for _, value := range domainsOf(&cs.Nodes[i], key) {
					if d := (domain{key, value}); sites[value] <= 0 || slices.ContainsFunc(l.done, func(other *footprint) bool { return other.opened[d] }) {
						f.opened[d] = true
						f.changes(l, key)
					}
				}
			}
			for _, m := range cs.Targets {
				if n := l.w.object(m.Name); n != nil {
					if value, found := n.Labels[key]; found {
						sites[value]--
					}
				}
			}
		}
		for d := range f.removed { // the order does not matter
			if d.key != key || sites[d.value] > 0 {
				continue
			}
			f.changes(l, key)
			for _, other := range l.done {
				if other.removed[d] {
					other.changes(l, key)
				}
			}
		}
	}
}

// changes records that the set of domains of a label changes.
func (f *footprint) changes(l *BindOrder, key string) {
	for n, s := range l.c.spreads.list {
		if s.own.TopologyKey == key {
			mark(f.changed, constraint{overLabel, n}, anywhere)
		}
	}
}

func mark(in map[constraint]map[string]bool, k constraint, value string) {
	if in[k] == nil {
		in[k] = map[string]bool{}
	}
	in[k][value] = true
}

// touches reports whether an action changes something on which another depends.
func (f *footprint) touches(other *footprint) bool {
	for k, depends := range other.depends { // the order does not matter
		changed := f.changed[k]
		if len(changed) > 0 && (depends[anywhere] || changed[anywhere]) {
			return true
		}
		for value := range depends {
			if changed[value] {
				return true
			}
		}
	}
	return false
}
