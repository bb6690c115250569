package provisioning

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// lower makes lots of the parts and hands them to the packer.
func (s *stage) lower(p *Problem) {
	rules := p.packRules()
	for range s.raised {
		rules = append(rules, pack.Rule{Kind: pack.Apart})
	}
	lowered := &pack.Problem{Dims: len(p.resources) + len(p.rules.seats), Traits: p.traits, Pools: p.lowPools, Options: p.lowOptions, Capacities: p.distinct, Rules: rules,
		Stocks: p.market.stocks.sizes, NoBound: p.opts.NoBounds, Coarse: p.opts.Quick, StrictStock: p.opts.Reserved == ReservedStrict,
		Fee: p.opts.NodeFee, Flexible: p.flexible}
	index := map[string]int32{}
	var buf []byte
	for i := range s.single {
		part := &s.parts[i]
		class, l := p.admission.lowerWith(part.class, part.pin, s.preferred(p, part.class), s.kinds)
		class.Count = part.count
		class.Urgency = s.urgency(p, part.class)
		class.Content = s.firm[part.class]
		class.Parts = p.rules.duties[part.class].parts
		if part.each > 0 {
			l.each = part.each
			s.groupClass(p, part, &class, len(p.rules.node)+part.rule)
		}
		if part.rises {
			class.Urgency *= urgencyStep
		}
		buf = s.lotKey(buf[:0], p, part, &class, &l)
		id, fresh := intern(index, buf, int32(len(s.lots)))
		if fresh {
			s.lots = append(s.lots, l)
			lowered.Classes = append(lowered.Classes, class)
		} else {
			lowered.Classes[id].Count += class.Count
		}
		s.lots[id].parts = append(s.lots[id].parts, i)
	}
	s.orderParts(p)
	s.lowerBundles(p, lowered)
	s.admitNodes(p, lowered)
	s.packer = pack.New(lowered)
}

// orderParts puts the parts of each lot in the order in which they get what there is
// for the lot: by priority. To the packer their pods are alike.
func (s *stage) orderParts(p *Problem) {
	for l := range s.lots {
		slices.SortStableFunc(s.lots[l].parts, func(a, b int) int {
			return -cmp.Compare(p.classes[s.parts[a].class].priority, p.classes[s.parts[b].class].priority)
		})
	}
}

// preferred are the options that a class is to have where some of them will do,
// nil if all are alike: those it prefers, unless it has to do without, of those
// that are kept.
func (s *stage) preferred(p *Problem, c int) bitset.Set {
	wish := p.wishes[c].options
	if s.unwished[c] {
		wish = p.wishes[c].steady
	}
	switch {
	case s.firm[c] || wish == nil:
		return s.kept
	case s.kept == nil || !wish.Overlaps(s.kept):
		return wish
	}
	both := wish.Clone()
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

// lowerBundles adds a lot for each bundle that has a place to go.
func (s *stage) lowerBundles(p *Problem, lowered *pack.Problem) {
	for i, parts := range s.bundleParts {
		if len(parts) == 0 {
			continue
		}
		b := &s.bundler.bundles[i]
		class, l := p.admission.lowerBundle(b, s.parts[parts[0]].pin, s.kept, s.kinds)
		class.Urgency = s.urgency(p, b.members[0].class)
		l.parts = parts
		for _, m := range b.members {
			l.units = append(l.units, m.count)
		}
		s.lots = append(s.lots, l)
		lowered.Classes = append(lowered.Classes, class)
	}
}

// lotKey tells parts apart that the packer must tell apart.
func (s *stage) lotKey(buf []byte, p *Problem, part *part, c *pack.Class, l *lot) []byte {
	number := func(n int64) { buf = binary.AppendVarint(buf, n) }
	number(int64(l.content))
	number(int64(part.each))
	number(int64(c.Urgency))
	if c.Content {
		number(-1)
	}
	number(int64(len(c.Parts)))
	for _, r := range c.Parts {
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

// admitNodes says which lots may run on which existing nodes.
func (s *stage) admitNodes(p *Problem, lowered *pack.Problem) {
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
			classes = bitset.New(len(s.lots))
			for l := range s.lots {
				if s.admitsLot(p, n, &s.lots[l]) {
					classes.Add(l)
				}
			}
			known[id] = classes
		}
		lowered.Nodes = append(lowered.Nodes, pack.Node{Free: s.bundler.free[i], Classes: classes, Parts: s.bundler.parts[i]})
	}
}

// admitsLot says whether a node admits the pods of a lot: of a bundle all, and
// otherwise they are alike.
func (s *stage) admitsLot(p *Problem, n *existing, l *lot) bool {
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
func (s *stage) isIn(n *existing, part *part) bool {
	if part.unit < 0 {
		return true
	}
	class := &s.problem.Classes[part.unit]
	return isAt(n, class.Keys, class.Cells[part.cell].At)
}
