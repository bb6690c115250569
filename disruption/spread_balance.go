package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// balance keeps the parts of a search, and replacements that begin together, from leaning
// on each other by way of topology spreads, affinity and anti-affinity: see hostStand and
// bondStand for those over nodes and for the latter. Of spreads over other labels, what one does to the counts of a spread must not be what another needs, nor
// what keeps its pods out. Pins see to that for pods that stay in their domain, and
// may come back there whatever becomes of the others. Those that leave theirs, as it
// has too many, or as they are counted by a spread that they do not have, are looked
// at here, once it is known where they go.
//
// Of a spread the domains have counts from least to least + maxSkew, or more where it
// is broken. As long as all parts together fill no domain beyond least + maxSkew and
// empty none below least, each pod with the spread may be bound in its turn, whichever
// parts are carried out, and in whatever order. Beyond that one part may change a
// spread if it holds by itself, and after it the pods of the others may come back;
// then no other changes it.
type balance struct {
	w      *world
	c      *spreadCensus
	stands map[int]*stand             // by number of the spread; those that parts are about
	values map[string]map[string]bool // domains that there are, by label
	made   map[string]map[string]bool // domains that parts add, by label
	ties   map[*corev1.Pod]ties       // those that are known
	parts  int                        // that were counted in
	before []map[int]*effect          // of actions that are decided already, each by number
	shift  map[int]map[string]int     // what makes the counts of the world those of before these

	hostStands              map[int]*hostStand     // by number of the spread over the name of the node
	bondStands              map[int]*bondStand     // by number of the bond
	memberShift, ownerShift map[int]map[string]int // as shift, for the pods that bonds select, and those that have them
}

// begin notes what actions do that are decided already: in the world their pods are
// where these take them, or nowhere if that is a new node.
func (b *balance) begin(others []Action) {
	b.shift, b.memberShift, b.ownerShift = map[int]map[string]int{}, map[int]map[string]int{}, map[int]map[string]int{}
	for i := range others {
		pt := b.w.partOf(&others[i])
		b.before = append(b.before, b.effects(pt))
		for number, moves := range b.bondMoves(pt) { // each by itself: the order does not matter
			for k := range moves {
				b.shiftBond(number, &moves[k])
			}
			b.addBonds(number, moves)
		}
		for number, e := range b.hostMoves(pt) { // each by itself: the order does not matter
			b.hostStand(number).begin(b.c, number, e)
		}
		for _, move := range pt.moves {
			for _, number := range b.tiesOf(move.Pod).counted {
				key, shift := b.c.spreads.list[number].key, b.shift[number]
				if value, found := b.domain(move.From, key); found {
					more(&shift, value, 1)
				}
				if value, found := b.domain(move.Node, key); found {
					more(&shift, value, -1)
				}
				b.shift[number] = shift
			}
		}
		b.note(pt)
	}
}

// partOf is an action that is decided already, with what it does to pods. Where it
// leaves these to the next plan, that is taken to do what it would do now.
func (w *world) partOf(a *Action) *part {
	if a.Simulated || a.Step == Reboot {
		return &part{moves: a.Moves, nodes: a.Replacements}
	}
	pt := &part{}
	for _, t := range a.Targets {
		m := w.f.byName[t.Node]
		if m == nil {
			continue
		}
		for _, p := range m.movable() {
			move := Move{Pod: p, From: m.name, Replacement: -1}
			if w.places[podObject(p)].node != nil {
				move.Replacement = len(pt.nodes)
				pt.nodes = append(pt.nodes, *w.places[podObject(p)].node)
			}
			move.Node = w.places[podObject(p)].name
			pt.moves = append(pt.moves, move)
		}
	}
	return pt
}

// shiftBond notes what makes the counts of the world those of before an action.
func (b *balance) shiftBond(number int, m *bondMove) {
	shift := func(of map[int]map[string]int) {
		counts := of[number]
		if m.counted {
			more(&counts, m.from, 1)
		}
		if value, found := b.domain(m.move.Node, b.c.bonds.list[number].key); found {
			more(&counts, value, -1)
		}
		of[number] = counts
	}
	if m.selected {
		shift(b.memberShift)
	}
	if m.owns {
		shift(b.ownerShift)
	}
}

// note notes the domains that a part adds.
func (b *balance) note(pt *part) {
	for i := range pt.nodes {
		for _, key := range b.keys() {
			for _, value := range domainsOf(&pt.nodes[i], key) {
				b.isNew(key, value, true)
			}
		}
	}
}

func newBalance(w *world, c *spreadCensus) *balance {
	return &balance{w: w, c: c, stands: map[int]*stand{}, values: map[string]map[string]bool{}, made: map[string]map[string]bool{},
		ties: map[*corev1.Pod]ties{}, bondStands: map[int]*bondStand{}, hostStands: map[int]*hostStand{}}
}

// copy is the same for a trial.
func (b *balance) copy() *balance {
	out := *b
	out.stands, out.made = make(map[int]*stand, len(b.stands)), make(map[string]map[string]bool, len(b.made))
	for n, s := range b.stands { // by number: the order does not matter
		one := *s
		one.arrive, one.depart, one.owners = maps.Clone(s.arrive), maps.Clone(s.depart), maps.Clone(s.owners)
		out.stands[n] = &one
	}
	out.bondStands = make(map[int]*bondStand, len(b.bondStands))
	for n, s := range b.bondStands { // by number: the order does not matter
		out.bondStands[n] = &bondStand{come: maps.Clone(s.come), leave: maps.Clone(s.leave), owners: maps.Clone(s.owners), leaning: maps.Clone(s.leaning)}
	}
	out.hostStands = make(map[int]*hostStand, len(b.hostStands))
	for n, s := range b.hostStands { // by number: the order does not matter
		out.hostStands[n] = &hostStand{known: s.known, counted: maps.Clone(s.counted), come: maps.Clone(s.come), owners: maps.Clone(s.owners)}
	}
	for key, values := range b.made { // by key: the order does not matter
		out.made[key] = maps.Clone(values)
	}
	return &out
}

// takes reports whether a part leans on none of those before it, nor they on it, and
// if so counts it in. Otherwise it names what ties it to them, and the label over which
// that is.
func (b *balance) takes(pt *part) (ok bool, tie string) {
	effects := b.effects(pt)
	numbers := slices.Sorted(maps.Keys(effects))
	soles := map[int]*tally{}
	for _, n := range numbers {
		after, ok := b.stand(n).judge(effects[n])
		if !ok {
			return false, "a topology spread over " + b.c.spreads.list[n].key
		}
		soles[n] = after
	}
	bonds := b.bondMoves(pt)
	if bond, tied := b.tiedByBond(bonds); tied {
		if bond.apart {
			return false, "an anti-affinity over " + bond.key
		}
		return false, "an affinity over " + bond.key
	}
	hosts := b.hostMoves(pt)
	if b.crowds(hosts) {
		return false, "a topology spread over " + corev1.LabelHostname
	}
	b.parts++
	for n, moves := range bonds { // each by itself: the order does not matter
		b.addBonds(n, moves)
	}
	for n, e := range hosts { // each by itself: the order does not matter
		b.hostStand(n).add(e)
	}
	for _, n := range numbers {
		b.stand(n).add(effects[n], soles[n])
	}
	b.note(pt)
	return true, ""
}

// keys are the labels that spreads are over, sorted.
func (b *balance) keys() []string {
	seen := map[string]bool{}
	for _, s := range b.c.spreads.list {
		seen[s.key] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// isNew reports whether no node has a value of a label, and may note it as one that
// there will be.
func (b *balance) isNew(key, value string, note bool) bool {
	if b.values[key] == nil {
		b.values[key] = map[string]bool{}
		for _, n := range b.c.nodes {
			if of, found := n.Labels[key]; found {
				b.values[key][of] = true
			}
		}
	}
	if b.values[key][value] {
		return false
	}
	if note {
		if b.made[key] == nil {
			b.made[key] = map[string]bool{}
		}
		b.made[key][value] = true
	}
	return true
}

// domainsOf are the values of a label that a new node may have, sorted.
func domainsOf(n *provisioning.NewNode, key string) []string {
	seen := map[string]bool{}
	if value, found := n.Labels[key]; found {
		return []string{value}
	}
	for _, o := range n.Options {
		if value, found := nodeLabel(o, key); found {
			seen[value] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// stand is that of a spread by its number.
func (b *balance) stand(number int) *stand {
	if s := b.stands[number]; s != nil {
		return s
	}
	of := b.c.spreads.list[number]
	s := &stand{skew: of.skew, fewest: of.fewest}
	kind := b.c.kinds.of(of.of)
	spreads := b.c.facts(kind).spreads
	for i := range spreads {
		if t := &spreads[i]; b.c.spreads.numbers[t.text] == number && t.TopologyKey == of.key {
			s.counts = b.c.counts(kind, t)
			break
		}
	}
	if shift := b.shift[number]; shift != nil {
		s.counts = maps.Clone(s.counts)
		for value, n := range shift { // each by itself: the order does not matter
			if _, eligible := s.counts[value]; eligible {
				s.counts[value] += n
			}
		}
	}
	s.least = least(s.counts, s.fewest)
	s.limit = s.least + s.skew
	if made := b.made[of.key]; len(made) > 0 { // a part before has changed it
		s.sole = &tally{most: maps.Clone(s.counts)}
		for value := range made { // by value: the order does not matter
			s.sole.most[value] = 0
		}
		s.sole.low = least(s.sole.most, s.fewest)
	}
	for _, effects := range b.before {
		if e := effects[number]; e != nil {
			after, ok := s.judge(e)
			s.closed = s.closed || !ok
			s.add(e, after)
		}
	}
	b.stands[number] = s
	return s
}

// ties are the numbers of the spreads that count a pod, and of those that it has.
type ties struct{ counted, owned []int }

func (b *balance) tiesOf(p *corev1.Pod) ties {
	if known, found := b.ties[p]; found {
		return known
	}
	var out ties
	for _, number := range b.c.spreads.index.candidates(p) {
		if b.c.spreads.list[number].counts(p) {
			out.counted = append(out.counted, number)
		}
	}
	for _, t := range b.c.facts(b.c.kinds.of(p)).spreads {
		if number, known := b.c.spreads.numbers[t.text]; known {
			out.owned = append(out.owned, number)
		}
	}
	b.ties[p] = out
	return out
}

// effects are those of a part on all spreads that it has to do with, by number.
func (b *balance) effects(pt *part) map[int]*effect {
	out := map[int]*effect{}
	at := func(number int) *effect {
		if out[number] == nil {
			out[number] = &effect{}
		}
		return out[number]
	}
	for _, move := range pt.moves {
		ties := b.tiesOf(move.Pod)
		for _, number := range ties.counted {
			key := b.c.spreads.list[number].key
			from, counted := b.domain(move.From, key)
			to := b.destination(pt, move, key)
			if counted && len(to) == 1 && to[0] == from {
				continue
			}
			e := at(number)
			if counted {
				more(&e.depart, from, 1)
			}
			for _, value := range to {
				if more(&e.arrive, value, 1); len(to) > 1 {
					more(&e.unsure, value, 1)
				}
			}
		}
		for _, number := range ties.owned {
			e := at(number)
			for _, value := range b.destination(pt, move, b.c.spreads.list[number].key) {
				more(&e.owners, value, 1)
			}
		}
	}
	touched := map[int]bool{}
	for number := range out { // as a set: the order does not matter
		touched[number] = true
	}
	for number := range b.stands {
		touched[number] = true
	}
	b.additions(pt, touched, at)
	return out
}

// additions notes the domains that a part adds, for the spreads that it or those
// before it are about.
func (b *balance) additions(pt *part, touched map[int]bool, at func(int) *effect) {
	for i := range pt.nodes {
		for _, key := range b.keys() {
			for _, value := range domainsOf(&pt.nodes[i], key) {
				if !b.isNew(key, value, false) {
					continue
				}
				for number := range touched { // each by itself: the order does not matter
					if b.c.spreads.list[number].key == key {
						more(&at(number).arrive, value, 0)
					}
				}
			}
		}
	}
}

// domain is the value of a label of a node as things are.
func (b *balance) domain(node, key string) (string, bool) {
	i, found := b.w.at[node]
	if !found || b.w.in.Nodes[i].Node == nil {
		return "", false
	}
	value, found := b.w.in.Nodes[i].Node.Labels[key]
	return value, found
}

// destination is where a pod goes, as a list if that depends on what is launched.
func (b *balance) destination(pt *part, m Move, key string) []string {
	if m.Node == "" {
		if m.Replacement < 0 {
			return nil // nobody knows
		}
		return domainsOf(&pt.nodes[m.Replacement], key)
	}
	if value, found := b.domain(m.Node, key); found {
		return []string{value}
	}
	return nil
}
