package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// domainCounts is what parts do to a spread.
type domainCounts struct {
	counts map[string]int // by domain, before any of them
	least  int
	limit  int // least and the skew that is allowed
	skew   int
	fewest int // domains that there must be

	arrive, depart map[string]int
	owners         map[string]int // pods with the spread that are bound anew
	closed         bool           // a part, or an action that is decided already, leaves no choice
	shifted        bool           // the engine sees other counts than these
	sole           *tally         // after the only part that may change the counts, nil if there is none
}

// tally is how many pods there may be in each domain, and how few in the least of them.
type tally struct {
	most map[string]int
	low  int
}

// effect is what one part does to a spread.
type effect struct {
	arrive, depart map[string]int
	unsure         map[string]int // arrivals that may be in another domain
	owners         map[string]int
}

// judge reports whether a part may do to a spread what it does, beside the others. If
// it is to be the only one that changes it, the counts after it are returned.
func (s *domainCounts) judge(e *effect) (sole *tally, ok bool) {
	if s.closed {
		return nil, false
	}
	if len(e.arrive)+len(e.depart) == 0 {
		return nil, s.welcomes(tally{s.counts, s.least}, e.owners) && (s.sole == nil || s.welcomes(*s.sole, e.owners))
	}
	if s.sole != nil {
		return nil, false
	}
	if s.fits(e) {
		return nil, true
	}
	if len(s.arrive)+len(s.depart) > 0 {
		return nil, false
	}
	after := maps.Clone(s.counts)
	if after == nil {
		after = map[string]int{}
	}
	for value, n := range e.arrive { // each by itself: the order does not matter
		after[value] += n
	}
	for value, n := range e.depart {
		if _, eligible := after[value]; eligible {
			after[value] -= n
		}
	}
	certain := maps.Clone(after)
	for value, n := range e.unsure { // each by itself: the order does not matter
		certain[value] -= n
	}
	sole = &tally{after, least(certain, s.fewest)}
	return sole, s.welcomes(*sole, e.owners) && s.welcomes(*sole, s.owners)
}

// untouched reports whether no part or action has to do with a spread.
func (s *domainCounts) untouched() bool {
	return !s.closed && !s.shifted && s.sole == nil && len(s.arrive)+len(s.depart)+len(s.owners) == 0
}

// fits reports whether a part stays within what all may do together.
func (s *domainCounts) fits(e *effect) bool {
	for value, n := range e.arrive { // each by itself: the order does not matter
		if count, found := s.counts[value]; !found || count+s.arrive[value]+n > s.limit {
			return false
		}
	}
	for value, n := range e.depart {
		if count, found := s.counts[value]; found && count-s.depart[value]-n < s.least {
			return false
		}
	}
	return s.welcomes(tally{s.counts, s.least}, e.owners)
}

// welcomes reports whether pods with the spread may come back to domains with such
// counts.
func (s *domainCounts) welcomes(counts tally, domains map[string]int) bool {
	for value := range domains { // each by itself: the order does not matter
		if count, found := counts.most[value]; found && count-counts.low > s.skew {
			return false
		}
	}
	return true
}

// add counts a part in.
func (s *domainCounts) add(e *effect, sole *tally) {
	for value, n := range e.arrive { // each by itself: the order does not matter
		more(&s.arrive, value, n)
	}
	for value, n := range e.depart {
		more(&s.depart, value, n)
	}
	for value, n := range e.owners {
		more(&s.owners, value, n)
	}
	if sole != nil {
		s.sole = sole
	}
}

// least is the count of the domain with the fewest pods; none where there are fewer
// domains than there must be.
func least(counts map[string]int, fewest int) int {
	if len(counts) < fewest {
		return 0
	}
	out, first := 0, true
	for _, n := range counts { // the order does not matter
		if first || n < out {
			out, first = n, false
		}
	}
	return out
}

// more adds to a count; the map is made when it is needed.
func more(counts *map[string]int, value string, n int) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[value] += n
}

// termCounts is what parts do to an affinity term. Its domains may be nodes as well.
//
// Whichever parts are carried out, a pod may be where it was or where its part takes
// it. So anti-affinity holds in a domain where none of the pods in question may be,
// and affinity where one of them is sure to be. Pods of the part itself are where it
// takes them: that the engine has seen to.
type termCounts struct {
	come  map[string]int // pods that the affinity term selects, and that may be there by some part
	leave map[string]int // and those that may be gone
	// owners are pods with the affinity term that may be there by some part.
	owners map[string]int
	// leaning are the domains in which pods with the affinity term were let in for the sake of
	// others, with how many of these their own parts have there, and bind anew.
	leaning map[string]int
	touched bool // a part has to do with it
	closed  bool // and no other may
}

// termMove is a pod of a part, and what an affinity term has to do with it.
type termMove struct {
	move     Move
	owns     bool // it has the affinity term
	selected bool // and is selected
	from     string
	counted  bool     // it is in domain from
	to       []string // domains where it may be; none if that is a node of its own
	fresh    bool     // it goes to a new node
}

// stays reports whether a pod is bound anew in the domain where it was.
func (m *termMove) stays() bool { return m.counted && len(m.to) == 1 && m.to[0] == m.from }

// termMoves are those of a part, by number of the affinity term.
func (b *balance) termMoves(pt *candidateSet) map[int][]termMove {
	var out map[int][]termMove
	for _, move := range pt.moves {
		kind := b.c.kinds.Of(move.Pod)
		at := map[int]*termMove{}
		of := func(number int) *termMove {
			if at[number] == nil {
				at[number] = &termMove{move: move, fresh: move.Node == "" && move.Replacement >= 0}
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
				out = map[int][]termMove{}
			}
			out[number] = append(out[number], *m)
		}
	}
	return out
}

// ofTerm is that of an affinity term by its number.
func (b *balance) ofTerm(number int) *termCounts {
	s := b.byTerm[number]
	if s == nil {
		s = &termCounts{}
		b.byTerm[number] = s
	}
	return s
}

// members is how many pods an affinity term selects in a domain before any part or action.
func (b *balance) members(number int, domain string) int {
	return b.c.membersOf(number)[domain] + b.memberShift[number][domain]
}

// owners is how many pods have it there.
func (b *balance) owners(number int, domain string) int {
	return b.c.ownersOf(number)[domain] + b.ownerShift[number][domain]
}

// tiedByBond is the first affinity term by way of which a part leans on one of those before it,
// or one of them on it, and false if there is none.
func (b *balance) tiedByBond(moves map[int][]termMove) (*affinityTerm, bool) {
	numbers := slices.Sorted(maps.Keys(moves))
	for _, n := range numbers {
		one := &b.c.bonds.list[n]
		if b.ofTerm(n).closed || one.apart && !b.allApart(n, moves[n]) || !one.apart && !b.letsGo(n, moves[n]) {
			return one, true
		}
	}
	return b.unsupported(numbers, moves)
}

// untouched reports whether no part before has to do with the affinity terms of one.
func (b *balance) untouched(moves map[int][]termMove) bool {
	for number := range moves { // as a set: the order does not matter
		if b.ofTerm(number).touched {
			return false
		}
	}
	return true
}

// closeBonds keeps others from the affinity terms of a part.
func (b *balance) closeBonds(moves map[int][]termMove) {
	for number := range moves { // each by itself: the order does not matter
		b.ofTerm(number).closed = true
	}
}

// letsGo reports whether a part leaves those that others were let in for.
func (b *balance) letsGo(number int, moves []termMove) bool {
	s := b.ofTerm(number)
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
func (b *balance) unsupported(numbers []int, moves map[int][]termMove) (*affinityTerm, bool) {
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
func (b *balance) allApart(number int, moves []termMove) bool {
	s := b.ofTerm(number)
	for i := range moves {
		if !b.keepsApart(number, s, &moves[i], moves) {
			return false
		}
	}
	return true
}

// keepsApart reports whether none of the pods that one must keep away from may be where
// it goes.
func (b *balance) keepsApart(number int, s *termCounts, m *termMove, moves []termMove) bool {
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
func (b *balance) keepsTogether(number int, m *termMove, moves []termMove, here map[*corev1.Pod]bool) bool {
	s := b.ofTerm(number)
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

// besideOwn reports whether another pod of the part that the affinity term selects, one of those
// that are here, goes to the same node, or surely to the same domain.
func besideOwn(m *termMove, moves []termMove, here map[*corev1.Pod]bool) bool {
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

// isFirst reports whether there is no pod that the affinity term selects but those of the part.
func (b *balance) isFirst(number int, s *termCounts, moves []termMove) bool {
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

// ownThere is how many pods of the part that the affinity term selects are in a domain, or only
// of those that stay there.
func ownThere(domain string, moves []termMove, staying bool) int {
	n := 0
	for i := range moves {
		if m := &moves[i]; m.selected && m.counted && m.from == domain && (!staying || m.stays()) {
			n++
		}
	}
	return n
}

// addBonds counts a part in.
func (b *balance) addBonds(number int, moves []termMove) {
	s, apart := b.ofTerm(number), b.c.bonds.list[number].apart
	s.touched = true
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

// ownersOf are how many pods have an affinity term in each domain.
func (c *topologyCounts) ownersOf(number int) map[string]int {
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

// hostCounts is what parts do to a topology spread over the name of the node. While a
// node is emptied it is a domain without pods, so that pods with the spread may come
// where there are no more than maxSkew by then. Pods that the spread counts, and that do
// not have it, may come there with another part first.
type hostCounts struct {
	counted map[string]int // by node: pods there before any part or action
	known   bool
	come    map[string]int // those that come by some part
	owners  map[string]int // those that have the spread
}

// hostMoves are the pods that a part takes to nodes that there are, by number of the
// spread.
func (b *balance) hostMoves(pt *candidateSet) map[int]*hostCounts {
	var out map[int]*hostCounts
	at := func(number int) *hostCounts {
		if out == nil {
			out = map[int]*hostCounts{}
		}
		if out[number] == nil {
			out[number] = &hostCounts{}
		}
		return out[number]
	}
	if len(b.c.hosts.list) == 0 {
		return nil
	}
	for _, move := range pt.moves {
		if move.Node == "" {
			continue // nobody else comes there
		}
		kind := b.c.kinds.Of(move.Pod)
		for _, number := range b.c.inHosts(kind) {
			more(&at(number).come, move.Node, 1)
		}
		for _, own := range b.c.facts(kind).hosts {
			if number, known := b.c.hosts.numbers[own.text]; known {
				more(&at(number).owners, move.Node, 1)
			}
		}
	}
	return out
}

// classCounts reports whether a part and those before it bring more pods to a node than pods
// with a spread may find there when their turn comes.
func (b *balance) classCounts(part map[int]*hostCounts) bool {
	for number, e := range part { // each by itself: the order does not matter
		s := b.hostCounts(number)
		for _, nodes := range []map[string]int{e.come, e.owners} {
			for node := range nodes { // each by itself: the order does not matter
				if s.owners[node]+e.owners[node] == 0 {
					continue
				}
				s.count(b.c, number)
				there := s.counted[node] + s.come[node] + e.come[node]
				if s.come[node]+s.owners[node] == 0 { // it can let those with the spread go first
					there = s.counted[node] + min(e.come[node], e.owners[node])
				}
				if there > b.c.hosts.list[number].skew {
					return true
				}
			}
		}
	}
	return false
}

func (b *balance) hostCounts(number int) *hostCounts {
	s := b.hostStands[number]
	if s == nil {
		s = &hostCounts{}
		b.hostStands[number] = s
	}
	return s
}

// add counts a part in.
func (s *hostCounts) add(e *hostCounts) {
	for node, n := range e.come { // each by itself: the order does not matter
		more(&s.come, node, n)
	}
	for node, n := range e.owners {
		more(&s.owners, node, n)
	}
}

// shiftBack notes an action that is decided already: in the simulation its pods are where it
// takes them.
func (s *hostCounts) shiftBack(c *topologyCounts, number int, e *hostCounts) {
	s.count(c, number)
	for node, n := range e.come { // each by itself: the order does not matter
		more(&s.counted, node, -n)
	}
}

// count counts the pods on the nodes, once.
func (s *hostCounts) count(c *topologyCounts, number int) {
	if s.known {
		return
	}
	s.known = true
	of := c.hosts.list[number]
	for _, p := range c.among(&of.pods) {
		if of.counts(p.pod) {
			more(&s.counted, p.node.Name, 1)
		}
	}
}
