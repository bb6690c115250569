package repair

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// search makes a plan cheaper by ruin and recreate (Schrimpf et al. 2000): a trial takes pods
// off some nodes, places them one by one anew, and is kept if the plan costs less then.
// Otherwise it is undone, which costs what it touched. Domains are assigned before anything is
// packed, as if nodes could be bought in pieces, and nodes that exist are filled before it is
// known what has to be bought; so there is something to find after a good packing.
type search struct {
	placer
	order     []int32 // in which the pods of the plan can be bound
	dice      chance.Stream
	shown     bool            // unshown is known
	unshown   []int32         // pods of the plan as it was that cannot be shown to be well placed
	reliances []workload.Term // constraints that let some pod in only as no node was empty
	pending   []int32         // pods without a place that may have one
	on        []*ledger.Bin   // by pod: the bin that it is on; nil for none
	placing   bool            // pods without a place are what it is about, and not the bill
	forLess   bool            // as many may be left over for less
	manner    manner          // in which places are found for these
	fails     map[int32]int   // by pod: how many trials ended with it

	// Of the trial at hand.
	homes  map[int32]*ledger.Bin // by pod that was taken off a bin: that bin
	tiers  map[int32]int         // by the same: the highest tier to which it may come
	moved  []int32               // pods, in the order in which they were placed
	many   map[int]int           // by class: pods that are still to be placed
	inTurn bool                  // some are where they can be only in the turn that they had
	before float64               // the bill of the plan, where pods are placed that were left over
	budget float64               // by how much nodes may still become dearer
	tier   int                   // of the pod that is placed
	turns  bool                  // a pod may be where it can be only in the turn that it had
	weighs bool                  // a node of its own is weighed against room on another
	fills  bool                  // pods may go to lighter nodes that are launched anyway
}

const (
	// roomLooks bounds the work of placing pods that were left over: looks at a node for a pod.
	roomLooks = 10_000
	// searchLooks bounds the work: looks at a node for a pod.
	searchLooks = 12_000
	// searchIdle is after how many trials in vain the search ends.
	searchIdle = 60
	// searchBins is up to how many nodes, and searchPods up to how many pods, a plan is looked
	// at as a whole: one node is little in larger ones.
	searchBins = 1_000
	searchPods = 10_000
	// searchShare is the share of the cost of a plan that a node must have to be tried.
	searchShare = 0.0075
	// wholePods is up to how many pods all are placed anew at once.
	wholePods = 400
	// looksOptions is how many options make a look at a node count once more.
	looksOptions = 512
)

// newSearch begins a search from the plan as it is.
func (st *State) newSearch(order []int32, looks int) *search {
	return &search{placer: placer{st: st, p: st.p, left: looks}, order: order, dice: chance.New(1, 0), fails: map[int32]int{}}
}

// show finds out which pods of the plan cannot be shown to be well placed.
func (r *search) show() {
	_, refused, l := r.st.bindAll(r.order, false)
	r.shown, r.unshown = true, refused
	if r.placing {
		r.reliances = l.Reliances()
	}
}

// searchRoom places pods that were left over, in the place of others where those find room
// elsewhere. It returns the order in which pods can be bound then, and says whether it placed any.
func (st *State) searchRoom(order []int32) ([]int32, bool) {
	if len(st.New)+len(st.p.Nodes) > searchBins || len(order) > searchPods || len(order) == 0 || st.s.Retried() || len(st.pending()) == 0 || st.p.Skips(model.EjectOthers) {
		return order, false
	}
	r := st.newSearch(order, roomLooks)
	r.placing = true
	r.show()
	r.read()
	some := r.fewer()
	for range forLessTries {
		r.forLess = true
		changed := r.all(roomLooks, r.makeSomeRoom)
		changed = r.all(roomLooks, r.makeRoom) || changed
		if r.forLess = false; !changed {
			break
		}
		r.fewer()
		some = true
	}
	return r.order, some
}

// forLessTries is how often as many pods are left over for less, after which fewer may be.
const forLessTries = 2

// fewer has fewer pods left over, and says whether it did.
func (r *search) fewer() bool {
	some := r.all(roomLooks, r.makeSomeRoom)
	some = r.all(roomLooks, r.makeRoom) || some
	if r.left <= 0 { // spent by a few classes, perhaps in vain
		some = r.all(roomLooks/2, r.sharing(r.makeRoom)) || some
	}
	return r.all(roomLooks, r.follow) || some
}

// all places pods of each class in some way, as long as that is better, also those that
// have lost their places to others, and says whether it placed any. It has so many
// looks, whatever other ways took.
func (r *search) all(looks int, place func(c int) bool) (some bool) {
	r.left = looks
	for again := true; again; {
		again = false
		for _, c := range r.waiting() {
			again = r.waits(c) && place(c) || again
		}
		some = some || again
	}
	return some
}

// waits says whether pods of a class have no place.
func (r *search) waits(c int) bool { return slices.ContainsFunc(r.st.sought(c), r.st.waits) }

// sharing places pods of a class in some way with no more than its share of the looks that
// are left: a class that finds no place whatever it looks at leaves some to those after it.
func (r *search) sharing(place func(c int) bool) func(c int) bool {
	return func(c int) bool {
		waiting := r.waiting()
		sharers := len(waiting) - max(slices.Index(waiting, c), 0)
		others := r.left - r.left/sharers
		r.left -= others
		some := place(c)
		r.left += others
		return some
	}
}

// makeSomeRoom tries to place pods of a class by taking none off their nodes, and few that can
// keep out many. It comes before makeRoom, which can spend all looks on a class that finds no
// place.
func (r *search) makeSomeRoom(c int) bool {
	return r.tryAll(c, append([][]int32{nil}, r.few(c)...), byPrice, evenly)
}

// makeRoom tries to place pods of a class by taking others off their nodes.
func (r *search) makeRoom(c int) bool {
	ways := r.inTheWay(c)
	return r.tryAll(c, ways, byPrice, evenly, elsewhere) || len(r.p.Rules.Duties[c].With) > 0 && r.tryAll(c, ways, inFront)
}

// follow tries to place pods of a class on a node to which one pod that they can follow is
// sent in front.
func (r *search) follow(c int) bool { return r.tryAll(c, r.leaders(c), inFront) }

// tryAll tries to place pods of a class where sets of pods were, in some manners, and says
// whether one was better.
func (r *search) tryAll(c int, ways [][]int32, manners ...manner) bool {
	for _, r.manner = range manners {
		for _, out := range ways {
			if r.left <= 0 {
				return false
			}
			if (len(out) > 0 || r.manner == byPrice) && r.try(trial{out: out, lead: c}) {
				return true
			}
		}
	}
	return false
}

// searchCheaper makes the plan cheaper. It returns the order in which pods can be bound then,
// and says whether it changed anything.
func (st *State) searchCheaper(order []int32) ([]int32, bool) {
	if !st.maySearch(order) || st.p.Skips(model.Search) {
		return order, false
	}
	r := st.newSearch(order, searchLooks/(1+len(st.p.LowOptions)/looksOptions))
	r.read()
	some := false
	fresh := r.worthTrying()
	for idle, n := 0, 0; idle < searchIdle && r.left > 0; n++ {
		var ruin []*ledger.Bin
		if n < 2*len(fresh) {
			ruin = fresh[n/2 : n/2+1]
		} else if ruin = r.choose(n); ruin == nil {
			break
		}
		if idle++; r.try(trial{out: podsOn(ruin), lead: -1, n: n, alone: len(ruin) == 1}) {
			some, idle = true, 0
			fresh, n = r.worthTrying(), -1
		}
	}
	return r.order, some
}

// podsOn lists the pods of the plan on some bins.
func podsOn(bins []*ledger.Bin) (out []int32) {
	for _, s := range bins {
		out = append(out, s.PodIDs...)
	}
	return out
}

// pending lists the pods without a place that may have one.
func (st *State) pending() (out []int32) {
	for c := range st.p.Classes {
		class := &st.p.Classes[c]
		if class.Refusal != nil || class.Headroom || st.p.Hopeless.Has(c) || st.s.Absent[c] && !st.last {
			continue
		}
		for _, podID := range st.sought(c) {
			if st.waits(podID) {
				out = append(out, podID)
			}
		}
	}
	return out
}

// maySearch says whether there is something to find: some choice was made before the plan was
// packed, or weight by weight, and there are steps left.
func (st *State) maySearch(order []int32) bool {
	p := st.p
	nodes := len(st.New) + len(p.Nodes)
	return !p.Opts.Quick && st.steps < p.Opts.MaxSteps && p.Opts.CapacityMix == nil && !st.relies &&
		(st.s.ChoseBefore(p) || p.Tiers.Fill) && len(st.New) > 0 && nodes <= searchBins && len(order) <= searchPods
}

// read looks at the plan as it is.
func (r *search) read() {
	r.ledger = ledger.New(r.p, r.st.Bins())
	if r.st.relies {
		r.ledger.RecordRelianceOfAll()
	}
	r.ledger.SetReliances(r.reliances)
	if r.placing {
		r.pending, r.before = r.st.pending(), r.bill()
	}
	r.on = make([]*ledger.Bin, len(r.p.Pods))
	for _, s := range r.ledger.Bins {
		for _, podID := range s.PodIDs {
			r.on[podID] = s
		}
	}
}

// priced is what a new node costs when plans are compared.
func (r *search) priced(s *ledger.Bin) float64 { return s.BinType.Price() + r.p.Opts.NodeFee }

// used is how full a new node is, as the cheapest of its options, which is the first.
func (r *search) used(s *ledger.Bin) float64 {
	o := s.BinType.Options.First()
	return largestShare(r.p.OfResources(s.Taken), r.p.LowOptions[o].Capacity)
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

// worthTrying lists the new nodes that are worth a trial, those first for which most is paid
// for nothing.
func (r *search) worthTrying() []*ledger.Bin {
	total := 0.0
	for _, s := range r.st.New {
		total += r.priced(s)
	}
	fresh := slices.DeleteFunc(slices.Clone(r.st.New), func(s *ledger.Bin) bool {
		return s.BinType.Price() <= 0 || r.priced(s) < total*searchShare
	})
	waste := func(s *ledger.Bin) float64 { return r.priced(s) * (1 - r.used(s)) }
	slices.SortStableFunc(fresh, func(x, y *ledger.Bin) int { return -cmp.Compare(waste(x), waste(y)) })
	return fresh
}

// below is a number below another one.
func (r *search) below(n int) int { return int(r.dice.Next() % uint64(n)) }

// ruinSizes are how many nodes trials take pods off, in turns; now and then it is all of them.
var ruinSizes = [...]int{2, 2, 3, 2, 4, 2, 6, 3, 10}

// choose picks the nodes of a trial: a new one, rather one for which much is paid for nothing,
// and some that are related to it. It returns none if there is no new one.
func (r *search) choose(n int) []*ledger.Bin {
	fresh := r.worthTrying()
	if len(fresh) == 0 {
		return nil
	}
	var used []*ledger.Bin
	for _, s := range r.ledger.Bins {
		if len(s.PodIDs) > 0 {
			used = append(used, s)
		}
	}
	if n%8 == 0 && len(r.order) <= wholePods {
		return used
	}
	seed := fresh[min(r.below(len(fresh)), r.below(len(fresh)))]
	out := []*ledger.Bin{seed}
	related := slices.DeleteFunc(used, func(s *ledger.Bin) bool { return s == seed || !r.related(seed, s) })
	for size := ruinSizes[n%len(ruinSizes)]; len(out) < size && len(related) > 0; {
		i := r.below(len(related))
		out, related = append(out, related[i]), slices.Delete(related, i, i+1)
	}
	return out
}

// related says whether pods of a new node may have something to do with what is on another
// node, or would be on it.
func (r *search) related(a, b *ledger.Bin) bool {
	if b.Node < 0 {
		return true
	}
	for _, m := range a.Pods {
		if r.p.Admits(m.Class, &r.p.Nodes[b.Node]) || r.shares(m.Class, b) {
			return true
		}
	}
	return false
}

// shares says whether pods on a bin have a constraint over domains in common with a class.
func (r *search) shares(c int, s *ledger.Bin) bool {
	return slices.ContainsFunc(s.Pods, func(m attempt.Bundled) bool { return r.shareDomainRule(c, m.Class) })
}

// trial is what is taken off its nodes, and how it is placed anew.
type trial struct {
	out   []int32 // pods
	lead  int     // a class whose pods come first; -1 for none
	n     int     // decides the order and the rule
	alone bool    // these are all the pods of one node
}

// try takes pods off their nodes, new ones without others being shut, places them and those that
// are pending anew, and keeps that if it is better: if fewer are left over, those of the highest
// priority deciding, or as many for less.
func (r *search) try(t trial) bool {
	r.ledger.Mark()
	r.homes, r.tiers, r.moved, r.inTurn, r.budget = map[int32]*ledger.Bin{}, map[int32]int{}, nil, false, 0
	r.fills, r.turns, r.weighs = r.p.Tiers.Fill && t.n%2 == 1, t.alone, t.n%3 != 1
	r.vacate(t.out)
	r.budget *= 1 - 1e-9
	queue := t.out
	if len(r.pending) > 0 {
		r.budget = math.Inf(1)
		queue = slices.Concat(r.pending, t.out)
		for _, podID := range r.pending {
			r.tiers[podID] = r.topTier()
		}
	}
	queue = r.sorted(queue, t)
	r.many = map[int]int{}
	for _, podID := range queue {
		r.many[r.p.ClassOf[podID]]++
	}
	if r.placing {
		r.ledger.RecordRelianceAnew(r.reliances)
		queue = r.ahead(t, queue)
	}
	left, ok := r.placeAll(queue, t)
	if !ok || !r.better(left) || !r.accept(left) {
		r.ledger.Rewind()
		return false
	}
	return true
}

// ahead places those pods that the manner has placed before all others, and lists those that
// have no place then. Where nothing is taken off its node, it decides where new nodes will be.
func (r *search) ahead(t trial, queue []int32) []int32 {
	switch first := len(r.pending); {
	case len(t.out) == 0:
		r.decide(t.lead)
	case r.manner == elsewhere:
		for _, podID := range t.out {
			r.comeAny(podID, r.homes[podID])
		}
	case r.manner == inFront:
		for _, podID := range r.pending {
			if r.p.ClassOf[podID] != t.lead {
				first--
			}
		}
		for _, podID := range t.out {
			if r.goesBefore(podID, t.lead, first) {
				break
			}
		}
	}
	return slices.DeleteFunc(queue, func(podID int32) bool { return slices.Contains(r.moved, podID) })
}

// topTier is the lightest tier.
func (r *search) topTier() int {
	if n := len(r.p.LowPools); n > 0 {
		return r.p.LowPools[n-1].Tier
	}
	return 0
}

// placeAll places pods in an order, and those that find no place once more after all others. It
// lists those that have none then. Where all had a place before, it ends with the first that
// has none, and says so.
func (r *search) placeAll(queue []int32, t trial) (left []int32, ok bool) {
	for again := true; again; queue = left {
		again, left = false, nil
		failed := map[int]int{} // by class: how many had moved when one had no place
		for i, podID := range queue {
			c := r.p.ClassOf[podID]
			if r.placing && c != t.lead && (i == 0 || r.p.ClassOf[queue[i-1]] == t.lead) && !slices.ContainsFunc(r.moved, r.st.waits) {
				return nil, false // none of those that it is about has a place
			}
			r.tier = r.tiers[podID]
			if before, known := failed[c]; r.left > 0 && !(known && before == len(r.moved)) && r.place(podID) {
				again = true
				continue
			}
			failed[c] = len(r.moved)
			left = append(left, podID)
			if len(r.pending) == 0 {
				r.fails[podID]++
				return nil, false
			}
		}
		again = again && len(left) > 0 && !r.placing
	}
	for _, podID := range left {
		r.fails[podID]++
	}
	return left, true
}

// better says whether a trial that leaves some pods over is better than the plan before.
func (r *search) better(left []int32) bool {
	if !r.placing {
		return true // it kept to its budget
	}
	c := slices.Compare(r.priorities(left), r.priorities(r.pending))
	return c < 0 || c == 0 && r.forLess && (r.st.relies || !r.ledger.Relies()) && r.bill() < r.before*(1-1e-9)
}

// bill is what the new nodes cost.
func (r *search) bill() (sum float64) {
	for _, s := range r.ledger.Bins[len(r.p.Nodes):] {
		if len(s.PodIDs) > 0 {
			sum += r.priced(s)
		}
	}
	return sum
}

// priorities lists those of some pods, the highest first.
func (r *search) priorities(podIDs []int32) []int32 {
	out := make([]int32, len(podIDs))
	for i, podID := range podIDs {
		out[i] = r.p.Classes[r.p.ClassOf[podID]].Priority
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// accept makes the plan what it is with the pods that moved, if all can be bound one by one.
// Otherwise everything is as it was before the trial.
func (r *search) accept(left []int32) bool {
	st, nodes := r.st, len(r.p.Nodes)
	bound, fresh, order, placed := st.Bound, st.New, r.order, st.Placed
	st.Bound, st.New, st.Placed = make([][]int32, nodes), nil, slices.Clone(placed)
	for i, s := range r.ledger.Bins {
		switch {
		case i < nodes:
			st.Bound[i] = s.PodIDs
		case len(s.PodIDs) > 0:
			st.New = append(st.New, s)
		}
	}
	place := make(map[int32]int, len(r.moved)+len(left)) // of the last move of each pod
	for i, podID := range r.moved {
		place[podID], st.Placed[podID] = i, true
	}
	for _, podID := range left {
		place[podID], st.Placed[podID] = -1, false
	}
	after := slices.DeleteFunc(slices.Clone(order), func(podID int32) bool { _, moved := place[podID]; return moved })
	turns := slices.DeleteFunc(slices.Clone(order), func(podID int32) bool { return !st.Placed[podID] })
	for i, podID := range r.moved {
		if place[podID] == i {
			after = append(after, podID)
			if !placed[podID] {
				turns = append(turns, podID)
			}
		}
	}
	now, l, ok := r.bindable(after, place)
	if !ok && r.inTurn {
		now, l, ok = r.bindable(turns, place)
	}
	if !ok {
		st.Bound, st.New, st.Placed = bound, fresh, placed
		r.ledger.Rewind()
		if !r.shown {
			r.show() // the next one that is refused may be so for what was there before
		}
		r.read()
		return false
	}
	r.order, st.relies = now, st.relies || l.Relies()
	if r.placing {
		r.reliances = l.Reliances()
	}
	r.read()
	return true
}

// bindable returns the order in which the pods of the plan can be bound one by one, and the
// ledger of that. Of a pod that could not be shown to be well placed before, and has not moved, it
// is not asked.
func (r *search) bindable(order []int32, moved map[int32]int) (bound []int32, l *ledger.Ledger, ok bool) {
	bound, refused, l := r.st.bindAll(order, false)
	for _, podID := range refused {
		if _, here := moved[podID]; here || !slices.Contains(r.unshown, podID) {
			return nil, nil, false
		}
	}
	if len(refused) > 0 {
		bound, refused, _ = r.st.bindAll(append(bound, refused...), true)
	}
	return bound, l, len(refused) == 0
}

// vacate takes pods off their bins. A new node that is empty then is shut.
func (r *search) vacate(out []int32) {
	gone := make(map[int32]bool, len(out))
	var bins []*ledger.Bin
	for _, podID := range out {
		s := r.on[podID]
		gone[podID], r.homes[podID], r.tiers[podID] = true, s, r.tierOn(s, r.p.ClassOf[podID])
		if !slices.Contains(bins, s) {
			bins = append(bins, s)
		}
	}
	for _, s := range bins {
		r.ledger.Save(s)
		for _, m := range s.Pods {
			r.ledger.Count(m.Class, -m.Count, s)
		}
		ledger.Hold(r.p, s, slices.DeleteFunc(slices.Clone(s.PodIDs), func(podID int32) bool { return gone[podID] }))
		for _, m := range s.Pods {
			r.ledger.Count(m.Class, m.Count, s)
		}
		if s.Late = true; s.Node < 0 && len(s.PodIDs) == 0 {
			r.budget += r.priced(s)
			r.ledger.Shut(s)
		}
	}
}

// trouble is with how many trials ended that were about the bill, with a pod that had no place.
func (r *search) trouble(podID int32) int {
	if r.placing {
		return 0
	}
	return min(r.fails[podID], 3)
}

// sorted puts the pods of a trial into the order in which they are placed: those of the class
// that it is about first, then those of the highest priority, then those with which most trials ended, then, by turns, the largest, those
// with fewest places, those that are bound first, or class by class as it comes.
func (r *search) sorted(queue []int32, t trial) []int32 {
	class := func(podID int32) int { return r.p.ClassOf[podID] }
	var sum []int64
	for _, podID := range queue {
		for d, n := range r.p.OfResources(r.p.Requests[class(podID)]) {
			if d == len(sum) {
				sum = append(sum, 0)
			}
			sum[d] += n
		}
	}
	keys := map[int]float64{}
	key := func(c int) float64 {
		k, known := keys[c]
		if !known {
			switch {
			case r.placing:
				k = r.places(c)
			case t.n%2 == 0:
				k = -largestShare(r.p.OfResources(r.p.Requests[c]), sum)
			case t.n%4 == 1:
				k = float64(r.p.Admission.Lowered(c).Len())
			default:
				k = float64(r.below(1 << 20))
			}
			keys[c] = k
		}
		return k
	}
	queue = slices.Clone(queue)
	slices.SortStableFunc(queue, func(x, y int32) int {
		a, b := &r.p.Classes[class(x)], &r.p.Classes[class(y)]
		return cmp.Or(model.CompareBools(a.Headroom, b.Headroom), -model.CompareBools(class(x) == t.lead, class(y) == t.lead),
			-cmp.Compare(a.Priority, b.Priority), -cmp.Compare(r.trouble(x), r.trouble(y)), cmp.Compare(key(class(x)), key(class(y))), cmp.Compare(x, y))
	})
	return queue
}
