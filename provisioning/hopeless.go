package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// outlook tells the classes whose pods have no place whatever becomes of all others:
// what exists and what limits leave has no room for them, or the pods that run there
// keep them away. It takes it that others meet all affinities and topology spreads.
type outlook struct {
	p       *Problem
	options bitset.Set // that limits allow
	scratch bitset.Set
}

func newOutlook(p *Problem) *outlook {
	out := &outlook{p: p, options: bitset.New(len(p.lowOptions)), scratch: bitset.New(len(p.lowOptions))}
	for i := range p.lowPools {
		low := &p.lowPools[i]
		for o := low.First; o < low.Last; o++ {
			if low.Limits == nil || within(low.Uses[o-low.First], low.Limits) {
				out.options.Add(o)
			}
		}
	}
	return out
}

// anywhere says whether there may be a place for a pod of a class.
func (x *outlook) anywhere(c int) bool {
	keys := x.p.table.numbers(x.p.rules.duties[c].spans)
	if len(keys) == 0 {
		return x.in(c, nil, nil)
	}
	if slices.ContainsFunc(x.p.cells[c], func(cell topology.Cell) bool { return !x.keptFrom(c, keys, cell.At) && x.in(c, keys, cell.At) }) {
		return true
	}
	for i := range x.p.nodes {
		if n := &x.p.nodes[i]; slices.Contains(placeOf(n, keys), topology.Unknown) && x.p.copies(c, n) > 0 {
			return true // its pods may come to any of its domains
		}
	}
	return false
}

// keptFrom says whether anti-affinity keeps pods of a class out of a cell for the sake
// of pods that run.
func (x *outlook) keptFrom(c int, keys, at []int) bool {
	d := &x.p.rules.duties[c]
	there := func(rule *domainRule, counts []int) bool {
		i := slices.Index(keys, rule.Rule.Key)
		return rule.Kind == topology.Apart && i >= 0 && at[i] >= 0 && counts[at[i]] > 0
	}
	return slices.ContainsFunc(d.owns, func(r int) bool { return there(&x.p.rules.domain[r], x.p.rules.domain[r].Members) }) ||
		slices.ContainsFunc(d.joins, func(r int) bool { return there(&x.p.rules.domain[r], x.p.rules.domain[r].Owners) })
}

// in says whether some node of a cell, existing or new, may have room for a pod of a
// class.
func (x *outlook) in(c int, keys, at []int) bool {
	options := x.scratch
	copy(options, x.p.admission.lowered(c))
	options.And(x.options)
	for i, k := range keys {
		if at[i] >= 0 {
			options.And(x.p.inPlace(k, at[i]))
		}
	}
	if !options.Empty() {
		return true
	}
	for i := range x.p.nodes {
		if n := &x.p.nodes[i]; (keys == nil || isAt(n, keys, at)) && x.p.copies(c, n) > 0 {
			return true
		}
	}
	return false
}

// findHopeless lists the classes of hopeless pods, and those of them that constraints
// between pods count: they might divert others, and so have no part in the search.
func (p *Problem) findHopeless() {
	x := newOutlook(p)
	p.hopeless, p.apart = bitset.New(len(p.classes)), bitset.New(len(p.classes))
	for c := range p.classes {
		if p.classes[c].refusal == nil && (p.classes[c].headroom || x.anywhere(c)) {
			continue
		}
		p.hopeless.Add(c)
		if d := &p.rules.duties[c]; len(d.owns)+len(d.joins)+len(d.soft)+len(d.with) > 0 && !p.skips(setAside) {
			p.apart.Add(c)
		}
	}
}

// keptAway says which constraint keeps the pods of a class that had no part in the
// search from every domain, as the plan is; nil if none does by itself.
func (a *assembler) keptAway(c int) *Reason {
	p := a.p
	if d := &p.rules.duties[c]; p.classes[c].refusal != nil || !p.apart.Has(c) && !a.s.absent[c] || len(d.spans) == 0 {
		return nil
	}
	l, nowhere := newLedger(p, a.bins()), &bin{number: -1, node: -1}
	d, keys := &p.rules.duties[c], p.table.numbers(p.rules.duties[c].spans)
	for _, r := range slices.Concat(d.owns, d.joins) {
		rule, count := &p.rules.domain[r], &l.counts[r]
		at := slices.Index(keys, rule.Rule.Key)
		own := slices.Contains(d.owns, r)
		if at < 0 || !own && rule.Kind != topology.Apart {
			continue
		}
		open := func(cell topology.Cell) bool {
			d := cell.At[at]
			if d < 0 {
				return !own || rule.Kind == topology.Apart
			}
			return (!own || l.ruleAllows(c, r, d, nowhere)) && (rule.Kind != topology.Apart || count.owners[d] == 0)
		}
		if !slices.ContainsFunc(p.cells[c], open) {
			return p.blockedBy(c, rule, count.most, count.is)
		}
	}
	return nil
}
