package repair

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// inserter places unplaced pods one by one: on nodes that exist, on nodes of the plan, and on nodes
// launched for one pod alone. The packer placed whole groups at a time where there are constraints
// between pods, so places may be left.
type inserter struct {
	placer
	order []int32 // of the pods of the plan, as they can be bound
	opens bool    // it may add nodes
}

// mostLooks is how often insert may try a node for a pod.
const mostLooks = 1_000_000

// insert places as many of the unplaced pods as it can, by priority. It appends them to the order
// of the plan. DaemonSet pods of the nodes that it adds count before all pods of the plan and may
// exclude some of these; such pods are placed once more, on other nodes of the plan.
func (st *State) insert(order []int32) []int32 {
	nodes := len(st.New)
	order = st.insertOn(order, true)
	if len(st.p.ByDaemon) == 0 || len(st.New) == nodes {
		return order
	}
	valid := st.replayAll(order, false)
	if len(valid) == len(order) {
		return valid
	}
	return st.insertOn(valid, false)
}

// insertOn places unplaced pods on nodes of the plan and, if opens is set, on further nodes. It
// appends the pods to bound, the order of the plan.
func (st *State) insertOn(bound []int32, opens bool) []int32 {
	g := &inserter{placer: placer{st: st, p: st.p, left: mostLooks}, order: bound, opens: opens}
	var classes []int
	for c := range g.p.Classes {
		class, waits := &g.p.Classes[c], st.s.Absent[c]
		if class.Refusal == nil && (!class.Headroom && !waits || waits && st.last) && slices.ContainsFunc(st.sought(c), st.waits) {
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 {
		return bound
	}
	bins := st.Bins()
	before := len(bins)
	g.ledger = ledger.New(g.p, bins)
	if st.relies {
		g.ledger.RecordRelianceOfAll()
	}
	slices.SortStableFunc(classes, func(x, y int) int {
		a, b := &st.p.Classes[x], &st.p.Classes[y]
		return cmp.Or(order.Bools(a.Headroom, b.Headroom), -cmp.Compare(a.Priority, b.Priority))
	})
	for again := true; again; {
		again = false
		for _, c := range classes {
			again = g.placeClass(c) || again
		}
	}
	for i := range st.Bound {
		st.Bound[i] = bins[i].PodIDs
	}
	st.New = append(st.New, g.ledger.Bins[before:]...)
	st.relies = st.relies || g.ledger.Relies()
	return g.order
}

// placeClass places the unplaced pods of a class until one finds no place, and says whether it
// placed any.
func (g *inserter) placeClass(c int) bool {
	some := false
	var last *ledger.Bin
	left := 0
	for _, podID := range g.st.sought(c) {
		if g.st.waits(podID) {
			left++
		}
	}
	for _, podID := range g.st.sought(c) {
		if !g.st.waits(podID) {
			continue
		}
		left--
		if last == nil || !g.onto(last, c) {
			if last = g.find(c, left+1); last == nil {
				return some
			}
		}
		g.put(last, podID)
		some = true
	}
	return some
}

// put places a pod on a bin.
func (g *inserter) put(s *ledger.Bin, podID int32) {
	g.placer.put(s, podID)
	g.st.Placed[podID] = true
	g.order = append(g.order, podID)
}

// find returns the place for the first of n pods of a class: an existing node; a node of the plan
// that does not become more expensive, or least so; or a node of their own, where that costs less
// for each of the n pods. It returns nil if there is no place.
func (g *inserter) find(c, n int) *ledger.Bin {
	var best *ledger.Bin
	var bestBinType *ledger.BinType
	dearer := math.Inf(1)
	for _, s := range g.ledger.Bins {
		if s.Node >= 0 {
			if g.onto(s, c) {
				return s
			}
			continue
		}
		sh := g.narrowed(s, c, dearer)
		if sh == nil {
			continue
		}
		best, bestBinType, dearer = s, sh, sh.Price()-s.BinType.Price()
		if dearer <= 0 {
			break
		}
	}
	if dearer > 0 && g.opens {
		if fresh, k := g.freshForMany(c, n, g.st.cells(c)); fresh != nil && (best == nil || fresh.BinType.Price() < dearer*float64(k)) {
			g.ledger.Open(fresh)
			return fresh
		}
	}
	if best != nil {
		g.ledger.Become(best, bestBinType)
	}
	return best
}
