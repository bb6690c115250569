package repair

import (
	"iter"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// place puts a pod of a trial where that adds least cost: on a node of the plan or on a node of its
// own, within the budget. If there is no such place, it tries stay, and then to make another pod
// leave.
func (r *search) place(podID int32) bool {
	if r.placing {
		return r.comeAny(podID, nil) || r.mode == byExchange && r.ejectOne(podID)
	}
	c := r.p.ClassOf[podID]
	to, as := r.roomFor(c, r.tier, nil, r.budget)
	more := r.budget
	switch {
	case to != nil && as == nil:
		more = 0
	case to != nil:
		more = as.Price() - to.BinType.Price()
	}
	if more > 0 && (to == nil || r.weighs) {
		if s := r.affordable(c, more); s != nil {
			r.open(s)
			to, as = s, nil
		}
	}
	if to == nil {
		return r.stay(podID) || r.ejectOne(podID) || r.buyFor(podID)
	}
	r.put(podID, to, as)
	return true
}

// stay places a pod within the domains of its topology spread constraints if these admit it only
// before pods that were bound later: it keeps its position in the order. That is valid as long as
// only pods of one node move.
func (r *search) stay(podID int32) bool {
	c := r.p.ClassOf[podID]
	if !r.turns || !r.isSpread(c) {
		return false
	}
	r.ledger.Home = r.ledger.Before(r.homes[podID])
	to, as := r.roomFor(c, r.tier, nil, r.budget)
	r.ledger.Home = nil
	if to == nil {
		return false
	}
	r.put(podID, to, as)
	r.inTurn = true
	return true
}

// isSpread says whether pods of a class have topology spread constraints over domains.
func (r *search) isSpread(c int) bool {
	return slices.ContainsFunc(r.p.Rules.ByClass[c].Owns, func(i int) bool { return r.p.Rules.Domain[i].Kind == topology.Spread })
}

// roomFor returns the bin on which a pod of a class adds least cost, if that is below a limit, and
// the bin type that the bin then has; nil if there is none. A new node must be of at most the given
// tier, or be launched anyway.
func (r *search) roomFor(c, tier int, not *ledger.Bin, limit float64) (best *ledger.Bin, as *ledger.BinType) {
	for _, s := range r.ledger.Bins {
		if s == not || !r.evenWithoutNewNodes(c, s) || !r.isLocatedFor(s, c) {
			continue
		}
		if s.Node >= 0 {
			if r.onto(s, c) {
				return s, nil
			}
			continue
		}
		if !r.acceptsMoved(s, c, tier) {
			continue
		}
		narrower := r.narrowed(s, c, limit)
		if narrower == nil {
			continue
		}
		best, as, limit = s, narrower, narrower.Price()-s.BinType.Price()
		if limit <= 0 {
			break
		}
	}
	return best, as
}

// acceptsMoved says whether pods of a class may move to a new node, by the weight of its pool and
// by their preferences.
func (r *search) acceptsMoved(s *ledger.Bin, c, tier int) bool {
	if len(s.PodIDs) == 0 || r.p.LowPools[s.BinType.Pool].Tier > tier && !(r.fills && isAnyway(r.p, s, -1)) {
		return false
	}
	if r.p.Flexible != nil && len(r.p.MinValues[s.BinType.Pool]) > 0 {
		return false // it may lose its spot options at the end and become more expensive
	}
	w := &r.p.Preferences[c]
	if r.placing || r.st.s.GivesUp(c) || r.st.s.Relaxed[c] {
		return true
	}
	return len(w.Spans) == 0 && (w.Options == nil || s.BinType.Options.SubsetOf(w.Options))
}

// isLocatedFor says whether the domains of a bin are known, or no constraint counts pods of the
// class. Pods that constraints count go to NodeClaims that are not launched only if there is no
// other place.
func (r *search) isLocatedFor(s *ledger.Bin, c int) bool {
	d := &r.p.Rules.ByClass[c]
	return r.placing || s.Node < 0 || len(d.Owns)+len(d.Joins) == 0 || !slices.Contains(r.p.Nodes[s.Node].At, topology.Unknown)
}

// evenWithoutNewNodes says whether spreads over the hostname allow one more pod of a class on a bin
// if other new nodes are left out: at most maxSkew above the emptiest existing node, or above zero.
// Otherwise one new node would take all pods that are to be spread.
func (r *search) evenWithoutNewNodes(c int, s *ledger.Bin) bool {
	for _, i := range r.ledger.HostsOf(c) {
		h := &r.ledger.Hosts[i]
		if there := h.On[s.Number].Members + 1 - h.Rule.Term.Skew; there > 0 && there > r.ledger.LeastThere(h) {
			return false
		}
	}
	return true
}

// tierOn returns the highest tier to which a pod of a class that is on a bin may move.
func (r *search) tierOn(s *ledger.Bin, c int) int {
	if s.Node < 0 {
		return r.p.LowPools[s.BinType.Pool].Tier
	}
	return r.p.Tiers.Heaviest[c]
}

// ejectOne places a pod where another pod can make room by moving elsewhere at no cost.
func (r *search) ejectOne(podID int32) bool {
	for s, other := range r.makingRoom(r.p.ClassOf[podID]) {
		if r.left--; r.left <= 0 {
			return false
		}
		m := r.p.ClassOf[other]
		if to, as := r.roomFor(m, r.tierOn(s, m), s, 1e-12); to != nil {
			r.remove(other, s)
			r.put(other, to, as)
			return r.come(podID, s)
		}
	}
	return false
}

// buyFor places a pod that cannot have a node of its own, because it must be with other pods:
// another pod makes room for it and gets a new node.
func (r *search) buyFor(podID int32) bool {
	c := r.p.ClassOf[podID]
	if len(r.p.Rules.ByClass[c].With) == 0 {
		return false
	}
	for s, other := range r.makingRoom(c) {
		if own := r.affordable(r.p.ClassOf[other], r.budget); own != nil {
			r.remove(other, s)
			r.open(own)
			r.put(other, own, nil)
			return r.come(podID, s)
		}
	}
	return false
}

// makingRoom yields pairs of a bin and a pod on it, where a pod of a class may fit on the bin
// without that pod: one pair for each other class on each bin.
func (r *search) makingRoom(c int) iter.Seq2[*ledger.Bin, int32] {
	return func(yield func(*ledger.Bin, int32) bool) {
		for _, s := range r.ledger.Bins {
			if !r.isLocatedFor(s, c) || s.Node < 0 && !r.acceptsMoved(s, c, r.tier) || s.Node >= 0 && !r.p.Admits(c, &r.p.Nodes[s.Node]) {
				continue
			}
			for _, m := range s.Pods {
				if m.Class == c || !r.makesRoom(s, c, m.Class) || !r.keepsReason(s, m.Class) {
					continue
				}
				if !yield(s, s.PodIDs[slices.IndexFunc(s.PodIDs, func(other int32) bool { return r.p.ClassOf[other] == m.Class })]) {
					return
				}
			}
		}
	}
}

// keepsReason says whether a new node that is launched anyway is so without one pod of a class. It
// is always true where that does not matter.
func (r *search) keepsReason(s *ledger.Bin, class int) bool {
	return s.Node >= 0 || !r.fills || !isAnyway(r.p, s, -1) || isAnyway(r.p, s, class)
}

// come puts a pod on a bin if the bin has room, and says whether it did.
func (r *search) come(podID int32, s *ledger.Bin) bool {
	c := r.p.ClassOf[podID]
	if !r.evenWithoutNewNodes(c, s) {
		return false
	}
	var narrower *ledger.BinType
	var fits bool
	if s.Node >= 0 {
		fits = r.onto(s, c)
	} else {
		narrower = r.narrowed(s, c, r.budget)
		fits = narrower != nil
	}
	if fits {
		r.put(podID, s, narrower)
	}
	return fits
}

// makesRoom says whether a bin may have room for a pod of class c without one pod of class without.
func (r *search) makesRoom(s *ledger.Bin, c, without int) bool {
	return s.HasRoom(r.p, (*ledger.BinType).Greatest, r.p.OfResources(r.p.Requests[c]), r.p.Requests[without])
}

// affordable returns a node for a pod of a class alone that costs less than a limit in USD per
// hour, fee included; nil if there is none.
func (r *search) affordable(c int, limit float64) *ledger.Bin {
	s := r.fresh(c, limit)
	if s == nil || r.priced(s) >= limit || r.p.LowPools[s.BinType.Pool].Tier > r.tier {
		return nil
	}
	return s
}

// open adds a new node to the plan and pays for it from the budget.
func (r *search) open(s *ledger.Bin) {
	r.ledger.Open(s)
	r.budget -= r.priced(s)
}

// put moves a pod to a bin. A new node gets the bin type as, if not nil.
func (r *search) put(podID int32, to *ledger.Bin, as *ledger.BinType) {
	if as != nil && as != to.BinType {
		r.budget -= as.Price() - to.BinType.Price()
		r.ledger.Become(to, as)
	}
	r.placer.put(to, podID)
	r.moved = append(r.moved, podID)
	r.many[r.p.ClassOf[podID]]--
}

// remove takes a pod off a bin.
func (r *search) remove(podID int32, s *ledger.Bin) {
	r.ledger.Take(s, func(other int32) bool { return other == podID })
}

// isAnyway says whether a new node has a pod that no heavier pool can take, not counting one pod of
// class without if without is not negative.
func isAnyway(p *compile.Problem, s *ledger.Bin, without int) bool {
	tier := p.LowPools[s.BinType.Pool].Tier
	for _, m := range s.Pods {
		if p.Tiers.Heaviest[m.Class] == tier && (m.Class != without || m.Count > 1) {
			return true
		}
	}
	return false
}
