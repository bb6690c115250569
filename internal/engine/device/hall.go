package device

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// maxGroups is the largest number of groups for sets that are connected by overlaps. Five sets have
// 26 groups, so five sets are never too many, and sets that contain each other need few groups,
// however many they are.
const maxGroups = 32

// overlaps says which selector sets match common devices. A device is described by its signature,
// the sets that match it.
type overlaps struct {
	sets       int
	signatures []bitset.Set // distinct, none empty
	covers     []bitset.Set // by set: the signatures that contain it
	neighbours []bitset.Set // by set: the sets that share a signature with it
}

func newOverlaps(sets int, signatures []bitset.Set) *overlaps {
	o := &overlaps{sets: sets, signatures: signatures}
	for i := range sets {
		covers, neighbours := bitset.New(len(signatures)), bitset.New(sets)
		for j, s := range signatures {
			if s.Has(i) {
				covers.Add(j)
				neighbours.Or(s)
			}
		}
		neighbours.Add(i)
		o.covers = append(o.covers, covers)
		o.neighbours = append(o.neighbours, neighbours)
	}
	return o
}

// components divides the sets into components connected by overlaps, in ascending order.
func (o *overlaps) components() []bitset.Set {
	seen := bitset.New(o.sets)
	var out []bitset.Set
	for i := range o.sets {
		if seen.Has(i) {
			continue
		}
		c := o.neighbours[i].Clone()
		for grown := true; grown; {
			before := c.Len()
			for j := range c.Clone().All() {
				c.Or(o.neighbours[j])
			}
			grown = c.Len() > before
		}
		seen.Or(c)
		out = append(out, c)
	}
	return out
}

// closure adds to a group the sets that match only devices that the group matches anyway. The
// closure requests at least as many of the same devices, so its condition implies that of the
// group. A set without any device is left out; its own dimension excludes its pods.
func (o *overlaps) closure(group bitset.Set) bitset.Set {
	devices := bitset.New(len(o.signatures))
	for i := range group.All() {
		devices.Or(o.covers[i])
	}
	out := group.Clone()
	for i := range o.sets {
		if !o.covers[i].Empty() && o.covers[i].SubsetOf(devices) {
			out.Add(i)
		}
	}
	return out
}

// closedGroups returns the groups of two or more sets of a component that are connected by overlaps
// and closed. By Hall's theorem there are devices for all requests if the condition holds for every
// group of sets. The condition on a group that is not connected follows from those on its parts,
// and the condition on a group that is not closed from that on its closure. It returns false if
// there are more than maxGroups.
//
// Each closed connected group is found: it grows from the closure of one of its members, by one
// overlapping member and a closure at a time, and no such step leaves the group.
func (o *overlaps) closedGroups(component bitset.Set) ([]bitset.Set, bool) {
	known := map[string]bool{}
	var all []bitset.Set
	groups := 0
	add := func(g bitset.Set) {
		if key := g.Key(); !known[key] {
			known[key] = true
			all = append(all, g)
			if g.Len() > 1 {
				groups++
			}
		}
	}
	for i := range component.All() {
		add(o.closure(bitset.Of(o.sets, i)))
	}
	for next := 0; next < len(all) && groups <= maxGroups; next++ {
		beside := bitset.New(o.sets)
		for i := range all[next].All() {
			beside.Or(o.neighbours[i])
		}
		beside.AndNot(all[next])
		for i := range beside.All() {
			grown := all[next].Clone()
			grown.Add(i)
			add(o.closure(grown))
		}
	}
	if groups > maxGroups {
		return nil, false
	}
	return slices.DeleteFunc(all, func(g bitset.Set) bool { return g.Len() < 2 }), true
}
