package repair

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// search makes a plan cheaper by ruin and recreate (Schrimpf et al. 2000). A trial takes pods off
// some nodes, places them anew one by one, and is kept if the plan then costs less. Otherwise it is
// undone, at the cost of what it touched. A good packing still leaves something to find: domains
// are assigned before packing as if nodes could be bought in pieces, and existing nodes are filled
// before it is known what must be bought.
type search struct {
	placer
	order     []int32 // in which the pods of the plan can be bound
	dice      chance.Stream
	shown     bool          // show was called
	unshown   []int32       // pods of the original plan that cannot be shown to be validly placed
	reliances []int         // constraints that admitted some pod only because no counted node was empty: see Ledger.Reliances
	pending   []int32       // unplaced pods that may have a place
	on        []*ledger.Bin // by pod: the bin that it is on, nil for none
	placing   bool          // the goal is to place unplaced pods, not to lower the cost
	forLess   bool          // a plan with as many unplaced pods but a lower cost is better
	mode      placementMode // how places are found for unplaced pods
	fails     map[int32]int // by pod: number of trials that failed because of it
	failed    failures      // trials since the plan last changed
	failedPod int32         // because of which the last trial about the cost failed
	key       []byte        // see keyOf

	// Of the current trial.
	homes  map[int32]*ledger.Bin // by pod that was taken off: its bin before
	tiers  map[int32]int         // by pod that was taken off: the highest tier to which it may move
	moved  []int32               // pods, in the order in which they were placed
	many   map[int]int           // by class: pods still to be placed
	inTurn bool                  // some pods are valid only at their old position in the order
	before float64               // cost of the plan before the trial, if placing is set
	budget float64               // how much more the nodes may cost
	tier   int                   // of the pod being placed
	ranks  []rank                // by class; see sorted
	turns  bool                  // pods may keep their position in the order; see stay
	weighs bool                  // a node of its own is compared with room on another
	fills  bool                  // pods may move to lighter pools' nodes that are launched anyway
}

const (
	// roomLooks is how often a node may be tried for a pod, to place unplaced pods.
	roomLooks = 10_000
	// searchLooks is how often a node may be tried for a pod, to lower the cost.
	searchLooks = 12_000
	// searchIdle is the number of consecutive failed trials after which the search ends.
	searchIdle = 60
	// searchBins and searchPods are the largest numbers of nodes and pods of a plan that is
	// searched: in a larger plan one node matters little.
	searchBins = 1_000
	searchPods = 10_000
	// searchShare is the least share of the cost of the plan that a node must have to be tried.
	searchShare = 0.0075
	// wholePods is the largest number of pods that are all placed anew in one trial.
	wholePods = 400
	// looksOptions is the number of options for which one try of a node costs as much as one more.
	looksOptions = 512
)

// newSearch starts a search from the current plan.
func (st *State) newSearch(order []int32, looks int) *search {
	return &search{
		placer: placer{st: st, p: st.p, left: looks}, order: order, dice: chance.New(1, 0), fails: map[int32]int{},
		homes: map[int32]*ledger.Bin{}, tiers: map[int32]int{}, many: map[int]int{}, ranks: make([]rank, len(st.p.Classes)), failed: failures{},
	}
}

// show finds the pods of the plan that cannot be shown to be validly placed.
func (r *search) show() {
	_, refused, l := r.st.bindAll(r.order, false)
	r.shown, r.unshown = true, refused
	if r.placing {
		r.reliances = l.Reliances()
	}
}

// searchRoom places unplaced pods, in the place of other pods where these find room elsewhere. It
// returns the order in which pods can be bound afterwards, and whether it placed any.
func (st *State) searchRoom(order []int32) ([]int32, bool) {
	if len(st.New)+len(st.p.Nodes) > searchBins || len(order) > searchPods || len(order) == 0 || st.s.Absent != nil || len(st.pending()) == 0 || st.p.Skips(model.EjectOthers) {
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

// forLessTries is the number of rounds of making the plan cheaper with as many unplaced pods, after
// each of which fewer may be possible.
const forLessTries = 2

// fewer reduces the number of unplaced pods, and says whether it did.
func (r *search) fewer() bool {
	some := r.all(roomLooks, r.makeSomeRoom)
	some = r.all(roomLooks, r.makeRoom) || some
	if r.left <= 0 { // a few classes have used all tries, perhaps in vain
		some = r.all(roomLooks/2, r.sharing(r.makeRoom)) || some
	}
	some = r.all(roomLooks, r.follow) || some
	return r.all(roomLooks/4, r.exchange) || some // a quarter finds all that more looks find in the corpus
}

// all tries to place the pods of every unplaced class with place, again as long as the plan
// improves, and says whether it placed any. Pods that lost their place to others are included.
// looks bounds the work of this call alone.
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

// waits says whether a class has unplaced pods.
func (r *search) waits(c int) bool { return slices.ContainsFunc(r.st.sought(c), r.st.waits) }

// sharing returns place limited to an even share of the tries left, so that a class without any
// possible place leaves some to later classes.
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

// makeSomeRoom tries to place pods of a class by evicting no pods of the plan, or few that can
// exclude many. It runs before makeRoom, which can use all tries on a class that finds no place.
func (r *search) makeSomeRoom(c int) bool {
	return r.tryAll(c, append([][]int32{nil}, r.few(c)...), byPrice, evenly)
}

// makeRoom tries to place pods of a class by taking other pods of the plan off their nodes.
func (r *search) makeRoom(c int) bool {
	ways := r.inTheWay(c)
	return r.tryAll(c, ways, byPrice, evenly, elsewhere) || len(r.p.Rules.ByClass[c].With) > 0 && r.tryAll(c, ways, inFront)
}

// follow tries to place pods of a class on the node of one pod that they can follow, which is
// placed there first.
func (r *search) follow(c int) bool { return r.tryAll(c, r.leaders(c), inFront) }

// exchange tries to place pods of a class in the place of single pods that find room elsewhere.
func (r *search) exchange(c int) bool { return r.tryAll(c, r.inTheWay(c), byExchange) }

// tryAll tries each set of pods to take off, in each placement mode, and says whether a trial
// improved the plan.
func (r *search) tryAll(c int, ways [][]int32, modes ...placementMode) bool {
	for _, r.mode = range modes {
		for _, out := range ways {
			if r.left <= 0 {
				return false
			}
			if (len(out) > 0 || r.mode == byPrice || r.mode == byExchange) && r.try(trial{out: out, lead: c}) {
				return true
			}
		}
	}
	return false
}

// searchCheaper makes the plan cheaper. It returns the order in which pods can be bound afterwards,
// and whether it changed anything.
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

// pending lists the unplaced pods that may have a place.
func (st *State) pending() (out []int32) {
	for c := range st.p.Classes {
		class := &st.p.Classes[c]
		if class.Refusal != nil || class.Headroom || st.p.Unplaceable.Has(c) || st.s.Absent[c] && !st.last {
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

// maySearch says whether the search may find something: some choice was made before packing, or
// pool by pool in the order of weights, and steps are left.
func (st *State) maySearch(order []int32) bool {
	p := st.p
	nodes := len(st.New) + len(p.Nodes)
	return !p.Opts.Quick && st.steps < p.Opts.MaxSteps && p.Opts.CapacityMix == nil && !st.relies &&
		(st.s.ChoseBefore(p) || p.Tiers.Fill) && len(st.New) > 0 && nodes <= searchBins && len(order) <= searchPods
}

// read reads the current plan.
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

// priced returns the cost of a new node in USD per hour, fee included, by which plans are compared.
func (r *search) priced(s *ledger.Bin) float64 { return s.BinType.Price() + r.p.Opts.NodeFee }

// used returns how full a new node is, as a share of the cheapest of its options, which is the
// first.
func (r *search) used(s *ledger.Bin) float64 {
	o := s.BinType.Options.First()
	return largestShare(r.p.OfResources(s.Taken), r.p.LowOptions[o].Capacity)
}

// largestShare returns the largest ratio of an amount to its counterpart.
func largestShare(amounts, of []int64) float64 {
	most := 0.0
	for r, n := range amounts {
		if of[r] > 0 {
			most = max(most, float64(n)/float64(of[r]))
		}
	}
	return most
}

// worthTrying lists the new nodes worth a trial, those with the highest cost of unused room first.
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

// below returns a random number in [0, n).
func (r *search) below(n int) int { return int(r.dice.Next() % uint64(n)) }

// ruinSizes are the numbers of nodes that successive trials take pods off. Some trials take the
// pods off all nodes.
var ruinSizes = [...]int{2, 2, 3, 2, 4, 2, 6, 3, 10}

// choose picks n nodes for a trial: a new one, preferably one with a high cost of unused room, and
// others that are related to it. It returns none if there is no new node.
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

// related says whether pods of a new node a could be on node b, or have a constraint in common with
// the pods there.
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

// trial says which pods are taken off their nodes and how they are placed anew.
type trial struct {
	out   []int32 // pods to take off
	lead  int     // class whose pods are placed first; -1 for none
	n     int     // number of the trial; varies the order and the rules of placement
	alone bool    // out is all pods of one node
}

// try takes pods off their nodes and closes new nodes that are then empty. It places these pods and
// the unplaced ones anew, and keeps the result if it is better: fewer unplaced pods, compared by
// the highest priority first, or as many at a lower cost.
func (r *search) try(t trial) bool {
	r.fills, r.turns, r.weighs = r.p.Tiers.Fill && t.n%2 == 1, t.alone, t.n%3 != 1
	queue := r.sorted(slices.Concat(r.pending, t.out), t)
	if r.failsAgain(t, queue) {
		return false
	}
	looks := r.left
	r.ledger.Mark()
	clear(r.homes)
	clear(r.tiers)
	clear(r.many)
	r.moved, r.inTurn, r.budget = nil, false, 0
	r.vacate(t.out)
	r.budget *= 1 - 1e-9
	if len(r.pending) > 0 {
		r.budget = math.Inf(1)
		for _, podID := range r.pending {
			r.tiers[podID] = r.topTier()
		}
	}
	for _, podID := range queue {
		r.many[r.p.ClassOf[podID]]++
	}
	if r.placing {
		r.ledger.RecordRelianceAnew(r.reliances)
		queue = r.placeFirst(t, queue)
	}
	left, ok := r.placeAll(queue, t)
	if !ok || !r.better(left) {
		r.recordFailure(looks, ok && r.cheaper(left))
		r.ledger.Rewind()
		return false
	}
	clear(r.failed)
	if !r.accept(left) {
		r.ledger.Rewind()
		return false
	}
	return true
}

// placeFirst places the pods that the placement mode puts before all others, and returns the pods
// still to be placed. If no pod was evicted, it fixes the domains of new nodes.
func (r *search) placeFirst(t trial, queue []int32) []int32 {
	switch first := len(r.pending); {
	case len(t.out) == 0:
		r.decide(t.lead)
	case r.mode == elsewhere:
		for _, podID := range t.out {
			r.comeAny(podID, r.homes[podID])
		}
	case r.mode == inFront:
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

// topTier returns the tier of the lightest pools.
func (r *search) topTier() int {
	if n := len(r.p.LowPools); n > 0 {
		return r.p.LowPools[n-1].Tier
	}
	return 0
}

// placeAll places pods in an order, and those without a place once more after all others. It
// returns the pods still without a place. If all pods had a place before, it stops at the first
// without one and returns false.
func (r *search) placeAll(queue []int32, t trial) (left []int32, ok bool) {
	for again := true; again; queue = left {
		again, left = false, nil
		failed := map[int]int{} // by class: number of moved pods when a pod of the class found no place
		for i, podID := range queue {
			c := r.p.ClassOf[podID]
			if r.placing && c != t.lead && (i == 0 || r.p.ClassOf[queue[i-1]] == t.lead) && !slices.ContainsFunc(r.moved, r.st.waits) {
				return nil, false // none of the pods of the lead class has a place
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
				r.failedPod = podID
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

// better says whether a trial that leaves some pods unplaced improves the plan.
func (r *search) better(left []int32) bool {
	if !r.placing {
		return true // the trial kept to its budget
	}
	return slices.Compare(r.priorities(left), r.priorities(r.pending)) < 0 || r.forLess && r.cheaper(left)
}

// cheaper says whether a trial that leaves some pods unplaced leaves as many of each priority as
// before, at a lower cost.
func (r *search) cheaper(left []int32) bool {
	return len(left) == len(r.pending) && (r.st.relies || !r.ledger.Relies()) && r.bill() < r.before*(1-1e-9) &&
		slices.Equal(r.priorities(left), r.priorities(r.pending))
}

// bill returns the cost of the new nodes in USD per hour, fees included.
func (r *search) bill() (sum float64) {
	for _, s := range r.ledger.Bins[len(r.p.Nodes):] {
		if len(s.PodIDs) > 0 {
			sum += r.priced(s)
		}
	}
	return sum
}

// priorities lists the priorities of pods, descending.
func (r *search) priorities(podIDs []int32) []int32 {
	out := make([]int32, len(podIDs))
	for i, podID := range podIDs {
		out[i] = r.p.Classes[r.p.ClassOf[podID]].Priority
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// accept makes the result of the trial the plan, if all pods can be bound one by one. Otherwise it
// restores the plan before the trial and returns false.
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
	place := make(map[int32]int, len(r.moved)+len(left)) // by pod: position of its last move
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
			r.show() // the next refusal may be caused by pods placed before the search
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

// bindable returns the order in which the pods of the plan can be bound one by one, and the ledger
// of that order. Pods that have not moved and could not be shown to be validly placed before the
// search may be refused.
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

// vacate takes pods off their bins and closes new nodes that are then empty.
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
		r.ledger.Take(s, func(podID int32) bool { return gone[podID] })
		if s.Node < 0 && len(s.PodIDs) == 0 {
			r.budget += r.priced(s)
			r.ledger.Shut(s)
		}
	}
}

// trouble returns the number of trials, at most 3, that failed because of a pod; 0 if the goal is
// to place unplaced pods.
func (r *search) trouble(podID int32) int {
	if r.placing {
		return 0
	}
	return min(r.fails[podID], 3)
}

// sorted sorts the pods of a trial into the order in which they are placed: the lead class first,
// then by descending priority, then by descending number of failed trials. Pods that are still
// equal are sorted by a criterion that changes with the number of the trial: the largest first,
// those with fewest places first, those bound first, or class by class.
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
	rankOf := func(podID int32) *rank {
		c := class(podID)
		k := &r.ranks[c]
		if k.known {
			return k
		}
		of := &r.p.Classes[c]
		*k = rank{known: true, headroom: of.Headroom, lead: c == t.lead, priority: of.Priority}
		switch {
		case r.placing:
			k.key = r.places(c)
		case t.n%2 == 0:
			k.key = -largestShare(r.p.OfResources(r.p.Requests[c]), sum)
		case t.n%4 == 1:
			k.key = float64(r.p.Admission.Lowered(c).Len())
		default:
			k.key = float64(r.below(1 << 20))
		}
		return k
	}
	queue = slices.Clone(queue)
	slices.SortStableFunc(queue, func(x, y int32) int {
		a, b := rankOf(x), rankOf(y)
		if a != b { // pods of two classes
			if c := cmp.Or(order.Bools(a.headroom, b.headroom), -order.Bools(a.lead, b.lead), -cmp.Compare(a.priority, b.priority)); c != 0 {
				return c
			}
		}
		return cmp.Or(-cmp.Compare(r.trouble(x), r.trouble(y)), cmp.Compare(a.key, b.key), cmp.Compare(x, y))
	})
	for _, podID := range queue {
		r.ranks[class(podID)] = rank{}
	}
	return queue
}

// rank has the properties of a class that sorted compares.
type rank struct {
	known, headroom, lead bool
	priority              int32
	key                   float64
}
