package repair

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

const (
	// rebuildLooks bounds the work of rebuilding a plan in one order: looks at a node for a pod.
	rebuildLooks = 4_000
	// rebuildPods is up to how many pods a plan is rebuilt: more need more looks than that.
	rebuildPods = 400
	// rebuildTries is how often pods that found no place come first in the next try.
	rebuildTries = 8
)

// rebuildOnce takes the pods of the plan off their nodes and places them anew, one by one, as
// they are bound: so a topology spread constraint is asked when it is a pod's turn, and many
// nodes can change at once. Pods that find no place for what the plan may cost come first in
// the next try: they are those whose turn matters (squeaky wheel optimization, Joslin and
// Clements 1999). It keeps the first plan that is cheaper, and says whether there is one.
func (k *eliminator) rebuildOnce() bool {
	looks := k.looks(rebuildLooks)
	if len(k.order) > min(rebuildPods, looks/2) || !k.hasSome(k.constrained) || k.p.Skips(model.Rebuild) {
		return false
	}
	for _, order := range [][]int32{k.largestFirst(), k.movable()} {
		k.left = looks
		for range rebuildTries {
			failed := k.rebuild(order)
			if len(failed) == 0 && k.accept() {
				return true
			}
			k.restore()
			if len(failed) == 0 || k.left <= 0 {
				break
			}
			order = slices.Concat(failed, slices.DeleteFunc(slices.Clone(order), func(podID int32) bool { return slices.Contains(failed, podID) }))
		}
	}
	return false
}

// constrained says whether other pods keep those of a class from nodes, or draw them there.
func (k *eliminator) constrained(c int) bool {
	d := &k.p.Rules.Duties[c]
	return len(d.Owns)+len(d.Joins)+len(d.With)+len(k.ledger.HostsOf(c)) > 0
}

// movable lists the pods of the plan that exist and prefer no place to another, in its order.
func (k *eliminator) movable() []int32 {
	return slices.DeleteFunc(slices.Clone(k.order), func(podID int32) bool { return !k.mayLeave(podID) })
}

// largestFirst lists them with those first that ask for the largest share of what all pods of
// the plan ask for.
func (k *eliminator) largestFirst() []int32 {
	requests := func(podID int32) []int64 { return k.p.OfResources(k.p.Requests[k.p.ClassOf[podID]]) }
	var sum []int64
	for _, podID := range k.order {
		for r, n := range requests(podID) {
			if r == len(sum) {
				sum = append(sum, 0)
			}
			sum[r] += n
		}
	}
	out := k.movable()
	slices.SortStableFunc(out, func(x, y int32) int {
		return -cmp.Compare(largestShare(requests(x), sum), largestShare(requests(y), sum))
	})
	return out
}

// rebuild takes pods off their nodes, new ones without others being shut, and places them in
// an order, those that find no place again after the others. It lists those that have none for
// less than the nodes that were shut cost.
func (k *eliminator) rebuild(waiting []int32) []int32 {
	tiers := k.emptyAll()
	for len(waiting) > 0 {
		var later []int32
		for _, podID := range waiting {
			if k.tier = tiers[podID]; k.left <= 0 || !k.placeCheapest(podID) {
				later = append(later, podID)
			}
		}
		if len(later) == len(waiting) {
			break
		}
		waiting = later
	}
	return waiting
}

// emptyAll takes all pods that may leave off their nodes, and returns the highest tier to which
// each may come.
func (k *eliminator) emptyAll() map[int32]int {
	k.budget = 0
	tiers := map[int32]int{}
	for _, s := range k.bins {
		leaving := slices.DeleteFunc(slices.Clone(s.PodIDs), func(podID int32) bool { return !k.mayLeave(podID) })
		for _, podID := range leaving {
			tiers[podID] = k.tierOn(s, k.p.ClassOf[podID])
		}
		switch {
		case len(leaving) == 0:
		case len(leaving) < len(s.PodIDs):
			for _, podID := range leaving {
				k.remove(podID, s)
			}
		default:
			if s.Node < 0 {
				k.budget += k.priced(s)
			}
			k.vacate(s)
		}
	}
	k.budget *= 1 - 1e-9
	return tiers
}

// placeCheapest places a pod where that costs least: on a node of the plan, or on one of its own.
func (k *eliminator) placeCheapest(podID int32) bool {
	c := k.p.ClassOf[podID]
	to, sh := k.roomFor(c, k.tier, nil, nil, k.budget)
	more := k.budget
	switch {
	case to != nil && sh == nil:
		more = 0
	case to != nil:
		more = sh.Price() - to.BinType.Price()
	}
	if more > 0 && !k.p.Skips(model.CheaperAlone) {
		if s := k.fresh(c, more); s != nil && k.priced(s) < more && k.p.LowPools[s.BinType.Pool].Tier <= k.tier {
			k.open(s)
			to, sh = s, nil
		}
	}
	if to == nil {
		return false
	}
	k.put(podID, to, sh)
	return true
}

// open adds a node that is launched for a pod.
func (k *eliminator) open(s *ledger.Bin) {
	k.ledger.Open(s)
	k.bins, k.bought = append(k.bins, s), append(k.bought, s)
	k.budget -= k.priced(s)
}
