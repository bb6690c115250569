package compile

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// unplaceable finds classes that no plan can place: existing nodes and the limits of pools leave no
// room for them, or running pods exclude them. It assumes that other pods satisfy all affinities
// and topology spreads.
type unplaceable struct {
	p       *Problem
	options bitset.Set // options that limits allow
	scratch bitset.Set
}

func newUnplaceable(p *Problem) *unplaceable {
	out := &unplaceable{p: p, options: bitset.New(len(p.LowOptions)), scratch: bitset.New(len(p.LowOptions))}
	for i := range p.LowPools {
		low := &p.LowPools[i]
		for o := low.First; o < low.Last; o++ {
			if low.Limits == nil || Within(low.Uses[o-low.First], low.Limits) {
				out.options.Add(o)
			}
		}
	}
	return out
}

// anywhere says whether there may be a place for a pod of a class.
func (x *unplaceable) anywhere(c int) bool {
	keys := x.p.Table.Numbers(x.p.Rules.ByClass[c].Spans)
	if len(keys) == 0 {
		return x.in(c, nil, nil)
	}
	if slices.ContainsFunc(x.p.Cells[c], func(cell topology.Cell) bool {
		return !x.excludedByRunningPods(c, keys, cell.At) && x.in(c, keys, cell.At)
	}) {
		return true
	}
	for i := range x.p.Nodes {
		if n := &x.p.Nodes[i]; slices.Contains(PlaceOf(n, keys), topology.Unknown) && x.p.Copies(c, n) > 0 {
			return true // its pods may be in any of its domains
		}
	}
	return false
}

// excludedByRunningPods reports whether running pods exclude pods of a class from a cell by
// anti-affinity.
func (x *unplaceable) excludedByRunningPods(c int, keys, at []int) bool {
	d := &x.p.Rules.ByClass[c]
	there := func(rule *DomainRule, counts []int) bool {
		i := slices.Index(keys, rule.Key)
		return rule.Kind == topology.Apart && i >= 0 && at[i] >= 0 && counts[at[i]] > 0
	}
	return slices.ContainsFunc(d.Owns, func(r int) bool { return there(&x.p.Rules.Domain[r], x.p.Rules.Domain[r].Members) }) ||
		slices.ContainsFunc(d.Joins, func(r int) bool { return there(&x.p.Rules.Domain[r], x.p.Rules.Domain[r].Owners) })
}

// in says whether any node of a cell, existing or new, may have room for a pod of a class.
func (x *unplaceable) in(c int, keys, at []int) bool {
	options := x.scratch
	copy(options, x.p.Admission.Lowered(c))
	options.And(x.options)
	for i, k := range keys {
		if at[i] >= 0 {
			options.And(x.p.InPlace(k, at[i]))
		}
	}
	if !options.Empty() {
		return true
	}
	for i := range x.p.Nodes {
		if n := &x.p.Nodes[i]; (keys == nil || IsAt(n, keys, at)) && x.p.Copies(c, n) > 0 {
			return true
		}
	}
	return false
}

// findUnplaceable lists the unplaceable classes, and those of them that constraints between pods
// count. The latter are set aside from the search so that they do not affect counts.
func (p *Problem) findUnplaceable() {
	x := newUnplaceable(p)
	p.Unplaceable, p.Apart = bitset.New(len(p.Classes)), bitset.New(len(p.Classes))
	for c := range p.Classes {
		if p.Classes[c].Refusal == nil && (p.Classes[c].Headroom || x.anywhere(c)) {
			continue
		}
		p.Unplaceable.Add(c)
		if d := &p.Rules.ByClass[c]; len(d.Owns)+len(d.Joins)+len(d.Soft)+len(d.With) > 0 {
			p.Apart.Add(c)
		}
	}
}
