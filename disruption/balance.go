package disruption

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// balance keeps the parts of a search, and replacements that begin together, from leaning
// on each other by way of topology spreads, affinity and anti-affinity: see hostCounts and
// termCounts for those over nodes and for the latter. Of spreads over other labels, what one does to the counts of a spread must not be what another needs, nor
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
	w        *simulation
	c        *topologyCounts
	bySpread map[int]*domainCounts             // by number of the spread; those that parts are about
	values   map[string]map[string]bool        // domains that there are, by label
	made     map[string]map[string]bool        // domains that parts add, by label
	ties     map[*corev1.Pod]sharedConstraints // those that are known
	parts    int                               // that were counted in
	before   []map[int]*effect                 // of actions that are decided already, each by number
	shift    map[int]map[string]int            // what makes the counts of the simulation those of before these

	closed         bool         // a part must be the only one, as it crowds nodes
	waits          bool         // there are pods that wait and have a place, though not for sure where they are in the simulation
	unsettled      map[int]bool // by number: spreads that have to do with these
	unsettledBonds map[int]bool // and affinity terms

	hostStands              map[int]*hostCounts    // by number of the spread over the name of the node
	byTerm                  map[int]*termCounts    // by number of the affinity term
	memberShift, ownerShift map[int]map[string]int // as shift, for the pods that affinity terms select, and those that have them
}

// note notes the domains that a part adds.
func (b *balance) note(pt *candidateSet) {
	for i := range pt.nodes {
		for _, key := range b.keys() {
			for _, value := range domainsOf(&pt.nodes[i], key) {
				b.isNew(key, value, true)
			}
		}
	}
}

func newBalance(w *simulation, c *topologyCounts) *balance {
	return &balance{w: w, c: c, bySpread: map[int]*domainCounts{}, values: map[string]map[string]bool{}, made: map[string]map[string]bool{},
		ties: map[*corev1.Pod]sharedConstraints{}, byTerm: map[int]*termCounts{}, hostStands: map[int]*hostCounts{}}
}

// copy is the same for a trial.
func (b *balance) copy() *balance {
	out := *b
	out.bySpread, out.made = make(map[int]*domainCounts, len(b.bySpread)), make(map[string]map[string]bool, len(b.made))
	for n, s := range b.bySpread { // by number: the order does not matter
		one := *s
		one.arrive, one.depart, one.owners = maps.Clone(s.arrive), maps.Clone(s.depart), maps.Clone(s.owners)
		out.bySpread[n] = &one
	}
	out.byTerm = make(map[int]*termCounts, len(b.byTerm))
	for n, s := range b.byTerm { // by number: the order does not matter
		out.byTerm[n] = &termCounts{come: maps.Clone(s.come), leave: maps.Clone(s.leave), owners: maps.Clone(s.owners), leaning: maps.Clone(s.leaning), touched: s.touched, closed: s.closed}
	}
	out.hostStands = make(map[int]*hostCounts, len(b.hostStands))
	for n, s := range b.hostStands { // by number: the order does not matter
		out.hostStands[n] = &hostCounts{known: s.known, counted: maps.Clone(s.counted), come: maps.Clone(s.come), owners: maps.Clone(s.owners)}
	}
	for key, values := range b.made { // by key: the order does not matter
		out.made[key] = maps.Clone(values)
	}
	return &out
}

// takes reports whether a part leans on none of those before it, nor they on it, and
// if so counts it in. Otherwise it names what ties it to them, and the label over which
// that is.
//
// What the engine was asked about alone holds by itself, in the order in which its pods
// land. What cannot be said of any order is then for it alone: none before it has to do
// with the constraint, and none may after it.
func (b *balance) takes(pt *candidateSet) (ok bool, tie string) {
	if b.closed {
		return false, "a topology spread over " + corev1.LabelHostname
	}
	effects := b.effects(pt)
	numbers := slices.Sorted(maps.Keys(effects))
	soles, closes := map[int]*tally{}, map[int]bool{}
	for _, n := range numbers {
		after, ok := b.ofSpread(n).judge(effects[n])
		closes[n] = !ok && pt.alone && b.ofSpread(n).untouched()
		if !ok && !closes[n] || pt.alone && b.unsettled[n] {
			return false, "a topology spread over " + b.c.spreads.list[n].key
		}
		soles[n] = after
	}
	bonds, hosts := b.termMoves(pt), b.hostMoves(pt)
	bond, tied := b.tiedByBond(bonds)
	if tied && !(pt.alone && b.untouched(bonds)) || pt.alone && b.unsettledBond(bonds) != nil {
		bond = cmp.Or(bond, b.unsettledBond(bonds))
		if bond.apart {
			return false, "an anti-affinity over " + bond.key
		}
		return false, "an affinity over " + bond.key
	}
	crowds := b.classCounts(hosts)
	if crowds && !(pt.alone && !b.waits && b.parts+len(b.before) == 0) {
		return false, "a topology spread over " + corev1.LabelHostname
	}
	b.closed = crowds
	b.parts++
	b.addMoves(bonds, hosts)
	if tied {
		b.closeBonds(bonds)
	}
	for _, n := range numbers {
		b.ofSpread(n).add(effects[n], soles[n])
		b.bySpread[n].closed = closes[n]
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
func (b *balance) ofSpread(number int) *domainCounts {
	if s := b.bySpread[number]; s != nil {
		return s
	}
	of := b.c.spreads.list[number]
	s := &domainCounts{skew: of.skew, fewest: of.fewest}
	kind := b.c.kinds.Of(of.of)
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
			s.shifted = s.shifted || n != 0
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
	b.bySpread[number] = s
	return s
}

// sharedConstraints are the numbers of the spreads that count a pod, and of those that it has.
type sharedConstraints struct{ counted, owned []int }

func (b *balance) tiesOf(p *corev1.Pod) sharedConstraints {
	if known, found := b.ties[p]; found {
		return known
	}
	var out sharedConstraints
	for _, number := range b.c.spreads.index.Candidates(p) {
		if b.c.spreads.list[number].counts(p) {
			out.counted = append(out.counted, number)
		}
	}
	for _, t := range b.c.facts(b.c.kinds.Of(p)).spreads {
		if number, known := b.c.spreads.numbers[t.text]; known {
			out.owned = append(out.owned, number)
		}
	}
	b.ties[p] = out
	return out
}

// effects are those of a part on all spreads that it has to do with, by number.
func (b *balance) effects(pt *candidateSet) map[int]*effect {
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
	for number := range b.bySpread {
		touched[number] = true
	}
	b.additions(pt, touched, at)
	return out
}

// additions notes the domains that a part adds, for the spreads that it or those
// before it are about.
func (b *balance) additions(pt *candidateSet, touched map[int]bool, at func(int) *effect) {
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
func (b *balance) destination(pt *candidateSet, m Move, key string) []string {
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

// begin notes what actions do that are decided already: in the simulation their pods are
// where these take them, or nowhere if that is a new node.
func (b *balance) begin(others []Action) {
	b.shift, b.memberShift, b.ownerShift = map[int]map[string]int{}, map[int]map[string]int{}, map[int]map[string]int{}
	parts := make([]*candidateSet, len(others))
	for i := range others {
		parts[i] = b.w.partOf(&others[i])
		b.shiftBack(parts[i])
	}
	for _, pt := range parts {
		b.before = append(b.before, b.effects(pt))
		bonds, hosts := b.termMoves(pt), b.hostMoves(pt)
		if _, tied := b.tiedByBond(bonds); tied && pt.alone {
			b.closeBonds(bonds)
		}
		b.closed = b.closed || pt.alone && b.classCounts(hosts)
		b.addMoves(bonds, hosts)
		b.note(pt)
	}
	b.readWaiting()
}

// readWaiting notes what the pods have to do with that wait and have a place: it may be
// another when they are bound.
func (b *balance) readWaiting() {
	b.unsettled, b.unsettledBonds = map[int]bool{}, map[int]bool{}
	for _, p := range pending(b.w.cluster.in.Pods) {
		if _, placed := b.w.places[podObject(p)]; !placed {
			continue
		}
		b.waits = true
		ties, kind := b.tiesOf(p), b.c.kinds.Of(p)
		for _, n := range slices.Concat(ties.counted, ties.owned) {
			b.unsettled[n] = true
		}
		for _, n := range b.c.facts(kind).selecting {
			b.unsettledBonds[n] = true
		}
		for _, one := range b.c.bound(kind) {
			if n, known := b.c.bonds.numbers[one.text]; known {
				b.unsettledBonds[n] = true
			}
		}
	}
}

// unsettledBond is the first affinity term of a part that has to do with pods that wait, nil if
// there is none.
func (b *balance) unsettledBond(moves map[int][]termMove) *affinityTerm {
	for _, n := range slices.Sorted(maps.Keys(moves)) {
		if b.unsettledBonds[n] {
			return &b.c.bonds.list[n]
		}
	}
	return nil
}

// shiftBack notes what makes the counts of the simulation those of before a part.
func (b *balance) shiftBack(pt *candidateSet) {
	for number, moves := range b.termMoves(pt) { // each by itself: the order does not matter
		for k := range moves {
			b.shiftBond(number, &moves[k])
		}
	}
	for number, e := range b.hostMoves(pt) { // each by itself: the order does not matter
		b.hostCounts(number).shiftBack(b.c, number, e)
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
}

// addMoves counts in what a part does to affinity terms, and to spreads over the name of the node.
func (b *balance) addMoves(bonds map[int][]termMove, hosts map[int]*hostCounts) {
	for n, moves := range bonds { // each by itself: the order does not matter
		b.addBonds(n, moves)
	}
	for n, e := range hosts { // each by itself: the order does not matter
		b.hostCounts(n).add(e)
	}
}

// partOf is an action that is decided already, with what it does to pods. Where it
// leaves these to the next plan, that is taken to do what it would do now.
func (w *simulation) partOf(a *Action) *candidateSet {
	if a.Simulated || a.Step == Reboot {
		return &candidateSet{moves: a.Moves, nodes: a.Replacements, alone: a.Simulated}
	}
	pt := &candidateSet{}
	for _, t := range a.Targets {
		m := w.cluster.byName[t.Node]
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

// shiftBond notes what makes the counts of the simulation those of before an action.
func (b *balance) shiftBond(number int, m *termMove) {
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

// nodeLabel is a label that a node launched by an option is sure to have: what
// LaunchOption.NodeLabels says of one key, without the others where that is the zone.
func nodeLabel(o cloudprovider.LaunchOption, key string) (value string, found bool) {
	if zone := o.Offering.Zone; key == corev1.LabelTopologyZone && zone != "" {
		_, narrowed := o.Offering.Requirements.Get(key)
		of, asked := o.InstanceType.Requirements.Get(key)
		if !narrowed && (!asked || of.Has(zone)) {
			return zone, true
		}
	}
	value, found = o.NodeLabels()[key]
	return value, found
}
