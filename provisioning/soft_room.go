package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
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
func (m *mover) mayMove(c int, from, to *bin) bool {
	if from.node < 0 && len(from.podIDs) < 2 {
		return false // a node without pods is none
	}
	return m.suits(c, to)
}

// mayExchange says whether a pod of class c on s and one of class d on t can be
// exchanged.
func (m *mover) mayExchange(c int, s *bin, d int, t *bin) bool {
	return m.suits(c, t) && m.suits(d, s) && m.hasRoom(t, m.p.requests[c], m.p.requests[d]) && m.hasRoom(s, m.p.requests[d], m.p.requests[c])
}

// hasRoom says whether a bin has room for one request more and another less, all
// options of a new node included.
func (m *mover) hasRoom(s *bin, more, less []int64) bool {
	capacity := s.free
	if s.node < 0 {
		capacity = s.binType.leastRoom(m.p)
	}
	for r := range more {
		left := capacity[r]
		if s.node < 0 {
			left -= s.taken[r]
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
func (s *binType) leastRoom(p *Problem) []int64 {
	if s.least == nil {
		for o := range s.options.All() {
			capacity := p.lowOptions[o].Capacity
			if s.least == nil {
				s.least = slices.Clone(capacity)
			}
			for r, n := range capacity {
				s.least[r] = min(s.least[r], n)
			}
		}
	}
	return s.least
}

// suits says whether the pods of a class may be on a bin as it is, room aside.
func (m *mover) suits(c int, s *bin) bool {
	if s.node >= 0 {
		return m.p.admits(c, &m.p.nodes[s.node])
	}
	for _, v := range m.variants(c) {
		if (v.trait == 0 || v.trait == s.binType.trait) && s.binType.options.SubsetOf(v.options) && s.binType.asked.Intersect(v.source).Equal(s.binType.asked) {
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
	class, item := m.p.admission.lower(c, requirements.Set{})
	var out []variantOf
	for i, v := range class.Variants {
		out = append(out, variantOf{options: v.Options, trait: v.Trait, source: item.sources[i]})
	}
	if m.items == nil {
		m.items = map[int][]variantOf{}
	}
	m.items[c] = out
	return out
}
