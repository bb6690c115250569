package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// place finds a place for a pod of a node that is being emptied: on another node of
// the plan, in the place of a pod that finds room elsewhere, or on a node of its own
// that is cheaper.
func (k *eliminator) place(podID int32, from *bin) bool {
	if to, sh := k.roomFor(k.a.classOf[podID], k.tier, from, from, k.budget); to != nil {
		k.put(podID, to, sh)
		return true
	}
	return !k.p.skips(ejectOne) && k.ejectOne(podID, from) || !k.p.skips(cheaperAlone) && k.buy(podID)
}

// roomFor returns the bin to which a pod of a class can come for least more than it
// costs already, if that is below a limit, and what becomes of it; nil if there is
// none. New nodes are of a tier at most, or launched anyway.
func (k *eliminator) roomFor(c, tier int, not, nor *bin, limit float64) (best *bin, as *binType) {
	for _, s := range k.bins {
		if s == not || s == nor || !k.leansNot(c, s) || !k.settledFor(s, c) {
			continue
		}
		if s.node >= 0 {
			if k.onto(s, c) {
				return s, nil
			}
			continue
		}
		if !k.welcomes(s, c, tier) {
			continue
		}
		sh := k.narrowed(s, c, limit)
		if sh == nil {
			continue
		}
		best, as, limit = s, sh, sh.price()-s.binType.price()
		if limit <= 0 {
			break
		}
	}
	return best, as
}

// welcomes says whether a new node is one that pods of a class may be moved to, as far
// as weights and their preferences go.
func (k *eliminator) welcomes(s *bin, c, tier int) bool {
	if len(s.podIDs) == 0 || k.p.lowPools[s.binType.pool].Tier > tier && !(k.fills && k.p.isAnyway(s, -1)) {
		return false
	}
	if k.p.flexible != nil && len(k.p.minValues[s.binType.pool]) > 0 {
		return false // it may lose its spot options in the end, and become dearer
	}
	w := &k.p.preferences[c]
	if k.a.s.givesUp(c) || k.a.s.relaxed[c] {
		return true
	}
	return len(w.spans) == 0 && (w.options == nil || s.binType.options.SubsetOf(w.options))
}

// mayFill says whether a pod of a new node may find room on a lighter one that is launched
// anyway, as far as options and resources tell. Where none does, what there is to find was to be
// found without such nodes.
func (k *eliminator) mayFill(from *bin) bool {
	tier := k.p.lowPools[from.binType.pool].Tier
	for _, s := range k.a.new {
		if k.p.lowPools[s.binType.pool].Tier <= tier || !k.p.isAnyway(s, -1) {
			continue
		}
		for _, m := range from.pods {
			if s.binType.mayHold(k.p, k.takes(m.class, s), s.taken) && k.p.admission.lowered(m.class).Overlaps(s.binType.options) {
				return true
			}
		}
	}
	return false
}

// settledFor says whether it is known where a bin is, as far as it matters to pods of
// a class: NodeClaims that are not launched take those only that find no other place.
func (k *eliminator) settledFor(s *bin, c int) bool {
	d := &k.p.rules.duties[c]
	return s.node < 0 || len(d.owns)+len(d.joins) == 0 || !slices.Contains(k.p.nodes[s.node].at, topology.Unknown)
}

// leansNot says whether a bin may have one more pod of a class by spreads over the
// name of the node whatever is on other new nodes: no more than maxSkew above the
// emptiest node that exists, or above none. Otherwise one new node would do for all
// pods that are to be spread.
func (k *eliminator) leansNot(c int, s *bin) bool {
	for _, i := range k.ledger.hostsOf(c) {
		h := &k.ledger.hosts.spreads[i]
		if there := h.there[s.number] + 1 - h.rule.term.skew; there > 0 && there > k.ledger.leastThere(h) {
			return false
		}
	}
	return true
}

// ejectOne places a pod where another one makes room for it that finds room elsewhere.
func (k *eliminator) ejectOne(podID int32, from *bin) bool {
	c := k.a.classOf[podID]
	for _, s := range k.bins {
		if s == from || !k.settledFor(s, c) || s.node < 0 && !k.welcomes(s, c, k.tier) || s.node >= 0 && !k.p.admits(c, &k.p.nodes[s.node]) {
			continue
		}
		for _, m := range s.pods {
			if m.class == c || !k.makesRoom(s, c, m.class) || !k.keepsReason(s, m.class) {
				continue
			}
			if k.left--; k.left <= 0 {
				return false
			}
			to, sh := k.roomFor(m.class, k.tierOn(s, m.class), from, s, 1e-12)
			if to == nil {
				continue
			}
			other := s.podIDs[slices.IndexFunc(s.podIDs, func(r int32) bool { return k.a.classOf[r] == m.class })]
			k.remove(other, s)
			k.put(other, to, sh)
			return k.come(podID, s)
		}
	}
	return false
}

// keepsReason says whether a new node that is launched anyway is so without a pod of a
// class, as far as that matters.
func (k *eliminator) keepsReason(s *bin, class int) bool {
	return s.node >= 0 || !k.fills || !k.p.isAnyway(s, -1) || k.p.isAnyway(s, class)
}

// tierOn is the highest tier to which a pod of a class may come that is on a bin.
func (k *eliminator) tierOn(s *bin, c int) int {
	if s.node < 0 {
		return k.p.lowPools[s.binType.pool].Tier
	}
	return k.p.tiers.heaviest[c]
}

// come puts a pod on a bin if it has room for it.
func (k *eliminator) come(podID int32, s *bin) bool {
	c := k.a.classOf[podID]
	if !k.leansNot(c, s) {
		return false
	}
	if s.node >= 0 {
		if !k.onto(s, c) {
			return false
		}
		k.put(podID, s, nil)
		return true
	}
	sh := k.narrowed(s, c, k.budget)
	if sh == nil {
		return false
	}
	k.put(podID, s, sh)
	return true
}

// makesRoom says whether a bin may have room for a pod of one class when one of
// another is gone.
func (k *eliminator) makesRoom(s *bin, c, without int) bool {
	less := k.p.requests[without]
	for r, n := range k.p.requests[c][:len(k.p.resources)] {
		if n == 0 {
			continue
		}
		left := less[r]
		if s.node >= 0 {
			left += s.free[r]
		} else {
			left += s.binType.greatest(k.p)[r] - s.taken[r]
		}
		if n > left {
			return false
		}
	}
	return true
}

// freshLooks is what a node of its own for a pod counts for, as it is looked for in all
// pools.
const freshLooks = 10

// buy launches a node for a pod.
func (k *eliminator) buy(podID int32) bool {
	if k.left -= freshLooks; k.left <= 0 {
		return false
	}
	s := k.fresh(k.a.classOf[podID])
	if s == nil || k.priced(s) >= k.budget || k.p.lowPools[s.binType.pool].Tier > k.tier {
		return false
	}
	k.ledger.open(s)
	k.bins, k.bought = append(k.bins, s), append(k.bought, s)
	k.budget -= k.priced(s)
	k.put(podID, s, nil)
	return true
}

// put moves a pod to a bin, which becomes another if it is a new node.
func (k *eliminator) put(podID int32, to *bin, sh *binType) {
	k.save(to)
	c := k.a.classOf[podID]
	if sh != nil && sh != to.binType {
		k.budget -= sh.price() - to.binType.price()
		k.become(to, sh)
	}
	k.ledger.lean(c, to)
	k.p.addTo(to, c, podID)
	k.ledger.count(c, 1, to)
	to.late = true
	k.moved = append(k.moved, podID)
}

// remove takes a pod off a bin.
func (k *eliminator) remove(podID int32, s *bin) {
	k.save(s)
	k.ledger.count(k.a.classOf[podID], -1, s)
	podIDs := slices.DeleteFunc(slices.Clone(s.podIDs), func(r int32) bool { return r == podID })
	k.p.vacate(s)
	s.late = true
	for _, r := range podIDs {
		k.p.addTo(s, k.a.classOf[r], r)
	}
}
