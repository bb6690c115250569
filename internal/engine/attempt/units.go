package attempt

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// unit is pods that are assigned to domains: the pods of a class one by one, a bundle as a whole,
// or pods pinned to one node.
type unit struct {
	Members []Bundled
	Bundle  int // index of the bundle, -1 if the unit is no bundle
	Pinned  int // index of the pinned pods, -1 if the unit has none
	spans   []string
	Cells   []topology.Cell
	Count   int
	Leads   bool // its pods prefer a cell and do not require one
	Phase   compile.Phase
	depth   int
}

// units lists what must be assigned to domains, in the order of assignment: by phase; units that
// others depend on first; then by descending priority; then by ascending number of choices.
// Headroom comes last.
func units(p *compile.Problem, b *bundler, left []int, o Hints) []unit {
	var out []unit
	for c, n := range left {
		d := &p.Rules.ByClass[c]
		if n == 0 || d.Phase == compile.Leading || d.Phase > compile.ByDomain || len(d.Spans) == 0 {
			continue
		}
		out = append(out, unit{Members: []Bundled{{c, 1}}, Bundle: -1, Pinned: -1, spans: d.Spans, Cells: p.Cells[c], Count: n, Phase: d.Phase, depth: d.Depth})
	}
	for c, n := range left {
		if w := &p.Preferences[c]; n > 0 && len(w.Spans) > 0 && p.Rules.ByClass[c].Phase == compile.AtWill && !o.Relaxed[c] && !o.GivesUp(c) {
			out = append(out, unit{Members: []Bundled{{c, 1}}, Bundle: -1, Pinned: -1, spans: w.Spans, Cells: w.Cells, Count: n, Phase: compile.ByPreference, Leads: true})
		}
	}
	for i := range b.Bundles {
		u := unit{Members: b.Bundles[i].members, Bundle: i, Pinned: -1, Count: 1, Phase: b.Bundles[i].Phase}
		if u.spans = spansOf(p, u.Members); len(u.spans) > 0 {
			u.Cells = bundleCells(p.Finder, b, &b.Bundles[i], u.spans)
			out = append(out, u)
		}
	}
	for i, f := range b.Pinned {
		u := unit{Members: []Bundled{{f.Class, 1}}, Bundle: -1, Pinned: i, Count: f.count, Phase: p.Rules.ByClass[f.Class].Phase}
		if u.spans = spansOf(p, u.Members); len(u.spans) > 0 {
			keys := p.Table.Numbers(u.spans)
			if at := compile.PlaceOf(&p.Nodes[f.Node], keys); !slices.Contains(at, topology.Unknown) {
				u.Cells = []topology.Cell{{At: at, Room: math.MaxInt}}
			}
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(x, y unit) int {
		a, b := x.Members[0].Class, y.Members[0].Class
		return cmp.Or(order.Bools(p.Classes[a].Headroom, p.Classes[b].Headroom), cmp.Compare(x.Phase, y.Phase), cmp.Compare(x.depth, y.depth),
			-cmp.Compare(p.Classes[a].Priority, p.Classes[b].Priority), cmp.Compare(len(x.Cells), len(y.Cells)))
	})
	return out
}

// spansOf lists the labels that decide for any of several classes.
func spansOf(p *compile.Problem, members []Bundled) []string {
	var all compile.ClassRules
	for _, m := range members {
		for _, key := range p.Rules.ByClass[m.Class].Spans {
			all.Span(key)
		}
	}
	return all.Spans
}

// bundleCells lists the cells of a bundle.
func bundleCells(f *compile.CellFinder, b *bundler, bundle *bundle, spans []string) []topology.Cell {
	options := bitset.Full(f.P.Admission.Domains.Total)
	for _, m := range bundle.members {
		options.And(f.P.Admission.Lowered(m.Class))
	}
	options.And(f.P.Admission.Fits(bundle.request))
	keys := f.P.Table.Numbers(spans)
	return f.AddNodes(keys, f.Launchable(keys, options, bundle.request, f.P.Rates.Rater()), func(node int) int {
		n := &f.P.Nodes[node]
		if !compile.Within(bundle.request, b.free[node]) || slices.ContainsFunc(bundle.members, func(m Bundled) bool { return !f.P.Admits(m.Class, n) }) {
			return 0
		}
		return 1
	})
}

// state converts the assignment to a topology.Problem.
func (s *Attempt) state(p *compile.Problem) *topology.Problem {
	out := &topology.Problem{}
	for _, values := range p.Table.Values {
		out.Domains = append(out.Domains, len(values))
	}
	for i := range p.Rules.Domain {
		rule := p.Rules.Domain[i].Rule
		rule.Counted = slices.Clone(rule.Counted)
		out.Rules = append(out.Rules, rule)
	}
	for i := range s.Units {
		u := &s.Units[i]
		class := topology.Class{Count: u.Count, Cells: slices.Clone(u.Cells), Keys: p.Table.Numbers(u.spans)}
		if s.Rooms != nil {
			for c := range class.Cells {
				class.Cells[c].Room = s.Rooms[i][c]
			}
		}
		for _, m := range u.Members {
			addRules(p, &class, m)
		}
		countOwn(out, &class)
		out.Classes = append(out.Classes, class)
	}
	return out
}

// addRules adds the rules of a number of pods of a class.
func addRules(p *compile.Problem, class *topology.Class, m Bundled) {
	d := &p.Rules.ByClass[m.Class]
	for _, r := range d.Owns {
		i := slices.IndexFunc(class.Owns, func(o topology.Own) bool { return o.Rule == r })
		if i < 0 {
			i = len(class.Owns)
			class.Owns = append(class.Owns, topology.Own{Rule: r})
		}
		class.Owns[i].Count += m.Count
	}
	for _, r := range d.Soft {
		if slices.Contains(class.Keys, p.Rules.Domain[r].Key) {
			class.Owns = append(class.Owns, topology.Own{Rule: r, Count: m.Count, Weight: p.Rules.Domain[r].Term.Weight})
		}
	}
	for _, r := range d.Joins {
		if p.Classes[m.Class].Headroom && p.Rules.Domain[r].Kind != topology.Apart && !slices.Contains(d.Owns, r) {
			continue // headroom pods do not count for pods that exist
		}
		if p.Rules.Domain[r].Key < 0 {
			continue
		}
		i := slices.IndexFunc(class.Joins, func(j topology.Join) bool { return j.Rule == r })
		if i < 0 {
			i = len(class.Joins)
			class.Joins = append(class.Joins, topology.Join{Rule: r})
		}
		class.Joins[i].Count += m.Count
		if slices.Contains(d.Owns, r) {
			class.Joins[i].Both += m.Count
		}
	}
}

// countOwn marks the domains that the spreads of a class can use as counted. A domain where no node
// exists and none can be launched is not marked.
func countOwn(p *topology.Problem, c *topology.Class) {
	for _, own := range c.Owns {
		rule := &p.Rules[own.Rule]
		if rule.Kind != topology.Spread || own.Weight > 0 {
			continue
		}
		at := slices.Index(c.Keys, rule.Key)
		for i := range c.Cells {
			if d := c.Cells[i].At[at]; d >= 0 && c.Cells[i].Room > 0 {
				rule.Counted[d] = true
			}
		}
	}
}
