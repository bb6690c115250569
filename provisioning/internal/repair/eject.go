package repair

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
)

// ejector places pods that were left over where pods of the plan make room for them:
// it takes some out, puts the pods left over first, and finds other places for those
// it took out. The only domain, or the only node, that a pod can use may have been
// given to pods that can go elsewhere.
type ejector struct {
	placer
	order   []int32         // of the pods of the plan
	classes []int           // in the order in which their pods get places
	before  []savedBin      // the new nodes of the plan
	unshown []int32         // pods of the plan that cannot be shown to be well placed
	leant   []workload.Term // constraints that let some pod in only as no node was empty
	manner  manner
}

const (
	// ejectLooks bounds the work: looks at a node for a pod.
	ejectLooks = 10_000
	// ejectPods is how many pods are taken out at once, at most.
	ejectPods = 128
)

// makeRoom places pods that were left over in the place of others that find room
// elsewhere, as long as that is better: as it leaves fewer over, those of the highest
// priority deciding, or as many for less. It returns the order in which pods can be bound
// then, and says whether it changed anything.
func (st *State) makeRoom(order []int32) ([]int32, bool) {
	if len(st.New)+len(st.p.Nodes) > eliminationBins || len(order) > eliminationPods || len(order) == 0 || st.s.Retried() || !st.leavesSome() {
		return order, false
	}
	e := &ejector{placer: placer{st: st, p: st.p, left: ejectLooks}, order: order}
	e.findClasses()
	if !slices.ContainsFunc(e.classes, e.waits) || st.p.Skips(model.EjectOthers) {
		return order, false
	}
	_, refused, l := st.bindAll(order, false)
	e.unshown, e.leant = refused, l.LeantOn()
	some := e.all(ejectLooks, e.placeForFew)
	some = e.all(ejectLooks, e.placeBy) || some
	if e.left <= 0 { // spent by a few classes, perhaps in vain
		some = e.all(ejectLooks/2, e.sharing(e.placeBy)) || some
	}
	some = e.all(ejectLooks, e.follow) || some
	if len(st.New) > 0 && len(st.p.Nodes) > 0 && !st.FewerOnly {
		some = e.all(ejectLooks, e.placeForLess) || some
	}
	return e.order, some
}

// all places pods of each class in some way, as long as that is better, also those that
// have lost their places to others, and says whether it placed any. It has so many
// looks, whatever other ways took.
func (e *ejector) all(looks int, place func(c int) bool) (some bool) {
	e.left = looks
	for again := true; again; {
		again = false
		for _, c := range e.classes {
			again = e.waits(c) && place(c) || again
		}
		some = some || again
	}
	return some
}

// sharing places pods of a class in some way with no more than its share of the looks that
// are left: a class that finds no place whatever it looks at leaves some to those after it.
func (e *ejector) sharing(place func(c int) bool) func(c int) bool {
	return func(c int) bool {
		sharers := 0
		for _, m := range e.classes[slices.Index(e.classes, c):] {
			if e.waits(m) {
				sharers++
			}
		}
		others := e.left - e.left/sharers
		e.left -= others
		some := place(c)
		e.left += others
		return some
	}
}

// findClasses lists the classes of pods that exist and that some node would take, by
// priority, those with few places before those with many.
func (e *ejector) findClasses() {
	places := make([]int, len(e.p.Classes))
	for c := range e.p.Classes {
		if e.p.Classes[c].Refusal != nil || e.p.Classes[c].Headroom || e.p.Hopeless.Has(c) {
			continue
		}
		places[c] = e.p.Admission.Lowered(c).Len()
		for i := range e.p.Nodes {
			if e.p.Admits(c, &e.p.Nodes[i]) {
				places[c]++
			}
		}
		if places[c] > 0 {
			e.classes = append(e.classes, c)
		}
	}
	slices.SortStableFunc(e.classes, func(x, y int) int {
		return cmp.Or(-cmp.Compare(e.p.Classes[x].Priority, e.p.Classes[y].Priority), cmp.Compare(places[x], places[y]))
	})
}

// placeForFew tries to place pods of a class by taking out none, and few that can keep out
// many, and says whether that is better. It comes before placeBy, which can spend all
// looks on a class that finds no place.
func (e *ejector) placeForFew(c int) bool {
	ways := append([][]int32{nil}, e.few(c)...)
	for _, e.manner = range []manner{byPrice, evenly} {
		for _, out := range ways {
			if e.left > 0 && e.without(c, out) {
				return true
			}
		}
	}
	return false
}

// placeBy tries to place pods of a class by taking out others, and says whether that
// is better.
func (e *ejector) placeBy(c int) bool {
	ways := e.inTheWay(c)
	for _, e.manner = range []manner{byPrice, evenly, elsewhere, inFront} {
		if e.manner == inFront && len(e.p.Rules.Duties[c].With) == 0 {
			continue
		}
		for _, out := range ways {
			if e.left <= 0 {
				return false
			}
			if e.without(c, out) {
				return true
			}
		}
	}
	return false
}

// follow tries to place pods of a class on a node to which one pod that they can follow
// is sent in front, and says whether that is better.
func (e *ejector) follow(c int) bool {
	e.manner = inFront
	for _, out := range e.leaders(c) {
		if e.left <= 0 {
			break
		}
		if e.without(c, out) {
			return true
		}
	}
	return false
}

// placeForLess places all pods of the plan anew, those of a class that wait first, and then as
// many as it can on nodes that exist: so those are left over for which nodes would be launched.
// It says whether that costs less.
func (e *ejector) placeForLess(c int) bool {
	var all []int32
	for _, m := range e.classes {
		all = append(all, e.placedOf(m)...)
	}
	e.manner = ontoExisting
	return len(all) <= ejectPods && e.left > 0 && e.without(c, all)
}

// waits says whether pods of a class have no place.
func (e *ejector) waits(c int) bool { return slices.ContainsFunc(e.p.Classes[c].Pods, e.st.waits) }

// without takes some pods out, places those of a class that were left over, and then,
// as far as there is room, all others that have no place now. It keeps that if it is better.
func (e *ejector) without(c int, out []int32) bool {
	if len(out) == 0 && e.manner != byPrice {
		return false
	}
	gone := make([]bool, len(e.p.Pods))
	for _, podID := range out {
		gone[podID] = true
	}
	bins, from := e.clear(c, gone)
	first, rest := e.homeless(c, gone)
	queue := slices.Concat(first, rest)
	moved, left := e.fill(queue, len(first), e.ahead(c, out, from, queue, len(first)))
	if slices.ContainsFunc(moved, e.st.waits) {
		more := e.compareLeft(left)
		if (more < 0 && e.manner != ontoExisting || more == 0 && e.costsLess(out, len(bins))) && e.accept(bins, moved, gone) {
			e.st.ForLess = e.st.ForLess || more == 0
			return true
		}
	}
	for _, b := range e.before {
		b.at.PodIDs, b.at.BinType, b.at.Late = b.podIDs, b.binType, b.late
	}
	return false
}

// ahead places those pods that the manner has placed before all others, and returns which got
// a place: of those that were taken out of their bins, or of the queue, which begins with the
// pods of the class.
func (e *ejector) ahead(c int, out []int32, from map[int32]*ledger.Bin, queue []int32, ofClass int) (moved []int32) {
	switch e.manner {
	case elsewhere:
		for _, podID := range out {
			if e.come(podID, from[podID]) {
				moved = append(moved, podID)
			}
		}
	case inFront:
		if at := slices.IndexFunc(out, func(podID int32) bool { return e.goesBefore(podID, c, ofClass) }); at >= 0 {
			moved = append(moved, out[at])
		}
	case ontoExisting:
		for _, podID := range queue {
			if e.comeExisting(podID) {
				moved = append(moved, podID)
			}
		}
	}
	return moved
}

// fill places the pods of a queue after those that came ahead, and returns all that have a place
// and those that have none. It ends after the first, for which room is made, if none of
// these has one.
func (e *ejector) fill(queue []int32, first int, before []int32) (moved, left []int32) {
	moved = slices.Clip(before)
	failed := map[int]int{} // by class: the pods that had moved then, and one
	for i, podID := range queue {
		if slices.Contains(before, podID) {
			continue
		}
		switch m := e.p.ClassOf[podID]; {
		case failed[m] != len(moved)+1 && e.left > 0 && e.come(podID, nil):
			moved = append(moved, podID)
		default:
			failed[m] = len(moved) + 1
			left = append(left, podID)
		}
		if i == first-1 && !slices.ContainsFunc(moved, e.st.waits) {
			break
		}
	}
	return moved, left
}

// clear makes the ledger one of the plan without some pods, and without new nodes that
// are empty then. If that is none, it decides where new nodes will be. It returns the
// nodes that exist, and where the pods were.
func (e *ejector) clear(c int, gone []bool) (nodes []*ledger.Bin, from map[int32]*ledger.Bin) {
	e.before = e.before[:0]
	for _, s := range e.st.New {
		e.before = append(e.before, savedBin{s, s.PodIDs, s.BinType, s.Late})
	}
	all := e.st.Bins()
	e.left -= len(all)
	from = map[int32]*ledger.Bin{}
	kept := all[:0:0]
	for i, s := range all {
		var stay []int32
		for _, podID := range s.PodIDs {
			if gone[podID] {
				from[podID] = s
			} else {
				stay = append(stay, podID)
			}
		}
		if len(stay) < len(s.PodIDs) {
			ledger.Hold(e.p, s, stay)
			s.Late = true
		}
		if i < len(e.p.Nodes) || len(s.PodIDs) > 0 {
			kept = append(kept, s)
		}
	}
	e.ledger = ledger.New(e.p, kept)
	if len(from) == 0 && e.decide(c) {
		e.ledger = ledger.New(e.p, kept)
	}
	e.ledger.LeanOn(e.leant)
	return all[:len(e.p.Nodes)], from
}

// homeless lists the pods without a place: those of a class, and all others, in the
// order in which they get one.
func (e *ejector) homeless(c int, gone []bool) (first, rest []int32) {
	for _, m := range e.classes {
		for _, podID := range e.p.Classes[m].Pods {
			switch {
			case !gone[podID] && !e.st.waits(podID):
			case m == c:
				first = append(first, podID)
			default:
				rest = append(rest, podID)
			}
		}
	}
	return first, rest
}

// costsLess says whether the new nodes cost less, no pod that was taken out prefers a place,
// and the plan does not lean on that no node was empty, as then none could be taken out of it
// any more.
func (e *ejector) costsLess(out []int32, nodes int) bool {
	if e.st.FewerOnly || e.ledger.Leant() && !e.st.leant || slices.ContainsFunc(out, func(podID int32) bool { return !e.mayLeave(podID) }) {
		return false
	}
	was, is := 0.0, 0.0
	for _, b := range e.before {
		was += b.binType.Price() + e.p.Opts.NodeFee
	}
	for _, s := range e.ledger.Bins[nodes:] {
		is += s.BinType.Price() + e.p.Opts.NodeFee
	}
	return is < was*(1-1e-9)
}

// compareLeft is below zero if pods that are left over now are fewer than those before, those
// of the highest priority deciding.
func (e *ejector) compareLeft(left []int32) int {
	priorities := func(podIDs []int32) []int32 {
		out := make([]int32, len(podIDs))
		for i, podID := range podIDs {
			out[i] = e.p.Classes[e.p.ClassOf[podID]].Priority
		}
		slices.Sort(out)
		slices.Reverse(out)
		return out
	}
	var before []int32
	for _, c := range e.classes {
		for _, podID := range e.p.Classes[c].Pods {
			if e.st.waits(podID) {
				before = append(before, podID)
			}
		}
	}
	return slices.Compare(priorities(left), priorities(before))
}

// accept makes the plan what it is with the pods that moved, if all can be bound one
// by one. Those that were taken out and have no place now are left over.
func (e *ejector) accept(nodes []*ledger.Bin, moved []int32, gone []bool) bool {
	st := e.st
	bound, fresh, placed := st.Bound, st.New, slices.Clone(st.Placed)
	st.Bound = make([][]int32, len(bound))
	for i := range bound {
		st.Bound[i] = nodes[i].PodIDs
	}
	st.New = slices.Clone(e.ledger.Bins[len(nodes):])
	order := slices.DeleteFunc(slices.Clone(e.order), func(podID int32) bool { return gone[podID] })
	for podID := range st.Placed {
		st.Placed[podID] = st.Placed[podID] && !gone[podID]
	}
	for _, podID := range moved {
		st.Placed[podID] = true
	}
	order, l, ok := e.bindable(append(order, moved...))
	if !ok {
		st.Bound, st.New, st.Placed = bound, fresh, placed
		return false
	}
	e.order, e.leant, st.leant = order, l.LeantOn(), st.leant || l.Leant()
	return true
}

// bindable returns the order in which the pods of the plan can be bound one by one, and the
// ledger of that. Of a pod that could not be shown to be well placed before, it is not asked.
func (e *ejector) bindable(order []int32) (bound []int32, l *ledger.Ledger, ok bool) {
	bound, refused, l := e.st.bindAll(order, false)
	for _, podID := range refused {
		if !slices.Contains(e.unshown, podID) {
			return nil, nil, false
		}
	}
	if len(refused) > 0 {
		bound, refused, _ = e.st.bindAll(append(bound, refused...), true)
	}
	return bound, l, len(refused) == 0
}
