package provisioning

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// closer takes new nodes out of a plan whose pods find room on others for less.
// Domains are assigned before anything is packed, as if nodes could be bought in
// pieces, and nodes that exist are filled before it is known what has to be bought;
// so a few pods may get nodes that the plan as a whole does not need.
type closer struct {
	gleaner
	sites []*site // nodes that exist, and then new ones

	// What has become of the node that is being emptied.
	before []savedSite // sites as they were
	moved  []int32     // pods, in the order in which they moved
	bought []*site     // nodes that were none before
	budget float64     // by how much other nodes may still become dearer
	tier   int         // of the node
}

// savedSite is a site as it was.
type savedSite struct {
	at    *site
	ranks []int32
	shape *shape
	late  bool
}

const (
	// closingTries is how many nodes are tried to be emptied.
	closingTries = 16
	// closingLooks bounds the work: looks at a node for a pod.
	closingLooks = 2_000
	// closingSites is up to how many nodes, and closingPods up to how many pods, a
	// plan is looked at as a whole: one node is little in larger ones.
	closingSites = 1_000
	closingPods  = 10_000
	// closingShare is the share of the cost of a plan that a node must have to be tried.
	closingShare = 0.0075
)

// closeNodes takes new nodes out of the plan as long as that makes it cheaper, those
// first that waste most. It returns the order in which pods can be bound then, and
// says whether it changed anything.
func (a *assembler) closeNodes(order []int32, steps int) ([]int32, bool) {
	if !a.mayClose(order, steps) {
		return order, false
	}
	k := &closer{gleaner: gleaner{a: a, p: a.p, left: closingLooks, order: order}}
	k.read()
	some, shown, again := false, false, false
	tried := map[*site]bool{}
	for range closingTries {
		s := k.mostWasteful(tried)
		if s == nil && again {
			clear(tried) // what had no room may have by now
			s, again = k.mostWasteful(tried), false
		}
		if s == nil || k.left <= 0 {
			break
		}
		tried[s] = true
		emptied := k.empty(s)
		if emptied && !shown {
			k.restore()
			if _, refused, _ := a.bindAll(order, false); len(refused) > 0 {
				break // what cannot be shown of the plan as it is cannot be shown of another
			}
			k.read()
			shown, emptied = true, k.empty(s)
		}
		if !emptied {
			k.restore()
		} else if k.accept() {
			some, again = true, true
		}
	}
	return k.order, some
}

// mayClose says whether nodes may be taken out of the plan: some choice was made
// before it was packed, and there are steps left.
func (a *assembler) mayClose(order []int32, steps int) bool {
	p := a.p
	nodes := len(a.new) + len(p.nodes)
	return !p.opts.Quick && steps < p.opts.MaxSteps && p.opts.CapacityMix == nil && a.s.raised == nil && a.leant == nil &&
		a.s.choseBefore(p) && len(a.new) > 0 && nodes > 1 && nodes <= closingSites && len(order) <= closingPods
}

// choseBefore says whether some pods were sent to a domain, or to nodes that exist,
// before new nodes were packed.
func (s *stage) choseBefore(p *Problem) bool { return len(s.units)+len(p.nodes) > 0 }

// read looks at the plan as it is.
func (k *closer) read() {
	k.sites = k.a.sites()
	k.ledger = newLedger(k.p, k.sites)
	k.before, k.moved, k.bought = nil, nil, nil
	// A domain that pods can be sent to is one to spread over, with a node or without.
	for c, n := range k.ledger.there {
		if n == 0 {
			continue
		}
		d := &k.p.rules.duties[c]
		keys := k.p.table.numbers(d.spans)
		for _, r := range d.owns {
			rule, count := &k.p.rules.domain[r], &k.ledger.counts[r]
			at := slices.Index(keys, rule.Rule.Key)
			if rule.Kind != topology.Spread || at < 0 {
				continue
			}
			for _, cell := range k.p.cells[c] {
				if d := cell.At[at]; d >= 0 {
					count.is[d], count.may[d] = true, true
				}
			}
		}
	}
}

// mostWasteful is the new node for which most is paid for nothing, of those that were
// not tried; nil if there is none.
func (k *closer) mostWasteful(tried map[*site]bool) *site {
	var best *site
	most, total := 0.0, 0.0
	for _, s := range k.a.new {
		total += k.priced(s)
	}
	for _, s := range k.a.new {
		if tried[s] || s.shape.price() <= 0 || k.priced(s) < total*closingShare {
			continue
		}
		if waste := k.priced(s) * (1 - k.used(s)); best == nil || waste > most {
			best, most = s, waste
		}
	}
	return best
}

// priced is what a new node costs when plans are compared.
func (k *closer) priced(s *site) float64 { return s.shape.price() + k.p.opts.NodeFee }

// used is how full a new node is, as the cheapest of its options, which is the first.
func (k *closer) used(s *site) float64 {
	for o := range s.shape.options.All() {
		return largestShare(s.taken[:len(k.p.resources)], k.p.lowOptions[o].Capacity)
	}
	return 0
}

// largestShare is the largest share that some amounts are of others.
func largestShare(amounts, of []int64) float64 {
	most := 0.0
	for r, n := range amounts {
		if of[r] > 0 {
			most = max(most, float64(n)/float64(of[r]))
		}
	}
	return most
}

// empty moves all pods of a new node to others, those first that are hard to move,
// and says whether that costs less than the node.
func (k *closer) empty(s *site) bool {
	k.budget = k.priced(s) * (1 - 1e-9)
	k.tier = k.p.lowPools[s.shape.pool].Tier
	ranks := slices.Clone(s.ranks)
	share := func(rank int32) float64 {
		return largestShare(k.p.requests[k.a.classOf[rank]][:len(k.p.resources)], s.taken)
	}
	slices.SortStableFunc(ranks, func(x, y int32) int { return -cmp.Compare(share(x), share(y)) })
	k.save(s)
	for _, m := range s.pods {
		k.ledger.count(m.class, -m.count, s)
	}
	s.ranks, s.pods = nil, nil
	for _, rank := range ranks {
		if !k.place(rank, s) {
			return false
		}
	}
	return true
}

// save notes a site as it is before anything moves.
func (k *closer) save(s *site) {
	if !slices.ContainsFunc(k.before, func(b savedSite) bool { return b.at == s }) {
		k.before = append(k.before, savedSite{s, slices.Clone(s.ranks), s.shape, s.late})
	}
}

// restore puts everything back.
func (k *closer) restore() {
	for _, b := range k.before {
		b.at.ranks, b.at.shape, b.at.late = b.ranks, b.shape, b.late
	}
	k.read()
}

// accept makes the plan what it is with the pods that moved, if all can be bound one
// by one, and puts everything back otherwise.
func (k *closer) accept() bool {
	bound, fresh, order := k.a.bound, k.a.new, k.order
	k.a.bound = make([][]int32, len(bound))
	for i := range bound {
		k.a.bound[i] = k.sites[i].ranks
	}
	k.a.new = slices.DeleteFunc(slices.Concat(fresh, k.bought), func(s *site) bool { return len(s.ranks) == 0 })
	last := map[int32]bool{}
	for _, rank := range k.moved {
		last[rank] = true
	}
	k.order = slices.DeleteFunc(slices.Clone(order), func(rank int32) bool { return last[rank] })
	for i, rank := range k.moved {
		if !slices.Contains(k.moved[i+1:], rank) {
			k.order = append(k.order, rank)
		}
	}
	var refused []int32
	if k.order, refused, _ = k.a.bindAll(k.order, false); len(refused) > 0 {
		k.a.bound, k.a.new, k.order = bound, fresh, order
		k.restore()
		return false
	}
	k.read()
	return true
}
