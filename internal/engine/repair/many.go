package repair

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
)

// The cheapest node for one pod is not always the cheapest for many: 800 pods of 4 CPU would each
// get a node of 4 CPU, where a quarter as many nodes of 16 CPU may cost a third.

// freshForMany returns a node for the first of n unplaced pods of a class and the number of pods
// that it is for. Of the nodes in some cells it is the one that costs least for each pod that it
// holds, without the preferences of the class only if there is no other. It returns nil if there is
// none.
func (g *placer) freshForMany(c, n int, cells []cell) (s *ledger.Bin, k int) {
	most := g.cheapestTogether(c, n)
	if s, k = g.freshForMost(c, most, cells); s == nil && g.st.preference(c) != nil {
		g.plain = true
		s, k = g.freshForMost(c, most, cells)
		g.plain = false
	}
	return s, k
}

// freshForMost is freshForMany for at most the given number of pods.
func (g *placer) freshForMost(c, most int, cells []cell) (*ledger.Bin, int) {
	for k := most; k > 1; k /= 2 {
		g.extra, g.lead = times(g.p.OfResources(g.p.Requests[c]), k-1), g.p.Admission.Lowered(c)
		s := g.freshIn(c, cells, math.Inf(1))
		g.extra, g.lead = nil, nil
		if s != nil {
			return s, k
		}
	}
	return g.freshIn(c, cells, math.Inf(1)), 1
}

// cheapestTogether returns how many of n pods of a class fit on the node that costs least for each
// of them, of the heaviest pools that have one within their limits; 1 if no node holds more. Of two
// nodes at the same cost it counts the larger. It takes O(options) time.
func (g *placer) cheapestTogether(c, n int) int {
	n = g.mostOnNode(c, n)
	if n < 2 {
		return 1
	}
	best, tier, rate := 1, -1, math.Inf(1)
	suits := g.p.Admission.Lowered(c)
	for i := range g.p.Pools {
		low := &g.p.LowPools[i]
		if tier >= 0 && low.Tier > tier {
			break
		}
		options := g.withinLimits(i)
		for o := low.First; o < low.Last; o++ {
			if !options.Has(o) || !suits.Has(o) {
				continue
			}
			holds := n
			for r, want := range g.p.OfResources(g.p.Requests[c]) {
				if want > 0 {
					holds = int(min(int64(holds), g.p.LowOptions[o].Capacity[r]/want))
				}
			}
			if holds < 1 {
				continue
			}
			tier = low.Tier
			each := (g.p.Option(o).Offering.Price + g.p.Opts.NodeFee) / float64(holds)
			if each < rate*(1-1e-9) || each < rate*(1+1e-9) && holds > best {
				best, rate = holds, min(each, rate)
			}
		}
	}
	return best
}

// mostOnNode returns how many of n pods of a class the rules over nodes allow on one node.
func (g *placer) mostOnNode(c, n int) int {
	for _, part := range g.p.Rules.ByClass[c].All {
		n = g.p.Rules.Node[part.Rule].Most(part, n)
	}
	return n
}
