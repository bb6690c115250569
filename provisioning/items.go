package provisioning

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// lower makes items of the parts and hands them to the packer.
func (s *attempt) lower(p *Problem) {
	rules := p.packRules()
	for range s.raised {
		rules = append(rules, pack.Rule{Kind: pack.Apart})
	}
	lowered := &pack.Problem{Dims: len(p.resources) + len(p.rules.slots), Traits: p.traits, Pools: p.lowPools, Options: p.lowOptions, Capacities: p.distinct, Rules: rules,
		Reservations: p.catalog.stocks.sizes, NoBound: p.opts.NoBounds, Coarse: p.opts.Quick || s.coarse, StrictReservation: p.opts.Reserved == ReservedStrict,
		Fee: p.opts.NodeFee, Flexible: p.flexible}
	index := map[string]int32{}
	var buf []byte
	for i := range s.single {
		part := &s.parts[i]
		class, l := p.admission.lowerWith(part.class, part.pin, s.preferred(p, part.class), s.kinds)
		class.Count = part.count
		class.Urgency = s.priorityWeight(p, part.class)
		class.Content = s.relaxed[part.class]
		class.Memberships = p.rules.duties[part.class].parts
		if part.each > 0 {
			l.each = part.each
			s.groupClass(p, part, &class, len(p.rules.node)+part.rule)
		}
		if part.rises {
			class.Urgency *= priorityWeightStep
		}
		buf = s.itemKey(buf[:0], p, part, &class, &l)
		id, fresh := intern(index, buf, int32(len(s.items)))
		if fresh {
			s.items = append(s.items, l)
			lowered.Classes = append(lowered.Classes, class)
		} else {
			lowered.Classes[id].Count += class.Count
		}
		s.items[id].parts = append(s.items[id].parts, i)
	}
	s.orderParts(p)
	s.lowerBundles(p, lowered)
	s.admitNodes(p, lowered)
	s.packer = pack.New(lowered)
}

// orderParts puts the parts of each item in the order in which they get what there is
// for the item: by priority. To the packer their pods are alike.
func (s *attempt) orderParts(p *Problem) {
	for l := range s.items {
		slices.SortStableFunc(s.items[l].parts, func(a, b int) int {
			return -cmp.Compare(p.classes[s.parts[a].class].priority, p.classes[s.parts[b].class].priority)
		})
	}
}

// preferred are the options that a class is to have where some of them will do,
// nil if all are alike: those it prefers, unless it has to do without, of those
// that are kept.
func (s *attempt) preferred(p *Problem, c int) bitset.Set {
	preference := p.preferences[c].options
	if s.givesUp(c) {
		preference = p.preferences[c].steady
	}
	switch {
	case s.relaxed[c] || preference == nil:
		return s.kept
	case s.kept == nil || !preference.Overlaps(s.kept):
		return preference
	}
	both := preference.Clone()
	both.And(s.kept)
	return both
}

// packRules are the rules between the pods of one node.
func (p *Problem) packRules() []pack.Rule {
	out := make([]pack.Rule, len(p.rules.node))
	for i := range out {
		out[i] = p.rules.node[i].Rule
	}
	return out
}

// lowerBundles adds an item for each bundle that has a place to go.
func (s *attempt) lowerBundles(p *Problem, lowered *pack.Problem) {
	for i, parts := range s.bundleParts {
		if len(parts) == 0 {
			continue
		}
		b := &s.bundler.bundles[i]
		class, l := p.admission.lowerBundle(b, s.parts[parts[0]].pin, s.kept, s.kinds)
		class.Urgency = s.priorityWeight(p, b.members[0].class)
		l.parts = parts
		for _, m := range b.members {
			l.units = append(l.units, m.count)
		}
		s.items = append(s.items, l)
		lowered.Classes = append(lowered.Classes, class)
	}
}

// itemKey tells parts apart that the packer must tell apart.
func (s *attempt) itemKey(buf []byte, p *Problem, part *part, c *pack.Class, l *item) []byte {
	number := func(n int64) { buf = binary.AppendVarint(buf, n) }
	number(int64(l.content))
	number(int64(part.each))
	number(int64(c.Urgency))
	if c.Content {
		number(-1)
	}
	number(int64(len(c.Memberships)))
	for _, r := range c.Memberships {
		number(int64(r.Rule))
		number(int64(r.Owners))
		number(int64(r.Members))
		number(int64(r.Both))
	}
	if len(p.nodes) > 0 {
		number(int64(p.nodeClass[part.class]))
		if p.classes[part.class].hasVolumes {
			buf = append(buf, p.classes[part.class].volumeKey...)
		}
		if d := p.classes[part.class].devices; d != nil {
			buf = append(buf, d.Key()...)
		}
		if part.unit >= 0 {
			class := &s.problem.Classes[part.unit]
			for i, key := range class.Keys {
				number(int64(key))
				number(int64(class.Cells[part.cell].At[i]))
			}
		}
	}
	return buf
}

// admitNodes says which items may run on which existing nodes.
func (s *attempt) admitNodes(p *Problem, lowered *pack.Problem) {
	type look struct {
		verdict *verdict
		at      string
		node    int // where volumes or devices must be asked for each
	}
	single := slices.ContainsFunc(p.classes, func(c class) bool { return c.hasVolumes || c.devices != nil && len(c.devices.Pins) > 0 })
	known := map[look]bitset.Set{}
	var buf []byte
	for i := range p.nodes {
		n := &p.nodes[i]
		buf = buf[:0]
		for _, d := range n.at {
			buf = binary.AppendVarint(buf, int64(d))
		}
		id := look{verdict: n.verdict, at: string(buf)}
		if single {
			id.node = i
		}
		classes, ok := known[id]
		if !ok {
			classes = bitset.New(len(s.items))
			for l := range s.items {
				if s.admitsItem(p, n, &s.items[l]) {
					classes.Add(l)
				}
			}
			known[id] = classes
		}
		lowered.Nodes = append(lowered.Nodes, pack.Node{Free: s.bundler.free[i], Classes: classes, Memberships: s.bundler.parts[i]})
	}
}

// admitsItem says whether a node admits the pods of an item: of a bundle all, and
// otherwise they are alike.
func (s *attempt) admitsItem(p *Problem, n *existing, l *item) bool {
	parts := l.parts
	if l.units == nil {
		parts = parts[:1]
	}
	for _, i := range parts {
		if part := &s.parts[i]; !p.admits(part.class, n) || !s.isIn(n, part) {
			return false
		}
	}
	return true
}

// isIn says whether a node is where a part is to be.
func (s *attempt) isIn(n *existing, part *part) bool {
	if part.unit < 0 {
		return true
	}
	class := &s.problem.Classes[part.unit]
	return isAt(n, class.Keys, class.Cells[part.cell].At)
}
