package repair

import (
	"math"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
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
	// ontoExisting: pods that a node takes that exists come first, whatever their class.
	ontoExisting
)

// come finds a place for a pod on any bin but one, and puts it there.
func (e *ejector) come(podID int32, not *ledger.Bin) bool {
	c := e.p.ClassOf[podID]
	s := e.spot(c, not)
	if s == nil {
		return false
	}
	e.put(s, c, podID)
	return true
}

// comeExisting places a pod on a node that exists, if one takes it.
func (e *ejector) comeExisting(podID int32) bool {
	c := e.p.ClassOf[podID]
	for _, s := range e.ledger.Bins[:len(e.p.Nodes)] {
		if e.onto(s, c) {
			e.put(s, c, podID)
			return true
		}
	}
	return false
}

// goesBefore places a pod where pods of a class can follow it, all of a number if
// there is such a place.
func (e *ejector) goesBefore(podID int32, c, n int) bool {
	m := e.p.ClassOf[podID]
	if !e.follows(c, m) {
		return false
	}
	defer func() { e.beside, e.lead = nil, nil }()
	e.lead = e.p.Admission.Lowered(c)
	for _, count := range []int{n, 1} {
		e.beside = times(e.p.OfResources(e.p.Requests[c]), count)
		both, ok := attempt.Together(e.p.OfResources(e.p.Requests[m]), e.beside)
		if !ok {
			continue
		}
		for _, s := range e.ledger.Bins[:len(e.p.Nodes)] {
			if n := &e.p.Nodes[s.Node]; e.p.Admits(c, n) && compile.Within(both, s.Free) && e.onto(s, m) {
				e.put(s, m, podID)
				return true
			}
		}
		if s := e.fresh(m, math.Inf(1)); s != nil {
			e.ledger.Open(s)
			e.put(s, m, podID)
			return true
		}
	}
	return false
}

// spot returns the place for a pod of a class, nil if there is none.
func (e *ejector) spot(c int, not *ledger.Bin) *ledger.Bin {
	var best *ledger.Bin
	var as *ledger.BinType
	level, dearer := math.MaxInt, math.Inf(1)
	better := func(s *ledger.Bin, sh *ledger.BinType, more float64) {
		if at := e.level(c, s, sh); at < level || at == level && more < dearer {
			best, as, level, dearer = s, sh, at, more
		}
	}
	for _, s := range e.ledger.Bins {
		if s == not {
			continue
		}
		if s.Node >= 0 {
			if e.onto(s, c) {
				better(s, nil, 0)
			}
		} else {
			for _, sh := range e.narrowedEach(s, c, dearer) {
				better(s, sh, sh.Price()-s.BinType.Price())
			}
		}
		if e.manner != evenly && dearer <= 0 {
			break
		}
	}
	if e.manner == evenly || dearer > 0 {
		for _, s := range e.freshOnes(c, not) {
			better(s, nil, s.BinType.Price())
		}
	}
	switch {
	case best == nil:
	case best.Number < 0:
		e.ledger.Open(best)
	case as != nil:
		e.become(best, as)
	}
	return best
}

// narrowedEach lists what a new node may become that takes a pod of a class as well: what
// costs least, if that is less than some amount more; or that in each cell, where the pod is
// to be spread evenly.
func (e *ejector) narrowedEach(s *ledger.Bin, c int, limit float64) (out []*ledger.BinType) {
	if e.manner != evenly {
		if sh := e.narrowed(s, c, limit); sh != nil {
			out = append(out, sh)
		}
		return out
	}
	cells := e.st.cells(c)
	for i := range cells {
		if sh := e.narrowedTo(s, c, e.st.plainIn(c, &cells[i]), math.Inf(1)); sh != nil {
			out = append(out, sh)
		}
	}
	return out
}

// freshOnes lists nodes for a pod of a class alone: the cheapest; that of each cell,
// where it is to be spread evenly; or that of each cell but the one of another bin.
func (e *ejector) freshOnes(c int, not *ledger.Bin) []*ledger.Bin {
	cells := e.st.cells(c)
	if e.manner == byPrice || not == nil && e.manner == elsewhere {
		if s := e.freshIn(c, cells, math.Inf(1)); s != nil {
			return []*ledger.Bin{s}
		}
		return nil
	}
	var out []*ledger.Bin
	for i := range cells {
		if s := e.freshIn(c, cells[i:i+1], math.Inf(1)); s != nil && (not == nil || len(cells) < 2 || !inside(s.At, not.At)) {
			out = append(out, s)
		}
	}
	return out
}

// level is how many pods the topology spread constraints of a class count where a bin
// is, as it is to become; 0 unless that matters.
func (e *ejector) level(c int, s *ledger.Bin, sh *ledger.BinType) int {
	if e.manner != evenly {
		return 0
	}
	at := s.At
	if sh != nil {
		at = ledger.BinTypeLocations(e.p, sh)
	}
	sum := 0
	for _, r := range e.p.Rules.Duties[c].Owns {
		rule := &e.p.Rules.Domain[r]
		if rule.Kind != topology.Spread {
			continue
		}
		for _, d := range at[rule.Rule.Key].Domains {
			sum += e.ledger.Counts[r].Most[d]
		}
	}
	for _, i := range e.ledger.HostsOf(c) {
		if s.Number >= 0 {
			sum += e.ledger.Hosts.Spreads[i].There[s.Number]
		}
	}
	return sum
}

// decide gives up options of new nodes that leave it open whether a topology spread
// constraint of a class counts them, and where: those that are unlike the cheapest. It
// says whether there were any.
func (e *ejector) decide(c int) bool {
	some := false
	for _, s := range e.ledger.Bins {
		if s.Node >= 0 {
			continue
		}
		options := s.BinType.Options.Clone()
		for _, r := range e.p.Rules.Duties[c].Owns {
			if rule := &e.p.Rules.Domain[r]; rule.Kind == topology.Spread {
				e.keepAlike(options, rule)
			}
		}
		if sh := e.shaped(s, options, s.BinType.Trait, s.BinType.Asked); sh != nil && !options.Equal(s.BinType.Options) {
			s.BinType, s.At, some = sh, ledger.BinTypeLocations(e.p, sh), true
		}
	}
	return some
}

// keepAlike leaves those of some options that a rule sees as it sees the first.
func (e *ejector) keepAlike(options bitset.Set, rule *compile.DomainRule) {
	first := options.First()
	keep := func(set bitset.Set) {
		if set.Has(first) {
			options.And(set)
		} else {
			options.AndNot(set)
		}
	}
	for d := range e.p.Table.Values[rule.Rule.Key] {
		keep(e.p.InPlace(rule.Rule.Key, d))
	}
	keep(e.p.LookedAt(rule, true))
	keep(e.p.LookedAt(rule, false))
}
