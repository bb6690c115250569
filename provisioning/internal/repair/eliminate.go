package repair

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// eliminator takes new nodes out of a plan whose pods find room on others for less.
// Domains are assigned before anything is packed, as if nodes could be bought in
// pieces, and nodes that exist are filled before it is known what has to be bought;
// so a few pods may get nodes that the plan as a whole does not need.
type eliminator struct {
	placer
	order   []int32       // of the pods of the plan
	bins    []*ledger.Bin // nodes that exist, and then new ones
	fills   bool          // pods may go to lighter nodes that are launched anyway
	turns   bool          // pods may go to where they can be only in the turn that they have
	buysFor bool          // nodes of their own for pods that make room for those that cannot have one
	shown   bool          // the pods of the plan as it was can be bound one by one
	tried   bool          // nodes were tried as they are, without lighter ones

	// What has become of the node that is being emptied.
	before []savedBin            // bins as they were
	moved  []int32               // pods, in the order in which they moved
	bought []*ledger.Bin         // nodes that were none before
	homes  map[int32]*ledger.Bin // by pod that was taken off a bin: that bin
	inTurn bool                  // some moved to where they can be only in the turn that they had
	budget float64               // by how much other nodes may still become dearer
	tier   int                   // of the node
}

// savedBin is a bin as it was.
type savedBin struct {
	at      *ledger.Bin
	podIDs  []int32
	binType *ledger.BinType
	late    bool
}

const (
	// eliminationTries is how many nodes are tried to be emptied.
	eliminationTries = 16
	// eliminationLooks bounds the work: looks at a node for a pod.
	eliminationLooks = 2_000
	// eliminationBins is up to how many nodes, and eliminationPods up to how many pods, a
	// plan is looked at as a whole: one node is little in larger ones.
	eliminationBins = 1_000
	eliminationPods = 10_000
	// eliminationShare is the share of the cost of a plan that a node must have to be tried.
	eliminationShare = 0.0075
)

// eliminateNodes takes new nodes out of the plan as long as that makes it cheaper, those
// first that waste most. It returns the order in which pods can be bound then, and
// says whether it changed anything.
func (st *State) eliminateNodes(order []int32) ([]int32, bool) {
	if !st.mayEliminate(order) || st.p.Skips(model.Eliminate) {
		return order, false
	}
	k := &eliminator{placer: placer{st: st, p: st.p}, order: order}
	k.read()
	some := false
	if st.s.ChoseBefore(st.p) {
		some, k.tried = k.eliminateSome(), true
	}
	if st.p.Tiers.Fill && !st.p.Skips(model.FillLighter) {
		k.fills = true // after what weights alone leave, or it would be in the way of that
		some = k.eliminateSome() || some
	}
	changed := k.exchangeSome()
	some = changed || some
	if k.hasSome(k.isSpread) {
		k.turns, k.tried = true, !changed // after what holds in any turn, or it would be in the way of that
		some = k.eliminateSome() || some
		some = k.exchangeSome() || some
	}
	if k.turns = true; k.rebuildOnce() {
		k.eliminateSome()
		some = true
	}
	if k.hasSome(k.follower) {
		k.buysFor, k.tried = true, true // after all else, or it would be in the way of that
		some = k.eliminateSome() || some
	}
	return k.order, some
}

// looksOptions is how many options make a look at a node count once more.
const looksOptions = 512

// looks is how many looks at a node a pass may take, of some number for few options. What is
// done in any turn has them all.
func (k *eliminator) looks(of int) int {
	if !k.turns {
		return of
	}
	return of / (1 + len(k.p.LowOptions)/looksOptions)
}

// eliminateSome takes nodes out of the plan, and says whether it did.
func (k *eliminator) eliminateSome() bool {
	k.left = k.looks(eliminationLooks)
	some, again := false, false
	tried := map[*ledger.Bin]bool{}
	for tries := eliminationTries; tries > 0; {
		s := k.mostWasteful(tried)
		if s == nil && again {
			clear(tried) // what had no room may have by now
			s, again = k.mostWasteful(tried), false
		}
		if s == nil || k.left <= 0 {
			break
		}
		tried[s] = true
		if k.tried && !k.mayDoMore(s) {
			continue // it was tried with no less
		}
		tries--
		emptied := k.empty(s)
		if emptied && !k.shown {
			k.restore()
			if _, refused, _ := k.st.bindAll(k.order, false); len(refused) > 0 {
				break // what cannot be shown of the plan as it is cannot be shown of another
			}
			k.read()
			k.shown, emptied = true, k.empty(s)
		}
		if !emptied {
			k.restore()
		} else if k.accept() {
			some, again, k.tried = true, true, false
		}
	}
	return some
}

// mayEliminate says whether nodes may be taken out of the plan: some choice was made
// before it was packed, or weight by weight, and there are steps left.
func (st *State) mayEliminate(order []int32) bool {
	p := st.p
	nodes := len(st.New) + len(p.Nodes)
	return !p.Opts.Quick && st.steps < p.Opts.MaxSteps && p.Opts.CapacityMix == nil && !st.leant &&
		(st.s.ChoseBefore(p) || p.Tiers.Fill) && len(st.New) > 0 && nodes <= eliminationBins && len(order) <= eliminationPods
}

// read looks at the plan as it is.
func (k *eliminator) read() {
	k.bins = k.st.Bins()
	k.ledger = ledger.New(k.p, k.bins)
	if k.st.leant {
		k.ledger.LeanAll()
	}
	k.before, k.moved, k.bought, k.homes, k.inTurn = nil, nil, nil, map[int32]*ledger.Bin{}, false
	// A domain that pods can be sent to is one to spread over, with a node or without.
	for c, n := range k.ledger.There {
		if n == 0 {
			continue
		}
		d := &k.p.Rules.Duties[c]
		keys := k.p.Table.Numbers(d.Spans)
		for _, r := range d.Owns {
			rule, count := &k.p.Rules.Domain[r], &k.ledger.Counts[r]
			at := slices.Index(keys, rule.Rule.Key)
			if rule.Kind != topology.Spread || at < 0 {
				continue
			}
			for _, cell := range k.p.Cells[c] {
				if d := cell.At[at]; d >= 0 {
					count.Is[d], count.May[d] = true, true
				}
			}
		}
	}
}

// mostWasteful is the new node for which most is paid for nothing, of those that were
// not tried; nil if there is none.
func (k *eliminator) mostWasteful(tried map[*ledger.Bin]bool) *ledger.Bin {
	var best *ledger.Bin
	most, total := 0.0, 0.0
	for _, s := range k.st.New {
		total += k.priced(s)
	}
	for _, s := range k.st.New {
		if tried[s] || s.BinType.Price() <= 0 || k.priced(s) < total*eliminationShare {
			continue
		}
		if waste := k.priced(s) * (1 - k.used(s)); best == nil || waste > most {
			best, most = s, waste
		}
	}
	return best
}

// priced is what a new node costs when plans are compared.
func (k *eliminator) priced(s *ledger.Bin) float64 { return s.BinType.Price() + k.p.Opts.NodeFee }

// used is how full a new node is, as the cheapest of its options, which is the first.
func (k *eliminator) used(s *ledger.Bin) float64 {
	o := s.BinType.Options.First()
	return largestShare(k.p.OfResources(s.Taken), k.p.LowOptions[o].Capacity)
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
func (k *eliminator) empty(s *ledger.Bin) bool {
	k.budget = k.priced(s) * (1 - 1e-9)
	k.tier = k.p.LowPools[s.BinType.Pool].Tier
	for _, podID := range k.vacate(s) {
		if !k.place(podID, s) {
			return false
		}
	}
	return true
}

// vacate takes all pods off a bin, which is shut if it is a new node, and lists them,
// the largest first.
func (k *eliminator) vacate(s *ledger.Bin) []int32 {
	podIDs, of := slices.Clone(s.PodIDs), s.Taken
	if s.Node >= 0 {
		of = k.p.Nodes[s.Node].Free
	}
	share := func(podID int32) float64 {
		return largestShare(k.p.OfResources(k.p.Requests[k.p.ClassOf[podID]]), of)
	}
	slices.SortStableFunc(podIDs, func(x, y int32) int { return -cmp.Compare(share(x), share(y)) })
	k.save(s)
	for _, podID := range podIDs {
		k.homes[podID] = s
	}
	for _, m := range s.Pods {
		k.ledger.Count(m.Class, -m.Count, s)
	}
	if s.Node >= 0 {
		ledger.Hold(k.p, s, nil)
		s.Late = true
		return podIDs
	}
	s.PodIDs, s.Pods = nil, nil
	k.ledger.Shut(s)
	return podIDs
}

// save notes a bin as it is before anything moves.
func (k *eliminator) save(s *ledger.Bin) {
	if !slices.ContainsFunc(k.before, func(b savedBin) bool { return b.at == s }) {
		k.before = append(k.before, savedBin{s, slices.Clone(s.PodIDs), s.BinType, s.Late})
	}
}

// restore puts everything back.
func (k *eliminator) restore() {
	for _, b := range k.before {
		b.at.PodIDs, b.at.BinType, b.at.Late, b.at.Shut = b.podIDs, b.binType, b.late, false
	}
	k.read()
}

// accept makes the plan what it is with the pods that moved, if all can be bound one
// by one, and puts everything back otherwise.
func (k *eliminator) accept() bool {
	bound, fresh, order := k.st.Bound, k.st.New, k.order
	k.st.Bound = make([][]int32, len(bound))
	for i := range bound {
		k.st.Bound[i] = k.bins[i].PodIDs
	}
	k.st.New = slices.DeleteFunc(slices.Concat(fresh, k.bought), func(s *ledger.Bin) bool { return len(s.PodIDs) == 0 })
	last := map[int32]bool{}
	for _, podID := range k.moved {
		last[podID] = true
	}
	k.order = slices.DeleteFunc(slices.Clone(order), func(podID int32) bool { return last[podID] })
	for i, podID := range k.moved {
		if !slices.Contains(k.moved[i+1:], podID) {
			k.order = append(k.order, podID)
		}
	}
	var refused []int32
	k.order, refused, _ = k.st.bindAll(k.order, false)
	if len(refused) > 0 && k.inTurn {
		k.order, refused, _ = k.st.bindAll(order, false)
	}
	if len(refused) > 0 {
		k.st.Bound, k.st.New, k.order = bound, fresh, order
		k.restore()
		return false
	}
	k.st.leant = k.st.leant || k.ledger.Leant()
	k.read()
	return true
}
