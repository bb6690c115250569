package provisioning

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// unit is pods that domains are assigned to: those of a class one by one, a
// bundle as a whole, or pods that can only go to one node.
type unit struct {
	members []bundled
	bundle  int // index of the bundle, -1 if it is none
	pinned  int // index of the pinned pods, -1 if it is none
	spans   []string
	cells   []topology.Cell
	count   int
	leads   bool // its pods need no cell, but others follow them
	phase   phase
	depth   int
}

// units lists what domains must be assigned to, in the order of service: by
// phase; those that others wait for first; then by priority; those with little
// choice before those with much. Pods that do not exist come last.
func (p *Problem) units(b *bundler, left []int, o hints) []unit {
	var out []unit
	for c, n := range left {
		d := &p.rules.duties[c]
		if n == 0 || d.phase == leading || d.phase > byDomain || len(d.spans) == 0 {
			continue
		}
		u := unit{members: []bundled{{c, 1}}, bundle: -1, pinned: -1, spans: d.spans, cells: p.cells[c], count: n, phase: d.phase, depth: d.depth}
		if len(d.owns) == 0 && p.leads(c) && !p.skips(leadersOnly) {
			// One pod in each cell is enough to be followed.
			u.leads, u.count = true, min(n, max(len(u.cells), 1))
		}
		out = append(out, u)
	}
	for c, n := range left {
		if w := &p.preferences[c]; n > 0 && len(w.spans) > 0 && p.rules.duties[c].phase == atWill && !o.relaxed[c] && !o.givesUp(c) {
			out = append(out, unit{members: []bundled{{c, 1}}, bundle: -1, pinned: -1, spans: w.spans, cells: w.cells, count: n, phase: byPreference, leads: true})
		}
	}
	for i := range b.bundles {
		u := unit{members: b.bundles[i].members, bundle: i, pinned: -1, count: 1, phase: b.bundles[i].phase}
		if u.spans = p.spansOf(u.members); len(u.spans) > 0 {
			u.cells = p.finder.bundleCells(b, &b.bundles[i], u.spans)
			out = append(out, u)
		}
	}
	for i, f := range b.pinned {
		u := unit{members: []bundled{{f.class, 1}}, bundle: -1, pinned: i, count: f.count, phase: p.rules.duties[f.class].phase}
		if u.spans = p.spansOf(u.members); len(u.spans) > 0 {
			keys := p.table.numbers(u.spans)
			if at := placeOf(&p.nodes[f.node], keys); !slices.Contains(at, topology.Unknown) {
				u.cells = []topology.Cell{{At: at, Room: math.MaxInt}}
			}
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(x, y unit) int {
		a, b := x.members[0].class, y.members[0].class
		return cmp.Or(compareBools(p.classes[a].headroom, p.classes[b].headroom), cmp.Compare(x.phase, y.phase), cmp.Compare(x.depth, y.depth),
			-cmp.Compare(p.classes[a].priority, p.classes[b].priority), cmp.Compare(len(x.cells), len(y.cells)))
	})
	return out
}

// spansOf lists the labels that decide for any of several classes.
func (p *Problem) spansOf(members []bundled) []string {
	var all duty
	for _, m := range members {
		for _, key := range p.rules.duties[m.class].spans {
			all.span(key)
		}
	}
	return all.spans
}

// leads says whether the only business of a class is to be followed: then one
// pod in each cell will do, and the others go anywhere.
func (p *Problem) leads(c int) bool {
	for _, j := range p.rules.duties[c].joins {
		if p.rules.domain[j].Kind == topology.Apart {
			return false
		}
	}
	return p.rules.duties[c].phase == byDomain
}

// bundleCells lists the cells of a bundle.
func (f *cellFinder) bundleCells(b *bundler, bundle *bundle, spans []string) []topology.Cell {
	options := bitset.New(f.a.domains.total)
	options.AddRange(0, f.a.domains.total)
	for _, m := range bundle.members {
		options.And(f.a.lowered(m.class))
	}
	options.And(f.a.fits(bundle.request))
	keys := f.p.table.numbers(spans)
	return f.addNodes(keys, f.launchable(keys, options, bundle.request, f.p.rates.rater()), func(node int) int {
		n := &f.p.nodes[node]
		if !within(bundle.request, b.free[node]) || slices.ContainsFunc(bundle.members, func(m bundled) bool { return !f.p.admits(m.class, n) }) {
			return 0
		}
		return 1
	})
}

// state puts the assignment into numbers.
func (s *attempt) state(p *Problem) *topology.Problem {
	out := &topology.Problem{}
	for _, values := range p.table.values {
		out.Domains = append(out.Domains, len(values))
	}
	number := make([]int, len(p.rules.domain)) // of those rules that concern anybody
	for i := range p.rules.domain {
		number[i] = -1
		rule := &p.rules.domain[i]
		if rule.Rule.Key < 0 {
			continue
		}
		number[i] = len(out.Rules)
		low := rule.Rule
		low.Counted = slices.Clone(low.Counted)
		if s.incidentalDomains != nil {
			for d := range low.Counted {
				low.Counted[d] = low.Counted[d] || s.incidentalDomains[i][d]
			}
		}
		out.Rules = append(out.Rules, low)
	}
	for i := range s.units {
		u := &s.units[i]
		class := topology.Class{Count: u.count, Cells: slices.Clone(u.cells), Keys: p.table.numbers(u.spans)}
		if s.rooms != nil {
			for c := range class.Cells {
				class.Cells[c].Room = s.rooms[i][c]
			}
		}
		for _, m := range u.members {
			p.addDuty(&class, m, number, s.plain)
		}
		countOwn(out, &class)
		out.Classes = append(out.Classes, class)
	}
	return out
}

// addDuty adds what the rules ask of a number of pods of a class.
func (p *Problem) addDuty(class *topology.Class, m bundled, number []int, plain bool) {
	d := &p.rules.duties[m.class]
	for _, r := range d.owns {
		i := slices.IndexFunc(class.Owns, func(o topology.Own) bool { return o.Rule == number[r] })
		if i < 0 {
			i = len(class.Owns)
			class.Owns = append(class.Owns, topology.Own{Rule: number[r]})
		}
		class.Owns[i].Count += m.count
	}
	for _, r := range d.soft {
		if !plain && number[r] >= 0 && slices.Contains(class.Keys, p.rules.domain[r].Rule.Key) {
			class.Owns = append(class.Owns, topology.Own{Rule: number[r], Count: m.count, Weight: p.rules.domain[r].term.weight})
		}
	}
	for _, r := range d.joins {
		if p.classes[m.class].headroom && p.rules.domain[r].Kind != topology.Apart && !slices.Contains(d.owns, r) {
			continue // pods that do not exist are nobody to spread from or to follow
		}
		if number[r] < 0 || plain && p.rules.domain[r].term.weight > 0 {
			continue
		}
		i := slices.IndexFunc(class.Joins, func(j topology.Join) bool { return j.Rule == number[r] })
		if i < 0 {
			i = len(class.Joins)
			class.Joins = append(class.Joins, topology.Join{Rule: number[r]})
		}
		class.Joins[i].Count += m.count
		if slices.Contains(d.owns, r) {
			class.Joins[i].Both += m.count
		}
		class.Joins[i].Unsure = p.unsure(class, m.class, r, class.Joins[i].Unsure)
	}
}

// countOwn makes the domains that a class can go to count for its spreads. A
// domain where nothing can be launched after all is none, unless a node is
// there.
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

// unsure says, by cell, whether a spread rule may not count pods of a class, as
// it looks only at nodes that its own pods may use; nil if it counts them
// everywhere. What is known of other pods of the same unit is added.
func (p *Problem) unsure(unit *topology.Class, c, r int, known []bool) []bool {
	rule := &p.rules.domain[r]
	if rule.Kind != topology.Spread || slices.Contains(p.rules.duties[c].owns, r) {
		return known
	}
	if !rule.term.honorTaint && len(rule.spans) < 2 && !(rule.term.honorAffinity && asksOfNodes(p.pod(rule.like))) {
		return known
	}
	looked := p.lookedAt(rule, true)
	lowered := p.admission.lowered(c)
	out := make([]bool, len(unit.Cells))
	for i := range unit.Cells {
		here := lowered.Clone()
		for j, k := range unit.Keys {
			if d := unit.Cells[i].At[j]; d >= 0 {
				here.And(p.inPlace(k, d))
			}
		}
		out[i] = known != nil && known[i] || !here.SubsetOf(looked) || p.overlooks(rule, c, unit, i)
	}
	return out
}

// overlooks says whether a spread rule does not look at some node of a cell that
// pods of a class may go to.
func (p *Problem) overlooks(rule *domainRule, c int, unit *topology.Class, cell int) bool {
	for i := range p.nodes {
		n := &p.nodes[i]
		if isAt(n, unit.Keys, unit.Cells[cell].At) && p.admits(c, n) && !p.looksAt(rule, n) {
			return true
		}
	}
	return false
}
