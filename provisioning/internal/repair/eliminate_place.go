package repair

import (
	"iter"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// place finds a place for a pod of a node that is being emptied: on another node of
// the plan, in the place of a pod that finds room elsewhere, or on a node of its own
// that is cheaper. Of a pod that goes only where others are another has that node.
func (k *eliminator) place(podID int32, from *ledger.Bin) bool {
	if to, sh := k.roomFor(k.p.ClassOf[podID], k.tier, from, from, k.budget); to != nil {
		k.put(podID, to, sh)
		return true
	}
	return k.turns && k.stay(podID, from) || !k.p.Skips(model.EjectOne) && k.ejectOne(podID, from) ||
		!k.p.Skips(model.CheaperAlone) && (k.buy(podID) || k.buyFor(podID, from))
}

// stay moves a pod within the domains of its topology spread constraints, which are too full
// for it only as pods came after it: it keeps its turn.
func (k *eliminator) stay(podID int32, from *ledger.Bin) bool {
	c := k.p.ClassOf[podID]
	if !k.isSpread(c) {
		return false
	}
	k.ledger.Home = k.homes[podID]
	to, sh := k.roomFor(c, k.tier, from, from, k.budget)
	k.ledger.Home = nil
	if to == nil {
		return false
	}
	k.put(podID, to, sh)
	k.inTurn = true
	return true
}

// isSpread says whether pods of a class have topology spread constraints over domains.
func (k *eliminator) isSpread(c int) bool {
	return slices.ContainsFunc(k.p.Rules.Duties[c].Owns, func(r int) bool { return k.p.Rules.Domain[r].Kind == topology.Spread })
}

// hasSome says whether the plan has pods of classes of some kind.
func (k *eliminator) hasSome(kind func(c int) bool) bool {
	for c, n := range k.ledger.There {
		if n > 0 && kind(c) {
			return true
		}
	}
	return false
}

// follower says whether pods of a class go only to nodes where others are.
func (k *eliminator) follower(c int) bool { return len(k.p.Rules.Duties[c].With) > 0 }

// mayDoMore says whether what was not allowed before may help to empty a new node.
func (k *eliminator) mayDoMore(s *ledger.Bin) bool {
	kind := k.isSpread
	switch {
	case k.buysFor:
		kind = k.follower
	case !k.turns:
		return !k.fills || k.mayFill(s)
	}
	return slices.ContainsFunc(s.Pods, func(m attempt.Bundled) bool { return kind(m.Class) })
}

// roomFor returns the bin to which a pod of a class can come for least more than it
// costs already, if that is below a limit, and what becomes of it; nil if there is
// none. New nodes are of a tier at most, or launched anyway.
func (k *eliminator) roomFor(c, tier int, not, nor *ledger.Bin, limit float64) (best *ledger.Bin, as *ledger.BinType) {
	for _, s := range k.bins {
		if s == not || s == nor || !k.leansNot(c, s) || !k.settledFor(s, c) {
			continue
		}
		if s.Node >= 0 {
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
		best, as, limit = s, sh, sh.Price()-s.BinType.Price()
		if limit <= 0 {
			break
		}
	}
	return best, as
}

// welcomes says whether a new node is one that pods of a class may be moved to, as far
// as weights and their preferences go.
func (k *eliminator) welcomes(s *ledger.Bin, c, tier int) bool {
	if len(s.PodIDs) == 0 || k.p.LowPools[s.BinType.Pool].Tier > tier && !(k.fills && isAnyway(k.p, s, -1)) {
		return false
	}
	if k.p.Flexible != nil && len(k.p.MinValues[s.BinType.Pool]) > 0 {
		return false // it may lose its spot options in the end, and become dearer
	}
	w := &k.p.Preferences[c]
	if k.st.s.GivesUp(c) || k.st.s.Relaxed[c] {
		return true
	}
	return len(w.Spans) == 0 && (w.Options == nil || s.BinType.Options.SubsetOf(w.Options))
}

// mayFill says whether a pod of a new node may find room on a lighter one that is launched
// anyway, as far as options and resources tell. Where none does, what there is to find was to be
// found without such nodes.
func (k *eliminator) mayFill(from *ledger.Bin) bool {
	tier := k.p.LowPools[from.BinType.Pool].Tier
	for _, s := range k.st.New {
		if k.p.LowPools[s.BinType.Pool].Tier <= tier || !isAnyway(k.p, s, -1) {
			continue
		}
		for _, m := range from.Pods {
			if s.BinType.MayHold(k.p, k.takes(m.Class, s), s.Taken) && k.p.Admission.Lowered(m.Class).Overlaps(s.BinType.Options) {
				return true
			}
		}
	}
	return false
}

// settledFor says whether it is known where a bin is, as far as it matters to pods of
// a class: NodeClaims that are not launched take those only that find no other place.
func (k *eliminator) settledFor(s *ledger.Bin, c int) bool {
	d := &k.p.Rules.Duties[c]
	return s.Node < 0 || len(d.Owns)+len(d.Joins) == 0 || !slices.Contains(k.p.Nodes[s.Node].At, topology.Unknown)
}

// leansNot says whether a bin may have one more pod of a class by spreads over the
// name of the node whatever is on other new nodes: no more than maxSkew above the
// emptiest node that exists, or above none. Otherwise one new node would do for all
// pods that are to be spread.
func (k *eliminator) leansNot(c int, s *ledger.Bin) bool {
	for _, i := range k.ledger.HostsOf(c) {
		h := &k.ledger.Hosts.Spreads[i]
		if there := h.There[s.Number] + 1 - h.Rule.Term.Skew; there > 0 && there > k.ledger.LeastThere(h) {
			return false
		}
	}
	return true
}

// ejectOne places a pod where another one makes room for it that finds room elsewhere.
func (k *eliminator) ejectOne(podID int32, from *ledger.Bin) bool {
	for s, other := range k.makingRoom(k.p.ClassOf[podID], from) {
		if k.left--; k.left <= 0 {
			return false
		}
		m := k.p.ClassOf[other]
		if to, sh := k.roomFor(m, k.tierOn(s, m), from, s, 1e-12); to != nil {
			k.remove(other, s)
			k.put(other, to, sh)
			return k.come(podID, s)
		}
	}
	return false
}

// buyFor places a pod that cannot have a node of its own, as it goes only where others are,
// where another one makes room for it that gets one.
func (k *eliminator) buyFor(podID int32, from *ledger.Bin) bool {
	c := k.p.ClassOf[podID]
	if !k.buysFor || !k.follower(c) {
		return false
	}
	for s, other := range k.makingRoom(c, from) {
		if own := k.affordable(k.p.ClassOf[other]); own != nil {
			k.remove(other, s)
			k.open(own)
			k.put(other, own, nil)
			return k.come(podID, s)
		}
	}
	return false
}

// makingRoom yields bins, each with a pod in whose place one of a class may have room: one
// of each other class from each bin but that which is being emptied.
func (k *eliminator) makingRoom(c int, from *ledger.Bin) iter.Seq2[*ledger.Bin, int32] {
	return func(yield func(*ledger.Bin, int32) bool) {
		for _, s := range k.bins {
			if s == from || !k.settledFor(s, c) || s.Node < 0 && !k.welcomes(s, c, k.tier) || s.Node >= 0 && !k.p.Admits(c, &k.p.Nodes[s.Node]) {
				continue
			}
			for _, m := range s.Pods {
				if m.Class == c || !k.makesRoom(s, c, m.Class) || !k.keepsReason(s, m.Class) {
					continue
				}
				if !yield(s, s.PodIDs[slices.IndexFunc(s.PodIDs, func(r int32) bool { return k.p.ClassOf[r] == m.Class })]) {
					return
				}
			}
		}
	}
}

// keepsReason says whether a new node that is launched anyway is so without a pod of a
// class, as far as that matters.
func (k *eliminator) keepsReason(s *ledger.Bin, class int) bool {
	return s.Node >= 0 || !k.fills || !isAnyway(k.p, s, -1) || isAnyway(k.p, s, class)
}

// tierOn is the highest tier to which a pod of a class may come that is on a bin.
func (k *eliminator) tierOn(s *ledger.Bin, c int) int {
	if s.Node < 0 {
		return k.p.LowPools[s.BinType.Pool].Tier
	}
	return k.p.Tiers.Heaviest[c]
}

// come puts a pod on a bin if it has room for it.
func (k *eliminator) come(podID int32, s *ledger.Bin) bool {
	c := k.p.ClassOf[podID]
	if !k.leansNot(c, s) {
		return false
	}
	if s.Node >= 0 {
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
func (k *eliminator) makesRoom(s *ledger.Bin, c, without int) bool {
	less := k.p.Requests[without]
	for r, n := range k.p.OfResources(k.p.Requests[c]) {
		if n == 0 {
			continue
		}
		left := less[r]
		if s.Node >= 0 {
			left += s.Free[r]
		} else {
			left += s.BinType.Greatest(k.p)[r] - s.Taken[r]
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
	s := k.affordable(k.p.ClassOf[podID])
	if s == nil {
		return false
	}
	k.open(s)
	k.put(podID, s, nil)
	return true
}

// affordable is a node for a pod of a class alone that costs less than what is left, nil if
// there is none.
func (k *eliminator) affordable(c int) *ledger.Bin {
	if k.left -= freshLooks; k.left <= 0 {
		return nil
	}
	s := k.fresh(c, k.budget)
	if s == nil || k.priced(s) >= k.budget || k.p.LowPools[s.BinType.Pool].Tier > k.tier {
		return nil
	}
	return s
}

// put moves a pod to a bin, which becomes another if it is a new node.
func (k *eliminator) put(podID int32, to *ledger.Bin, sh *ledger.BinType) {
	k.save(to)
	c := k.p.ClassOf[podID]
	if sh != nil && sh != to.BinType {
		k.budget -= sh.Price() - to.BinType.Price()
		k.become(to, sh)
	}
	k.ledger.Lean(c, to)
	ledger.AddTo(k.p, to, c, podID)
	k.ledger.Count(c, 1, to)
	to.Late = true
	k.moved = append(k.moved, podID)
}

// remove takes a pod off a bin.
func (k *eliminator) remove(podID int32, s *ledger.Bin) {
	k.save(s)
	k.ledger.Count(k.p.ClassOf[podID], -1, s)
	podIDs := slices.DeleteFunc(slices.Clone(s.PodIDs), func(r int32) bool { return r == podID })
	ledger.Hold(k.p, s, podIDs)
	s.Late = true
}

// isAnyway says whether a new node is launched for a pod that no heavier pool can take,
// not counting one pod of class without, if that is not negative.
func isAnyway(p *compile.Problem, s *ledger.Bin, without int) bool {
	tier := p.LowPools[s.BinType.Pool].Tier
	for _, m := range s.Pods {
		if p.Tiers.Heaviest[m.Class] == tier && (m.Class != without || m.Count > 1) {
			return true
		}
	}
	return false
}
