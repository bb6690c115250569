package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
)

// footprint lists the counts and domains that an action changes, and those on which it depends.
type footprint struct {
	name    string // name of its first node
	changed map[engine.Count]map[string]bool
	depends map[engine.Count]map[string]bool
	removed map[domain]bool // domains of which it removes nodes
	opened  map[domain]bool // domains that have no nodes without this action, or without others that open them
}

// domain is a value of a label that a topology spread is over.
type domain struct{ key, value string }

// anywhere stands for all domains of a count.
const anywhere = "*"

// footprint returns the footprint of an action with a name, whose new nodes have been launched.
func (l *BindOrder) footprint(cs *CandidateSet, name string) *footprint {
	f := &footprint{name: name, changed: map[engine.Count]map[string]bool{}, depends: map[engine.Count]map[string]bool{}, removed: map[domain]bool{}, opened: map[domain]bool{}}
	net := map[engine.Count]map[string]int{}
	for i := range cs.Moves {
		a := l.arrival(&cs.Moves[i], name)
		for _, k := range a.concern.Counts {
			delta := net[k]
			if delta == nil {
				delta = map[string]int{}
				net[k] = delta
			}
			for _, value := range l.left(a.from, k.Key) {
				delta[value]--
			}
			to := l.Domains(a.to, k.Key)
			for _, value := range to {
				if delta[value]++; len(to) > 1 {
					mark(f.changed, k, value)
				}
			}
		}
		f.dependOn(l, &a)
	}
	for k, delta := range net { // the order does not matter
		for value, n := range delta {
			if n != 0 && (k.Key != corev1.LabelHostname || n > 0) {
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

// left returns the domains of a node from which a pod departs. The state has no nodes of earlier
// decisions, which are leaving already.
func (l *BindOrder) left(node, key string) []string {
	if out := l.Domains(node, key); len(out) > 0 {
		return out
	}
	if n := l.w.object(node); n != nil && n.Labels[key] != "" {
		return []string{n.Labels[key]}
	}
	return nil
}

// remove records the domains of a node that is removed.
func (f *footprint) remove(l *BindOrder, n *corev1.Node) {
	for _, k := range l.Spreads() {
		if value, found := n.Labels[k.Key]; found {
			f.removed[domain{k.Key, value}] = true
		}
	}
}

// dependOn records the counts on which the place of a pod depends.
func (f *footprint) dependOn(l *BindOrder, a *arrival) {
	there := func(k engine.Count) {
		for _, value := range l.Domains(a.to, k.Key) {
			mark(f.depends, k, value)
		}
	}
	for _, k := range a.concern.Spreads {
		if k.Key == corev1.LabelHostname {
			there(k)
		} else {
			mark(f.depends, k, anywhere)
		}
	}
	for _, k := range a.concern.With {
		if there(k); slices.Contains(a.concern.Counts, k) { // the pod may be the first that the affinity selects
			mark(f.depends, k, anywhere)
		}
	}
	for _, k := range a.concern.Apart {
		there(k)
	}
}

// countNodes records the topology spreads whose number of domains changes: because this action, or
// one before it, removes the last node of a domain, or because the first node of a domain comes up.
// That node may be from any action that opens the domain. cs may be nil.
func (f *footprint) countNodes(l *BindOrder, cs *CandidateSet) {
	var keys []string
	for _, k := range l.Spreads() {
		if !slices.Contains(keys, k.Key) {
			keys = append(keys, k.Key)
		}
	}
	for _, key := range keys {
		sites := l.Sites(key)
		if cs != nil {
			var fresh []string
			for i := range cs.Nodes {
				fresh = append(fresh, l.Domains(newName(f.name, i), key)...)
			}
			for _, value := range fresh {
				sites[value]--
			}
			for _, value := range fresh {
				if d := (domain{key, value}); sites[value] <= 0 || slices.ContainsFunc(l.done, func(other *footprint) bool { return other.opened[d] }) {
					f.opened[d] = true
					f.changes(l, key)
				}
			}
			for _, m := range cs.Targets {
				for _, value := range l.Domains(m.Name, key) {
					sites[value]--
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
	for _, k := range l.Spreads() {
		if k.Key == key {
			mark(f.changed, k, anywhere)
		}
	}
}

func mark(in map[engine.Count]map[string]bool, k engine.Count, value string) {
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
