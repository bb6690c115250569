package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// place finds a place for a pod of a node that is being emptied: on another node of
// the plan, in the place of a pod that finds room elsewhere, or on a node of its own
// that is cheaper.
func (k *closer) place(rank int32, from *site) bool {
	if to, sh := k.roomFor(k.a.classOf[rank], k.tier, from, from, k.budget); to != nil {
		k.put(rank, to, sh)
		return true
	}
	return k.pushAside(rank, from) || k.buy(rank)
}

// roomFor returns the site to which a pod of a class can come for least more than it
// costs already, if that is below a limit, and what becomes of it; nil if there is
// none. New nodes are of a tier at most.
func (k *closer) roomFor(c, tier int, not, nor *site, limit float64) (best *site, as *shape) {
	for _, s := range k.sites {
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
		sh := k.narrowed(s, c)
		if sh == nil {
			continue
		}
		if more := sh.price() - s.shape.price(); more < limit {
			best, as, limit = s, sh, more
		}
		if limit <= 0 {
			break
		}
	}
	return best, as
}

// welcomes says whether a new node is one that pods of a class may be moved to, as far
// as weights and their preferences go.
func (k *closer) welcomes(s *site, c, tier int) bool {
	if len(s.ranks) == 0 || k.p.lowPools[s.shape.pool].Tier > tier {
		return false
	}
	if k.p.flexible != nil && len(k.p.minValues[s.shape.pool]) > 0 {
		return false // it may lose its spot options in the end, and become dearer
	}
	w := &k.p.wishes[c]
	if k.a.s.unwished[c] || k.a.s.firm[c] {
		return true
	}
	return len(w.spans) == 0 && (w.options == nil || s.shape.options.SubsetOf(w.options))
}

// settledFor says whether it is known where a site is, as far as it matters to pods of
// a class: NodeClaims that are not launched take those only that find no other place.
func (k *closer) settledFor(s *site, c int) bool {
	d := &k.p.rules.duties[c]
	return s.node < 0 || len(d.owns)+len(d.joins) == 0 || !slices.Contains(k.p.nodes[s.node].at, topology.Unknown)
}

// leansNot says whether a site may have one more pod of a class by spreads over the
// name of the node whatever is on others.
func (k *closer) leansNot(c int, s *site) bool {
	for _, i := range k.ledger.hostsOf(c) {
		if h := &k.ledger.hosts.spreads[i]; h.there[s.number]+1 > h.rule.term.skew {
			return false
		}
	}
	return true
}

// pushAside places a pod where another one makes room for it that finds room elsewhere.
func (k *closer) pushAside(rank int32, from *site) bool {
	c := k.a.classOf[rank]
	for _, s := range k.sites {
		if s == from || !k.settledFor(s, c) || s.node < 0 && !k.welcomes(s, c, k.tier) || s.node >= 0 && !k.p.admits(c, &k.p.nodes[s.node]) {
			continue
		}
		for _, m := range s.pods {
			if m.class == c || !k.makesRoom(s, c, m.class) {
				continue
			}
			if k.left--; k.left <= 0 {
				return false
			}
			to, sh := k.roomFor(m.class, k.tierOn(s, m.class), from, s, 1e-12)
			if to == nil {
				continue
			}
			other := s.ranks[slices.IndexFunc(s.ranks, func(r int32) bool { return k.a.classOf[r] == m.class })]
			k.remove(other, s)
			k.put(other, to, sh)
			return k.come(rank, s)
		}
	}
	return false
}

// tierOn is the highest tier to which a pod of a class may come that is on a site.
func (k *closer) tierOn(s *site, c int) int {
	if s.node < 0 {
		return k.p.lowPools[s.shape.pool].Tier
	}
	for o := range k.p.admission.lowered(c).All() {
		for i := range k.p.lowPools {
			if o < k.p.lowPools[i].Last {
				return k.p.lowPools[i].Tier
			}
		}
	}
	return -1
}

// come puts a pod on a site if it has room for it.
func (k *closer) come(rank int32, s *site) bool {
	c := k.a.classOf[rank]
	if !k.leansNot(c, s) {
		return false
	}
	if s.node >= 0 {
		if !k.onto(s, c) {
			return false
		}
		k.put(rank, s, nil)
		return true
	}
	sh := k.narrowed(s, c)
	if sh == nil || sh.price()-s.shape.price() >= k.budget {
		return false
	}
	k.put(rank, s, sh)
	return true
}

// makesRoom says whether a site may have room for a pod of one class when one of
// another is gone.
func (k *closer) makesRoom(s *site, c, without int) bool {
	less := k.p.requests[without]
	if s.node < 0 {
		s.shape.mayHold(k.p, s.taken) // works out what it has at most
	}
	for r, n := range k.p.requests[c][:len(k.p.resources)] {
		if n == 0 {
			continue
		}
		left := less[r]
		if s.node >= 0 {
			left += s.free[r]
		} else {
			left += s.shape.most[r] - s.taken[r]
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
func (k *closer) buy(rank int32) bool {
	if k.left -= freshLooks; k.left <= 0 {
		return false
	}
	s := k.fresh(k.a.classOf[rank])
	if s == nil || k.priced(s) >= k.budget || k.p.lowPools[s.shape.pool].Tier > k.tier {
		return false
	}
	k.ledger.open(s)
	k.sites, k.bought = append(k.sites, s), append(k.bought, s)
	k.budget -= k.priced(s)
	k.put(rank, s, nil)
	return true
}

// put moves a pod to a site, which becomes another if it is a new node.
func (k *closer) put(rank int32, to *site, sh *shape) {
	k.save(to)
	c := k.a.classOf[rank]
	if sh != nil && sh != to.shape {
		k.budget -= sh.price() - to.shape.price()
		k.become(to, sh)
	}
	k.p.addTo(to, c, rank)
	k.ledger.count(c, 1, to)
	to.late = true
	k.moved = append(k.moved, rank)
}

// remove takes a pod off a site.
func (k *closer) remove(rank int32, s *site) {
	k.save(s)
	k.ledger.count(k.a.classOf[rank], -1, s)
	ranks := slices.DeleteFunc(slices.Clone(s.ranks), func(r int32) bool { return r == rank })
	k.p.vacate(s)
	s.late = true
	for _, r := range ranks {
		k.p.addTo(s, k.a.classOf[r], r)
	}
}
