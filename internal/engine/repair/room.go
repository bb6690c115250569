package repair

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// placementMode is the placement mode of a search: how it finds places for unplaced pods.
type placementMode int

const (
	// byPrice: where the plan costs least.
	byPrice placementMode = iota
	// evenly: where the topology spread constraints of the pod count fewest pods.
	evenly
	// elsewhere: evicted pods go to other nodes where possible, before the unplaced pods are
	// placed. The unplaced pods may need one of them as the pod that their affinity requires, or as
	// a pod in a domain that is empty.
	elsewhere
	// inFront: one of the pods that are taken off is placed first, on a node that has room for the
	// pods that must follow it to its node.
	inFront
	// byExchange: as byPrice, and where no node has room, one pod of the plan moves to another node.
	byExchange
)

// comeAny finds a place for a pod on any bin except one, and puts it there.
func (r *search) comeAny(podID int32, not *ledger.Bin) bool {
	c := r.p.ClassOf[podID]
	s := r.spot(c, not)
	if s == nil {
		return false
	}
	r.put(podID, s, nil)
	return true
}

// goesBefore places a pod on a node to which pods of class c can follow it: where all n of them
// fit, or else where one fits.
func (r *search) goesBefore(podID int32, c, n int) bool {
	m := r.p.ClassOf[podID]
	if !r.follows(c, m) {
		return false
	}
	defer func() { r.extra, r.lead = nil, nil }()
	r.lead = r.p.Admission.Lowered(c)
	for _, count := range []int{n, 1} {
		r.extra = times(r.p.OfResources(r.p.Requests[c]), count)
		both, ok := attempt.Together(r.p.OfResources(r.p.Requests[m]), r.extra)
		if !ok {
			continue
		}
		for _, s := range r.ledger.Bins[:len(r.p.Nodes)] {
			if n := &r.p.Nodes[s.Node]; r.p.Admits(c, n) && compile.Within(both, s.Free) && r.onto(s, m) {
				r.put(podID, s, nil)
				return true
			}
		}
		if s := r.fresh(m, math.Inf(1)); s != nil {
			r.open(s)
			r.put(podID, s, nil)
			return true
		}
	}
	return false
}

// spot returns the place for a pod of a class on any bin except one, nil if there is none.
func (r *search) spot(c int, not *ledger.Bin) *ledger.Bin {
	var best *ledger.Bin
	var as *ledger.BinType
	level, dearer := math.MaxInt, math.Inf(1)
	better := func(s *ledger.Bin, sh *ledger.BinType, more float64) {
		if at := r.level(c, s, sh); at < level || at == level && more < dearer {
			best, as, level, dearer = s, sh, at, more
		}
	}
	for _, s := range r.ledger.Bins {
		if s == not || s.Shut {
			continue
		}
		if s.Node >= 0 {
			if r.onto(s, c) {
				better(s, nil, 0)
			}
		} else {
			for _, sh := range r.narrowedEach(s, c, dearer) {
				better(s, sh, sh.Price()-s.BinType.Price())
			}
		}
		if r.mode != evenly && dearer <= 0 {
			break
		}
	}
	if r.mode == evenly || dearer > 0 {
		fresh, k := r.freshOnes(c, not)
		for _, s := range fresh {
			better(s, nil, s.BinType.Price()/float64(k))
		}
	}
	switch {
	case best == nil:
	case best.Number < 0:
		r.open(best)
	case as != nil:
		r.ledger.Become(best, as)
	}
	return best
}

// narrowedEach lists bin types of a new node with one more pod of a class: the one that costs
// least, if it costs less than limit more; in mode evenly the one of each cell.
func (r *search) narrowedEach(s *ledger.Bin, c int, limit float64) (out []*ledger.BinType) {
	if r.mode != evenly {
		if sh := r.narrowed(s, c, limit); sh != nil {
			out = append(out, sh)
		}
		return out
	}
	cells := r.st.cells(c)
	for i := range cells {
		if sh := r.narrowedTo(s, c, r.st.plainIn(c, &cells[i]), math.Inf(1)); sh != nil {
			out = append(out, sh)
		}
	}
	return out
}

// freshOnes lists new nodes for a pod of a class. By price it is one node: the one that costs least
// for each of the unplaced pods of the class. In other modes it is the cheapest node of each cell,
// except the cell of the bin not, if that is set. each is the number of pods for which the node was
// chosen.
func (r *search) freshOnes(c int, not *ledger.Bin) (out []*ledger.Bin, each int) {
	cells := r.st.cells(c)
	if r.mode == byPrice || r.mode == byExchange || not == nil && r.mode == elsewhere {
		if s, k := r.freshForMany(c, max(r.many[c], 1), cells); s != nil {
			return []*ledger.Bin{s}, k
		}
		return nil, 1
	}
	for i := range cells {
		if s := r.freshIn(c, cells[i:i+1], math.Inf(1)); s != nil && (not == nil || len(cells) < 2 || !inside(s.At, not.At)) {
			out = append(out, s)
		}
	}
	return out, 1
}

// level returns how many pods the topology spread constraints of a class count in the domains of a
// bin with its new bin type; 0 unless the mode is evenly.
func (r *search) level(c int, s *ledger.Bin, sh *ledger.BinType) int {
	if r.mode != evenly {
		return 0
	}
	at := s.At
	if sh != nil {
		at = ledger.BinTypeLocations(r.p, sh)
	}
	sum := 0
	for _, i := range r.p.Rules.ByClass[c].Owns {
		rule := &r.p.Rules.Domain[i]
		if rule.Kind != topology.Spread {
			continue
		}
		for _, d := range at[rule.Key].Domains {
			sum += r.ledger.Counts[i].Members[d]
		}
	}
	for _, i := range r.ledger.HostsOf(c) {
		if s.Number >= 0 {
			sum += r.ledger.Hosts[i].On[s.Number].Members
		}
	}
	return sum
}

// decide removes options of new nodes that differ from the cheapest option in whether, or in which
// domain, a topology spread constraint of a class counts the node.
func (r *search) decide(c int) {
	for _, s := range r.ledger.Bins {
		if s.Node >= 0 {
			continue
		}
		options := s.BinType.Options.Clone()
		for _, i := range r.p.Rules.ByClass[c].Owns {
			if rule := &r.p.Rules.Domain[i]; rule.Kind == topology.Spread {
				r.keepAlike(options, rule)
			}
		}
		if sh := r.shaped(s, options, s.BinType.Trait, s.BinType.Asked); sh != nil && !options.Equal(s.BinType.Options) {
			r.ledger.Become(s, r.st.cloneBinType(sh))
		}
	}
}

// keepAlike keeps those options that a rule counts as it counts the first.
func (r *search) keepAlike(options bitset.Set, rule *compile.DomainRule) {
	first := options.First()
	keep := func(set bitset.Set) {
		if set.Has(first) {
			options.And(set)
		} else {
			options.AndNot(set)
		}
	}
	for d := range r.p.Table.Values[rule.Key] {
		keep(r.p.InPlace(rule.Key, d))
	}
	keep(r.p.LookedAt(rule, true))
	keep(r.p.LookedAt(rule, false))
}
