package simulation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// BindOrder checks that topology spreads, affinity and anti-affinity admit the pods of some nodes
// in their new places, in the state that earlier decisions leave. The engine finds places for the
// pods of many nodes at once, but actions are carried out one after the other, and each has to be
// valid in its turn. Takes chooses the order.
//
// Where a pod is may be uncertain: a pending pod, or one that is left to the next plan, may be in
// its planned place or nowhere yet, and a new node may come up in any of the zones of its options.
// Each domain therefore has two counts: the most pods that may be there, and those that are certain
// to be there.
type BindOrder struct {
	w         *Simulation
	c         *topologyCounts
	uncertain []countedPod            // pods whose place in the simulation is uncertain
	coming    []*arrival              // pods that move to new nodes, which the simulation does not have
	left      map[string]bool         // names of nodes that others remove
	looks     map[string]*domainNodes // by the text of a spread's view: the nodes that it counts
	all       map[string]*domainNodes // by label key of a spread: all nodes

	roles   map[*podclass.Class]*roles
	tallies map[constraint]*tally
	done    []*footprint // footprints counted so far, in order

	gone  []*corev1.Node // removed nodes of the sets counted so far
	fresh []*provisioning.NewNode
	Undo  []func()
}

// constraint identifies a constraint that counts pods: a topology spread over the name of the node
// or another label, the pods that an affinity term selects, or the pods that have the term.
type constraint struct {
	kind   constraintKind
	number int
}

type constraintKind int

const (
	overLabel constraintKind = iota
	overHosts
	termMembers
	termOwners
)

// roles are the constraints that concern pods of a class.
type roles struct {
	counted []constraint // constraints that count the pods
	spreads []ownLimit   // their own topology spreads
	terms   []int        // their own affinity terms
	apart   []int        // anti-affinity terms that select them
}

// ownLimit is a topology spread that a pod has itself.
type ownLimit struct {
	constraint
	skew, self int
}

// tally has the number of pods that a constraint counts, by domain.
type tally struct {
	most, least map[string]int
	nodes       *domainNodes // of topology spreads over a label; otherwise nil
	fewest      int
}

// domainNodes has the number of nodes that a topology spread counts, by domain: sites are the nodes
// that stay or come, leaving the nodes of the action being carried out, which still exist. Spreads
// that count the same nodes share one.
type domainNodes struct {
	*spreadView
	key            string
	sites, leaving map[string]int
}

func newBindOrder(w *Simulation, c *topologyCounts) *BindOrder {
	l := &BindOrder{w: w, c: c, left: maps.Clone(w.Leaving), roles: map[*podclass.Class]*roles{}, tallies: map[constraint]*tally{},
		looks: map[string]*domainNodes{}, all: map[string]*domainNodes{}}
	for _, s := range c.spreads.list {
		l.all[s.own.TopologyKey] = l.nodesOf(s.own.TopologyKey, &spreadView{})
	}
	for _, p := range c.counted {
		if _, settled := w.places[state.NameOf(p.pod)]; settled {
			l.uncertain = append(l.uncertain, p)
		}
	}
	return l
}

// begin records the earlier decisions. The simulation has carried them out, except for new nodes.
func (l *BindOrder) begin(begun []Decision) {
	for i := range begun {
		if len(begun[i].Nodes) == 0 {
			continue
		}
		cs, name := l.w.setOf(&begun[i]), begun[i].Name
		print := l.footprint(cs, name)
		for _, node := range begun[i].Nodes {
			if n := l.w.object(node); n != nil && l.left[node] {
				print.remove(l, n)
			}
		}
		print.countNodes(l, nil)
		l.done = append(l.done, print)
		for k := range cs.Moves {
			if a := l.arrival(cs, &cs.Moves[k]); a.new != nil {
				a.unsure, a.name = true, name+a.name
				l.coming = append(l.coming, a)
			}
		}
		l.bringUp(cs.Nodes)
	}
}

// Takes counts a set of nodes if all its pods can be bound in their places. Otherwise it changes
// nothing, and returns the constraint that excludes a pod.
//
// Two orders are tried, because the order in which the pods come is unknown. Pods with topology
// spreads come last; if the set was simulated alone, they also come first. In both orders a pod
// that is excluded is tried again after the others, as kube-scheduler does. No other orders are
// tried: a set that needs one is rejected, and in the cluster any order may occur.
func (l *BindOrder) Takes(cs *CandidateSet) (ok bool, tie string) {
	l.Read(cs)
	print := l.footprint(cs, cs.Targets[0].Name)
	mark := len(l.Undo)
	tie = l.carryOut(cs, true)
	if tie != "" && cs.alone {
		l.Rewind(mark)
		tie = l.carryOut(cs, false)
	}
	if tie != "" {
		l.Rewind(mark)
		return false, tie
	}
	l.done = append(l.done, print)
	l.log(func() { l.done = l.done[:len(l.done)-1] })
	return true, ""
}

// After returns the names of the actions that have to be done before the one counted last, because
// one changes something on which the other depends.
func (l *BindOrder) After() (names []string) {
	last := len(l.done) - 1
	for _, before := range l.done[:last] {
		if before.touches(l.done[last]) || l.done[last].touches(before) {
			names = append(names, before.name)
		}
	}
	return names
}

// carryOut removes the nodes of a set and binds its pods, those with topology spreads of their own
// last or first. It returns the constraint that excludes the first pod that cannot be bound; "" if
// all can.
func (l *BindOrder) carryOut(cs *CandidateSet, spreadLast bool) string {
	l.launch(cs)
	var waiting []*arrival
	for i := range cs.Moves {
		a := l.arrival(cs, &cs.Moves[i])
		l.depart(a)
		waiting = append(waiting, a)
	}
	slices.SortStableFunc(waiting, func(a, b *arrival) int {
		if spreadLast {
			a, b = b, a
		}
		return len(b.roles.spreads) - len(a.roles.spreads)
	})
	for len(waiting) > 0 {
		first, left := "", waiting[:0]
		for _, a := range waiting {
			if tie := l.excludes(a); tie != "" {
				left = append(left, a)
				if first == "" {
					first = tie
				}
				continue
			}
			l.bind(a)
		}
		if len(left) == len(waiting) {
			return first
		}
		waiting = left
	}
	for i := range cs.Targets { // they are gone by then
		l.countLeaving(cs.Targets[i], -1)
	}
	return ""
}

// arrival is a pod that moves.
type arrival struct {
	*roles
	cs   *CandidateSet
	move *Move
	pod  *corev1.Pod
	from *corev1.Node // node on which it is counted; nil if none
	to   *corev1.Node // nil if the node is new or unknown
	new  *provisioning.NewNode
	name string // name of the new node, within this search

	unsure bool // it may not arrive
}

func (l *BindOrder) arrival(cs *CandidateSet, move *Move) *arrival {
	a := &arrival{roles: l.rolesOf(l.c.kinds.Of(move.Pod)), cs: cs, move: move, pod: move.Pod, to: l.w.object(move.Node)}
	if move.Pod.DeletionTimestamp.IsZero() {
		a.from = l.w.object(move.From)
	}
	if move.Node == "" && move.Replacement >= 0 {
		a.new, a.name = &cs.Nodes[move.Replacement], newName(cs, move.Replacement)
	}
	return a
}

// newName returns a name for a new node, unique within the search.
func newName(cs *CandidateSet, i int) string {
	if len(cs.Targets) == 0 {
		return fmt.Sprintf("~new~%d", i)
	}
	return fmt.Sprintf("%s~new~%d", cs.Targets[0].Name, i)
}

// domains returns the values of a label that the place of a pod may have, for a constraint.
func (a *arrival) domains(kind constraintKind, key string) []string {
	switch {
	case a.to != nil && kind == overHosts:
		return []string{a.move.Node}
	case a.to != nil:
		if value, found := a.to.Labels[key]; found {
			return []string{value}
		}
	case a.new != nil && key == corev1.LabelHostname:
		return []string{a.name}
	case a.new != nil:
		return domainsOf(a.new, key)
	}
	return nil
}

// object returns the Node with a name, or nil if there is none.
func (w *Simulation) object(name string) *corev1.Node {
	if i, found := w.At[name]; found {
		return w.In.Nodes[i].Node
	}
	return nil
}

// rolesOf returns the constraints that concern pods of a class.
func (l *BindOrder) rolesOf(kind *podclass.Class) *roles {
	r := l.roles[kind]
	if r != nil {
		return r
	}
	r = &roles{}
	l.roles[kind] = r
	own := func(of constraintKind, all *spreads, list []ownSpread) {
		counted := all.counting(kind)
		for _, n := range counted {
			r.counted = append(r.counted, constraint{of, n})
		}
		for i := range list {
			if n, known := all.numbers[list[i].text]; known {
				o := ownLimit{constraint: constraint{of, n}, skew: int(list[i].MaxSkew)}
				if slices.Contains(counted, n) {
					o.self = 1
				}
				r.spreads = append(r.spreads, o)
			}
		}
	}
	facts := l.c.facts(kind)
	own(overLabel, &l.c.spreads, facts.spreads)
	own(overHosts, &l.c.hosts, facts.hosts)
	for _, n := range facts.selecting {
		r.counted = append(r.counted, constraint{termMembers, n})
		if l.c.affinities.list[n].apart {
			r.apart = append(r.apart, n)
		}
	}
	for _, one := range l.c.bound(kind) {
		if n, known := l.c.affinities.numbers[one.text]; known && !slices.Contains(r.terms, n) {
			r.terms = append(r.terms, n)
			if one.apart {
				r.counted = append(r.counted, constraint{termOwners, n})
			}
		}
	}
	return r
}

// key returns the label that a constraint is over.
func (l *BindOrder) key(k constraint) string {
	switch k.kind {
	case overLabel:
		return l.c.spreads.list[k.number].own.TopologyKey
	case overHosts:
		return corev1.LabelHostname
	}
	return l.c.affinities.list[k.number].key
}

// tally returns the current counts of a constraint.
func (l *BindOrder) tally(k constraint) *tally {
	t := l.tallies[k]
	if t != nil {
		return t
	}
	t = &tally{}
	switch k.kind {
	case overLabel:
		s := l.c.spreads.list[k.number]
		t.most, t.fewest = maps.Clone(l.c.counts(l.c.kinds.Of(s.of), s.own)), s.own.fewest()
		t.nodes = l.nodesOf(s.own.TopologyKey, s.own.view(s.of))
	case overHosts:
		of := l.c.hosts.list[k.number]
		for _, p := range l.c.among(&of.own.pods) {
			if of.counts(p.pod) {
				more(&t.most, p.node.Name, 1)
			}
		}
	case termMembers:
		t.most = maps.Clone(l.c.membersOf(k.number))
	case termOwners:
		t.most = maps.Clone(l.c.ownersOf(k.number))
	}
	t.least = maps.Clone(t.most)
	if t.least == nil {
		t.most, t.least = map[string]int{}, map[string]int{}
	}
	for _, p := range l.uncertain {
		if slices.Contains(l.rolesOf(p.kind).counted, k) && t.counts(p.node) {
			if value, found := domainOn(p.node, k.kind, l.key(k)); found {
				t.least[value]--
			}
		}
	}
	l.tallies[k] = t
	l.log(func() { delete(l.tallies, k) })
	for _, a := range l.coming {
		if slices.Contains(a.counted, k) {
			l.count(a, k)
		}
	}
	return t
}

// nodesOf returns the current counts of the nodes that a topology spread over a label counts.
func (l *BindOrder) nodesOf(key string, view *spreadView) *domainNodes {
	text := key + view.text()
	d := l.looks[text]
	if d != nil {
		return d
	}
	d = &domainNodes{spreadView: view, key: key, sites: map[string]int{}, leaving: map[string]int{}}
	l.looks[text] = d
	l.log(func() { delete(l.looks, text) })
	for value, nodes := range l.c.domainsOver(key) { // the order does not matter
		for _, n := range nodes {
			if !l.left[n.Name] && view.at(n) {
				d.sites[value]++
			}
		}
	}
	for _, n := range l.gone {
		if value, found := n.Labels[key]; found && view.at(n) {
			d.sites[value]--
		}
	}
	for _, n := range l.fresh {
		for _, value := range domainsOf(n, key) {
			d.sites[value]++
		}
	}
	return d
}

// counts reports whether a constraint counts pods on a node.
func (t *tally) counts(n *corev1.Node) bool { return t.nodes == nil || t.nodes.at(n) }

func domainOn(n *corev1.Node, kind constraintKind, key string) (string, bool) {
	if kind == overHosts {
		return n.Name, true
	}
	value, found := n.Labels[key]
	return value, found
}

// log records how to undo a change.
func (l *BindOrder) log(back func()) { l.Undo = append(l.Undo, back) }

// Rewind undoes all changes since a mark.
func (l *BindOrder) Rewind(mark int) {
	for len(l.Undo) > mark {
		last := l.Undo[len(l.Undo)-1]
		l.Undo = l.Undo[:len(l.Undo)-1]
		last()
	}
}

func (l *BindOrder) add(to map[string]int, value string, n int) {
	to[value] += n
	l.log(func() { to[value] -= n })
}

// Read computes the current counts that concern the pods of a set. Counts computed before a change
// remain when the change is undone.
func (l *BindOrder) Read(cs *CandidateSet) {
	for i := range cs.Moves {
		r := l.rolesOf(l.c.kinds.Of(cs.Moves[i].Pod))
		for _, k := range r.counted {
			l.tally(k)
		}
		for _, o := range r.spreads {
			l.tally(o.constraint)
		}
		for _, n := range r.terms {
			l.tally(constraint{termMembers, n})
		}
		for _, n := range r.apart {
			l.tally(constraint{termOwners, n})
		}
	}
}

// launch brings up the new nodes of a set, and marks its nodes as leaving: they exist until their
// pods have been bound.
func (l *BindOrder) launch(cs *CandidateSet) {
	gone, fresh := len(l.gone), len(l.fresh)
	l.log(func() { l.gone, l.fresh = l.gone[:gone], l.fresh[:fresh] })
	for _, m := range cs.Targets {
		if n := l.w.object(m.Name); n != nil {
			l.gone = append(l.gone, n)
		}
		l.countLeaving(m, 1)
	}
	l.bringUp(cs.Nodes)
}

// bringUp brings up new nodes.
func (l *BindOrder) bringUp(nodes []provisioning.NewNode) {
	for i := range nodes {
		l.fresh = append(l.fresh, &nodes[i])
		values := map[string][]string{}
		for key := range l.all { // the order does not matter
			values[key] = domainsOf(&nodes[i], key)
		}
		for _, d := range l.looks { // the order does not matter
			for _, value := range values[d.key] {
				l.add(d.sites, value, 1)
			}
		}
	}
}

// countLeaving counts a node as leaving (n is 1) or as gone (n is -1).
func (l *BindOrder) countLeaving(m *state.StateNode, n int) {
	node := l.w.object(m.Name)
	if node == nil {
		return
	}
	for _, d := range l.looks { // the order does not matter
		if value, found := node.Labels[d.key]; found && d.at(node) {
			l.add(d.leaving, value, n)
			if n > 0 {
				l.add(d.sites, value, -1)
			}
		}
	}
}

// depart removes a pod from its node.
func (l *BindOrder) depart(a *arrival) {
	if a.from == nil {
		return
	}
	for _, k := range a.counted {
		t := l.tally(k)
		if value, found := domainOn(a.from, k.kind, l.key(k)); found && t.counts(a.from) {
			l.add(t.most, value, -1)
			l.add(t.least, value, -1)
		}
	}
}

// bind binds a pod to its new place.
func (l *BindOrder) bind(a *arrival) {
	for _, k := range a.counted {
		l.count(a, k)
	}
}

// count counts a pod in its new place, for one constraint.
func (l *BindOrder) count(a *arrival, k constraint) {
	t := l.tally(k)
	if a.to != nil && !t.counts(a.to) {
		return
	}
	to := a.domains(k.kind, l.key(k))
	for _, value := range to {
		l.add(t.most, value, 1)
		if len(to) == 1 && !a.unsure && (a.new == nil || t.nodes == nil || t.nodes.known == nil || a.has(k)) {
			l.add(t.least, value, 1)
		}
	}
	if a.new != nil && !a.unsure && k.kind == termMembers {
		l.add(t.least, a.name, 1) // whatever zone the node is in
	}
}

// has reports whether a pod has the topology spread itself.
func (r *roles) has(k constraint) bool {
	return slices.ContainsFunc(r.spreads, func(o ownLimit) bool { return o.constraint == k })
}

// excludes returns the constraint that excludes a pod from its place now, or "" if there is none.
func (l *BindOrder) excludes(a *arrival) string {
	if a.to == nil && a.new == nil {
		return "" // its place is unknown
	}
	for _, o := range a.spreads {
		if !l.admits(o, a.domains(o.kind, l.key(o.constraint))) {
			return "a topology spread over " + l.key(o.constraint)
		}
	}
	for _, n := range a.terms {
		one, members := &l.c.affinities.list[n], l.tally(constraint{termMembers, n})
		to := a.domains(termMembers, one.key)
		if one.apart && anyIn(members.most, to) {
			return "an anti-affinity over " + one.key
		}
		if !one.apart && !allIn(members.least, to) && members.least[a.name] < 1 && !(isEmpty(members.most) && slices.Contains(a.counted, constraint{termMembers, n})) {
			return "an affinity over " + one.key
		}
	}
	for _, n := range a.apart {
		if key := l.c.affinities.list[n].key; anyIn(l.tally(constraint{termOwners, n}).most, a.domains(termOwners, key)) {
			return "an anti-affinity over " + key
		}
	}
	return ""
}

// admits reports whether a topology spread of a pod admits the pod in some domains.
func (l *BindOrder) admits(o ownLimit, to []string) bool {
	t := l.tally(o.constraint)
	low := 0 // over nodes the minimum is 0: a node that is being emptied has no pods
	if o.kind == overLabel {
		low = t.lowest()
	}
	for _, value := range to {
		if t.most[value]+o.self-low > o.skew {
			return false
		}
	}
	return len(to) > 0
}

// lowest returns the number of pods that are certain to be in the domain with the fewest. It is 0
// if there may be fewer domains than minDomains.
func (t *tally) lowest() int {
	if t.nodes == nil {
		return 0
	}
	low, sure, first := 0, 0, true
	for value, n := range t.nodes.sites { // the order does not matter
		if n > 0 {
			sure++
		}
		if n > 0 || t.nodes.leaving[value] > 0 {
			if first || t.least[value] < low {
				low, first = t.least[value], false
			}
		}
	}
	if sure < t.fewest {
		return 0
	}
	return low
}

func anyIn(counts map[string]int, domains []string) bool {
	return slices.ContainsFunc(domains, func(value string) bool { return counts[value] > 0 })
}

func allIn(counts map[string]int, domains []string) bool {
	return len(domains) > 0 && !slices.ContainsFunc(domains, func(value string) bool { return counts[value] < 1 })
}

func isEmpty(counts map[string]int) bool {
	for _, n := range counts { // the order does not matter
		if n > 0 {
			return false
		}
	}
	return true
}

// more adds to a count, and creates the map if necessary.
func more(counts *map[string]int, value string, n int) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[value] += n
}
