package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// bondStand is what parts do to a bond. Its domains may be nodes as well.
//
// Whichever parts are carried out, a pod may be where it was or where its part takes
// it. So anti-affinity holds in a domain where none of the pods in question may be,
// and affinity where one of them is sure to be. Pods of the part itself are where it
// takes them: that the engine has seen to.
type bondStand struct {
	come  map[string]int // pods that the bond selects, and that may be there by some part
	leave map[string]int // and those that may be gone
	// owners are pods with the bond that may be there by some part.
	owners map[string]int
	// leaning are the domains in which pods with the bond were let in for the sake of
	// others, with how many of these their own parts have there, and bind anew.
	leaning map[string]int
}

// bondMove is a pod of a part, and what a bond has to do with it.
type bondMove struct {
	move     Move
	owns     bool // it has the bond
	selected bool // and is selected
	from     string
	counted  bool     // it is in domain from
	to       []string // domains where it may be; none if that is a node of its own
	fresh    bool     // it goes to a new node
}

// stays reports whether a pod is bound anew in the domain where it was.
func (m *bondMove) stays() bool { return m.counted && len(m.to) == 1 && m.to[0] == m.from }

// bondMoves are those of a part, by number of the bond.
func (b *balance) bondMoves(pt *part) map[int][]bondMove {
	var out map[int][]bondMove
	for _, move := range pt.moves {
		kind := b.c.kinds.of(move.Pod)
		at := map[int]*bondMove{}
		of := func(number int) *bondMove {
			if at[number] == nil {
				at[number] = &bondMove{move: move, fresh: move.Node == "" && move.Replacement >= 0}
			}
			return at[number]
		}
		for _, number := range b.c.facts(kind).selecting {
			of(number).selected = true
		}
		for _, one := range b.c.bound(kind) {
			if number, known := b.c.bonds.numbers[one.text]; known {
				of(number).owns = true
			}
		}
		for number, m := range at { // each by itself: the order does not matter
			key := b.c.bonds.list[number].key
			m.from, m.counted = b.domain(move.From, key)
			if !m.fresh || key != corev1.LabelHostname { // nobody else comes to its new nodes
				m.to = b.destination(pt, move, key)
			}
			if out == nil {
				out = map[int][]bondMove{}
			}
			out[number] = append(out[number], *m)
		}
	}
	return out
}

// bondStand is that of a bond by its number.
func (b *balance) bondStand(number int) *bondStand {
	s := b.bondStands[number]
	if s == nil {
		s = &bondStand{}
		b.bondStands[number] = s
	}
	return s
}

// members is how many pods a bond selects in a domain before any part or action.
func (b *balance) members(number int, domain string) int {
	return b.c.membersOf(number)[domain] + b.memberShift[number][domain]
}

// owners is how many pods have it there.
func (b *balance) owners(number int, domain string) int {
	return b.c.ownersOf(number)[domain] + b.ownerShift[number][domain]
}

// tiedByBond is the first bond by way of which a part leans on one of those before it,
// or one of them on it, and false if there is none.
func (b *balance) tiedByBond(moves map[int][]bondMove) (*bond, bool) {
	numbers := slices.Sorted(maps.Keys(moves))
	for _, n := range numbers {
		one := &b.c.bonds.list[n]
		if one.apart && !b.allApart(n, moves[n]) || !one.apart && !b.letsGo(n, moves[n]) {
			return one, true
		}
	}
	return b.unsupported(numbers, moves)
}

// letsGo reports whether a part leaves those that others were let in for.
func (b *balance) letsGo(number int, moves []bondMove) bool {
	s := b.bondStand(number)
	gone := map[string]int{}
	for i := range moves {
		if m := &moves[i]; m.selected && m.counted && !m.stays() {
			gone[m.from]++
		}
	}
	for domain, n := range gone { // each by itself: the order does not matter
		if own, leant := s.leaning[domain]; leant && b.members(number, domain)-s.leave[domain]-own-n < 1 {
			return false
		}
	}
	return true
}

// unsupported is the first affinity by which a pod of a part must be with others that
// are not sure to be where it goes. Pods of the part may follow one another: first come
// those that need none of them.
func (b *balance) unsupported(numbers []int, moves map[int][]bondMove) (*bond, bool) {
	here := map[*corev1.Pod]bool{} // pods that have found their place
	for changed := true; changed; {
		lacks := map[*corev1.Pod]int{} // by pod: the first affinity that does not hold yet, from 1
		owns := map[*corev1.Pod]bool{}
		for _, n := range numbers {
			if b.c.bonds.list[n].apart {
				continue
			}
			for i := range moves[n] {
				m := &moves[n][i]
				owns[m.move.Pod] = true
				if m.owns && lacks[m.move.Pod] == 0 && !b.keepsTogether(n, m, moves[n], here) {
					lacks[m.move.Pod] = n + 1
				}
			}
		}
		changed = false
		first := 0
		for p := range owns { // as a set: the order does not matter
			switch n := lacks[p]; {
			case n > 0 && (first == 0 || n < first):
				first = n
			case n == 0 && !here[p]:
				here[p], changed = true, true
			}
		}
		if !changed && first > 0 {
			return &b.c.bonds.list[first-1], true
		}
	}
	return nil, false
}

// allApart reports whether none of the pods that those of a part must keep away from
// may be where they go.
func (b *balance) allApart(number int, moves []bondMove) bool {
	s := b.bondStand(number)
	for i := range moves {
		if !b.keepsApart(number, s, &moves[i], moves) {
			return false
		}
	}
	return true
}

// keepsApart reports whether none of the pods that one must keep away from may be where
// it goes.
func (b *balance) keepsApart(number int, s *bondStand, m *bondMove, moves []bondMove) bool {
	for _, to := range m.to {
		members, owners := b.members(number, to)+s.come[to], b.owners(number, to)+s.owners[to]
		for i := range moves {
			if own := &moves[i]; own.counted && own.from == to {
				if own.selected {
					members--
				}
				if own.owns {
					owners--
				}
			}
		}
		if m.owns && members > 0 || m.selected && owners > 0 {
			return false
		}
	}
	return true
}

// keepsTogether reports whether one of the pods that one must be with is sure to be
// where it goes, or is here already.
func (b *balance) keepsTogether(number int, m *bondMove, moves []bondMove, here map[*corev1.Pod]bool) bool {
	s := b.bondStand(number)
	if len(m.to) == 0 && !m.fresh {
		return true // nobody knows where it goes
	}
	if besideOwn(m, moves, here) || m.selected && b.isFirst(number, s, moves) {
		return true
	}
	for _, to := range m.to {
		if b.members(number, to)-s.leave[to]-ownThere(to, moves, false) < 1 {
			return false
		}
	}
	return len(m.to) > 0
}

// besideOwn reports whether another pod of the part that the bond selects, one of those
// that are here, goes to the same node, or surely to the same domain.
func besideOwn(m *bondMove, moves []bondMove, here map[*corev1.Pod]bool) bool {
	for i := range moves {
		o := &moves[i]
		if !o.selected || o.move.Pod == m.move.Pod || here != nil && !here[o.move.Pod] {
			continue
		}
		if o.move.Node == m.move.Node && o.move.Replacement == m.move.Replacement ||
			len(o.to) == 1 && len(m.to) == 1 && o.to[0] == m.to[0] {
			return true
		}
	}
	return false
}

// isFirst reports whether there is no pod that the bond selects but those of the part.
func (b *balance) isFirst(number int, s *bondStand, moves []bondMove) bool {
	all := 0
	for domain := range b.c.membersOf(number) { // a sum: the order does not matter
		all += b.members(number, domain)
	}
	for domain, n := range b.memberShift[number] {
		if _, counted := b.c.membersOf(number)[domain]; !counted {
			all += n
		}
	}
	for _, n := range s.come {
		all += n
	}
	for i := range moves {
		if moves[i].selected && moves[i].counted {
			all--
		}
	}
	return all == 0
}

// ownThere is how many pods of the part that the bond selects are in a domain, or only
// of those that stay there.
func ownThere(domain string, moves []bondMove, staying bool) int {
	n := 0
	for i := range moves {
		if m := &moves[i]; m.selected && m.counted && m.from == domain && (!staying || m.stays()) {
			n++
		}
	}
	return n
}

// addBonds counts a part in.
func (b *balance) addBonds(number int, moves []bondMove) {
	s, apart := b.bondStand(number), b.c.bonds.list[number].apart
	for i := range moves {
		m := &moves[i]
		if apart && m.owns {
			for _, to := range m.to {
				more(&s.owners, to, 1)
			}
		}
		if !apart && m.owns {
			for _, to := range m.to {
				if own := ownThere(to, moves, true); s.leaning == nil || s.leaning[to] <= own {
					more(&s.leaning, to, own-s.leaning[to])
				}
			}
		}
		if !m.selected || m.stays() {
			continue
		}
		for _, to := range m.to {
			more(&s.come, to, 1)
		}
		if m.counted {
			more(&s.leave, m.from, 1)
		}
	}
}

// ownersOf are how many pods have a bond in each domain.
func (c *spreadCensus) ownersOf(number int) map[string]int {
	if c.bonds.owners == nil {
		c.bonds.owners = make([]map[string]int, len(c.bonds.list))
		for _, p := range c.counted {
			for _, one := range c.bound(p.kind) {
				n, known := c.bonds.numbers[one.text]
				if domain, found := p.node.Labels[one.key]; known && found {
					more(&c.bonds.owners[n], domain, 1)
				}
			}
		}
	}
	return c.bonds.owners[number]
}
