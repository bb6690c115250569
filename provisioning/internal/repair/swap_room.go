package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// variantOf is one way in which the pods of a class may be on new nodes: the
// options that hold one, the trait, and what it asks for.
type variantOf struct {
	options bitset.Set
	trait   int32
	source  requirements.Set
}

// mayMove says whether a pod of a class may go to a bin, room aside.
func (m *mover) mayMove(c int, from, to *ledger.Bin) bool {
	if from.Node < 0 && len(from.PodIDs) < 2 {
		return false // a node without pods is none
	}
	return m.suits(c, to)
}

// mayExchange says whether a pod of class c on s and one of class d on t can be
// exchanged.
func (m *mover) mayExchange(c int, s *ledger.Bin, d int, t *ledger.Bin) bool {
	return m.suits(c, t) && m.suits(d, s) && m.hasRoom(t, m.p.Requests[c], m.p.Requests[d]) && m.hasRoom(s, m.p.Requests[d], m.p.Requests[c])
}

// hasRoom says whether a bin has room for one request more and another less, all
// options of a new node included.
func (m *mover) hasRoom(s *ledger.Bin, more, less []int64) bool {
	capacity := s.Free
	if s.Node < 0 {
		capacity = leastRoom(s.BinType, m.p)
	}
	for r := range more {
		left := capacity[r]
		if s.Node < 0 {
			left -= s.Taken[r]
		}
		if less != nil {
			left += less[r]
		}
		if more[r] > 0 && more[r] > left {
			return false
		}
	}
	return true
}

// leastRoom is the least of each resource that any option has.
func leastRoom(s *ledger.BinType, p *compile.Problem) []int64 {
	if s.Least == nil {
		for o := range s.Options.All() {
			capacity := p.LowOptions[o].Capacity
			if s.Least == nil {
				s.Least = slices.Clone(capacity)
			}
			for r, n := range capacity {
				s.Least[r] = min(s.Least[r], n)
			}
		}
	}
	return s.Least
}

// suits says whether the pods of a class may be on a bin as it is, room aside.
func (m *mover) suits(c int, s *ledger.Bin) bool {
	if s.Node >= 0 {
		return m.p.Admits(c, &m.p.Nodes[s.Node])
	}
	for _, v := range m.variants(c) {
		if (v.trait == 0 || v.trait == s.BinType.Trait) && s.BinType.Options.SubsetOf(v.options) && s.BinType.Asked.Intersect(v.source).Equal(s.BinType.Asked) {
			return true
		}
	}
	return false
}

// variants lists the ways in which the pods of a class may be on new nodes.
func (m *mover) variants(c int) []variantOf {
	if known, ok := m.items[c]; ok {
		return known
	}
	class, item := attempt.Lower(m.p.Admission, c, requirements.Set{})
	var out []variantOf
	for i, v := range class.Variants {
		out = append(out, variantOf{options: v.Options, trait: v.Trait, source: item.Sources[i]})
	}
	if m.items == nil {
		m.items = map[int][]variantOf{}
	}
	m.items[c] = out
	return out
}
