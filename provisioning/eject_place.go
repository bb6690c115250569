package provisioning

import (
	"math"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// manner is how an ejector finds places.
type manner int

const (
	// byPrice: where it costs least.
	byPrice manner = iota
	// evenly: where the topology spread constraints of the pod count fewest pods.
	evenly
	// elsewhere: pods that are taken out go to other nodes, as far as they can, and
	// before the pods that room is made for: what keeps these out may be that nobody
	// is where they can follow, or that some domain is still empty.
	elsewhere
	// inFront: one of the pods that are taken out goes first, to a node that has room
	// for those that follow it to its node.
	inFront
)

// come finds a place for a pod on any bin but one, and puts it there.
func (e *ejector) come(podID int32, not *bin) bool {
	c := e.a.classOf[podID]
	s := e.spot(c, not)
	if s == nil {
		return false
	}
	e.put(s, c, podID)
	return true
}

// put places a pod on a bin.
func (e *ejector) put(s *bin, c int, podID int32) {
	e.ledger.lean(c, s)
	e.p.addTo(s, c, podID)
	e.ledger.count(c, 1, s)
	s.late = true
}

// goesBefore places a pod where pods of a class can follow it, all of a number if
// there is such a place.
func (e *ejector) goesBefore(podID int32, c, n int) bool {
	m := e.a.classOf[podID]
	if !e.follows(c, m) {
		return false
	}
	defer func() { e.beside, e.lead = nil, nil }()
	e.lead = e.p.admission.lowered(c)
	for _, count := range []int{n, 1} {
		e.beside = times(e.p.requests[c][:len(e.p.resources)], count)
		both, ok := together(e.p.requests[m][:len(e.p.resources)], e.beside)
		if !ok {
			continue
		}
		for _, s := range e.ledger.bins[:len(e.p.nodes)] {
			if n := &e.p.nodes[s.node]; e.p.admits(c, n) && within(both, s.free) && e.onto(s, m) {
				e.put(s, m, podID)
				return true
			}
		}
		if s := e.fresh(m); s != nil {
			e.ledger.open(s)
			e.put(s, m, podID)
			return true
		}
	}
	return false
}

// spot returns the place for a pod of a class, nil if there is none.
func (e *ejector) spot(c int, not *bin) *bin {
	var best *bin
	var as *binType
	level, dearer := math.MaxInt, math.Inf(1)
	better := func(s *bin, sh *binType, more float64) {
		if at := e.level(c, s, sh); at < level || at == level && more < dearer {
			best, as, level, dearer = s, sh, at, more
		}
	}
	for _, s := range e.ledger.bins {
		if s == not {
			continue
		}
		if s.node >= 0 {
			if e.onto(s, c) {
				better(s, nil, 0)
			}
		} else if sh := e.narrowed(s, c, math.Inf(1)); sh != nil {
			better(s, sh, sh.price()-s.binType.price())
		}
		if e.manner != evenly && dearer <= 0 {
			break
		}
	}
	if e.manner == evenly || dearer > 0 {
		for _, s := range e.freshOnes(c, not) {
			better(s, nil, s.binType.price())
		}
	}
	switch {
	case best == nil:
	case best.number < 0:
		e.ledger.open(best)
	case as != nil:
		e.become(best, as)
	}
	return best
}

// freshOnes lists nodes for a pod of a class alone: the cheapest; that of each cell,
// where it is to be spread evenly; or that of each cell but the one of another bin.
func (e *ejector) freshOnes(c int, not *bin) []*bin {
	pins := e.pins(c)
	if e.manner == byPrice || not == nil && e.manner == elsewhere {
		if s := e.freshIn(c, pins); s != nil {
			return []*bin{s}
		}
		return nil
	}
	var out []*bin
	for i := range pins {
		if s := e.freshIn(c, pins[i:i+1]); s != nil && (not == nil || len(pins) < 2 || !inside(s.at, not.at)) {
			out = append(out, s)
		}
	}
	return out
}

// level is how many pods the topology spread constraints of a class count where a bin
// is, as it is to become; 0 unless that matters.
func (e *ejector) level(c int, s *bin, sh *binType) int {
	if e.manner != evenly {
		return 0
	}
	at := s.at
	if sh != nil {
		at = e.p.binTypeLocations(sh)
	}
	sum := 0
	for _, r := range e.p.rules.duties[c].owns {
		rule := &e.p.rules.domain[r]
		if rule.Kind != topology.Spread {
			continue
		}
		for _, d := range at[rule.Rule.Key].domains {
			sum += e.ledger.counts[r].most[d]
		}
	}
	for _, i := range e.ledger.hostsOf(c) {
		if s.number >= 0 {
			sum += e.ledger.hosts.spreads[i].there[s.number]
		}
	}
	return sum
}

// decide gives up options of new nodes that leave it open whether a topology spread
// constraint of a class counts them, and where: those that are unlike the cheapest. It
// says whether there were any.
func (e *ejector) decide(c int) bool {
	some := false
	for _, s := range e.ledger.bins {
		if s.node >= 0 {
			continue
		}
		options := s.binType.options.Clone()
		for _, r := range e.p.rules.duties[c].owns {
			if rule := &e.p.rules.domain[r]; rule.Kind == topology.Spread {
				e.keepAlike(options, rule)
			}
		}
		if sh := e.shaped(s, options, s.binType.trait, s.binType.asked); sh != nil && !options.Equal(s.binType.options) {
			s.binType, s.at, some = sh, e.p.binTypeLocations(sh), true
		}
	}
	return some
}

// keepAlike leaves those of some options that a rule sees as it sees the first.
func (e *ejector) keepAlike(options bitset.Set, rule *domainRule) {
	first := -1
	for first = range options.All() {
		break
	}
	keep := func(set bitset.Set) {
		if set.Has(first) {
			options.And(set)
		} else {
			options.AndNot(set)
		}
	}
	for d := range e.p.table.values[rule.Rule.Key] {
		keep(e.p.inPlace(rule.Rule.Key, d))
	}
	keep(e.p.lookedAt(rule, true))
	keep(e.p.lookedAt(rule, false))
}
