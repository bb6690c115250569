package attempt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// lower makes items of the parts and the packer for them.
func (s *Attempt) lower(p *compile.Problem) {
	lowered := &pack.Problem{Dims: len(p.Resources) + len(p.Rules.Slots), Traits: p.Traits, Pools: p.LowPools, Options: p.LowOptions, Capacities: p.Distinct, Rules: PackRules(p),
		Reservations: p.Catalog.Reservations.Sizes, NoBound: p.Opts.NoBounds, Coarse: p.Opts.Quick || s.Coarse, StrictReservation: p.Opts.Reserved == model.ReservedStrict,
		Fee: p.Opts.NodeFee, Flexible: p.Flexible}
	index := map[string]int32{}
	var buf []byte
	for i := range s.single {
		part := &s.Parts[i]
		class, l := Lower(p.Admission, part.Class, part.pin, s.preferred(p, part.Class), s.kinds)
		class.Count = part.Count
		class.Urgency = s.priorityWeight(p, part.Class)
		class.Content = s.Relaxed[part.Class]
		class.Memberships = p.Rules.ByClass[part.Class].Parts
		buf = s.itemKey(buf[:0], p, part, &class, &l)
		id, fresh := model.Intern(index, buf, int32(len(s.Items)))
		if fresh {
			s.Items = append(s.Items, l)
			lowered.Classes = append(lowered.Classes, class)
		} else {
			lowered.Classes[id].Count += class.Count
		}
		s.Items[id].Parts = append(s.Items[id].Parts, i)
	}
	s.orderParts(p)
	s.lowerBundles(p, lowered)
	s.admitNodes(p, lowered)
	s.lowered, s.Packer = lowered, pack.New(lowered)
}

// orderParts sorts the parts of each item by descending priority: they get the item's places in
// this order, because the packer cannot tell their pods apart.
func (s *Attempt) orderParts(p *compile.Problem) {
	for l := range s.Items {
		slices.SortStableFunc(s.Items[l].Parts, func(a, b int) int {
			return -cmp.Compare(p.Classes[s.Parts[a].Class].Priority, p.Classes[s.Parts[b].Class].Priority)
		})
	}
}

// preferred returns the options that a class prefers where any of these will do, nil if it prefers
// none or its preferences are given up.
func (s *Attempt) preferred(p *compile.Problem, c int) bitset.Set {
	preference := p.Preferences[c].Options
	if s.GivesUp(c) {
		preference = p.Preferences[c].Steady
	}
	if s.Relaxed[c] {
		return nil
	}
	return preference
}

// PackRules returns the rules between the pods of one node.
func PackRules(p *compile.Problem) []pack.Rule {
	out := make([]pack.Rule, len(p.Rules.Node))
	for i := range out {
		out[i] = p.Rules.Node[i].Rule
	}
	return out
}

// lowerBundles adds an item for each bundle that has a cell.
func (s *Attempt) lowerBundles(p *compile.Problem, lowered *pack.Problem) {
	for i, parts := range s.BundleParts {
		if len(parts) == 0 {
			continue
		}
		b := &s.Bundler.Bundles[i]
		class, l := lowerBundle(p, b, s.Parts[parts[0]].pin, s.kinds)
		class.Urgency = s.priorityWeight(p, b.members[0].Class)
		l.Parts = parts
		for _, m := range b.members {
			l.Units = append(l.Units, m.Count)
		}
		s.Items = append(s.Items, l)
		lowered.Classes = append(lowered.Classes, class)
	}
}

// itemKey appends a key that is equal for parts that the packer need not distinguish.
func (s *Attempt) itemKey(buf []byte, p *compile.Problem, part *part, c *pack.Class, l *Item) []byte {
	number := func(n int64) { buf = binary.AppendVarint(buf, n) }
	number(int64(l.content))
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
	if len(p.Nodes) > 0 {
		number(int64(p.NodeClass[part.Class]))
		if p.Classes[part.Class].HasVolumes {
			buf = append(buf, p.Classes[part.Class].VolumeKey...)
		}
		if d := p.Classes[part.Class].Devices; d != nil {
			buf = append(buf, d.Key()...)
		}
		if part.Unit >= 0 {
			class := &s.Problem.Classes[part.Unit]
			for i, key := range class.Keys {
				number(int64(key))
				number(int64(class.Cells[part.Cell].At[i]))
			}
		}
	}
	return buf
}

// admitNodes computes which items each existing node admits.
func (s *Attempt) admitNodes(p *compile.Problem, lowered *pack.Problem) {
	known := map[string]bitset.Set{}
	var classes bitset.Set
	var id, last []byte
	lowered.Nodes = make([]pack.Node, 0, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		id = binary.AppendVarint(id[:0], int64(n.Alike))
		for _, d := range n.At {
			id = binary.AppendVarint(id, int64(d))
		}
		if i == 0 || !bytes.Equal(id, last) {
			var ok bool
			if classes, ok = known[string(id)]; !ok {
				classes = s.itemsOn(p, n)
				known[string(id)] = classes
			}
			id, last = last, id
		}
		lowered.Nodes = append(lowered.Nodes, pack.Node{Free: s.Bundler.free[i], Classes: classes, Memberships: s.Bundler.parts[i]})
	}
}

// itemsOn returns the items that a node admits.
func (s *Attempt) itemsOn(p *compile.Problem, n *model.Existing) bitset.Set {
	out := bitset.New(len(s.Items))
	for l := range s.Items {
		if s.admitsItem(p, n, &s.Items[l]) {
			out.Add(l)
		}
	}
	return out
}

// admitsItem says whether a node admits the pods of an item. All parts of a bundle are checked; of
// another item one is enough, because its parts are alike.
func (s *Attempt) admitsItem(p *compile.Problem, n *model.Existing, l *Item) bool {
	parts := l.Parts
	if l.Units == nil {
		parts = parts[:1]
	}
	for _, i := range parts {
		if part := &s.Parts[i]; !p.Admits(part.Class, n) || !s.isIn(n, part) {
			return false
		}
	}
	return true
}

// isIn says whether a node is in the cell of a part.
func (s *Attempt) isIn(n *model.Existing, part *part) bool {
	if part.Unit < 0 {
		return true
	}
	class := &s.Problem.Classes[part.Unit]
	return compile.IsAt(n, class.Keys, class.Cells[part.Cell].At)
}

// Lower returns pods of a class with the given pin as the packer sees them. preferred are the options
// that the pods prefer where any of these will do; nil means no preference. kinds numbers the kinds of
// classes. The item has the requirements of each variant.
func Lower(a *compile.Admission, index int, pin requirements.Set, preferred bitset.Set, kinds map[int32]int32) (lowered pack.Class, l Item) {
	low := a.Lowering(index, pin, preferred)
	kind, ok := kinds[low.Kind]
	if !ok {
		kind = int32(len(kinds))
		kinds[low.Kind] = kind
	}
	return pack.Class{Request: low.Request, Variants: low.Variants, Kind: int(kind)}, Item{Sources: low.Sources, content: low.Number}
}
