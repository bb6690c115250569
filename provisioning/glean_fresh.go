package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// fresh returns a node for a pod of a class alone, the cheapest of the heaviest
// pools that have one within their limits; nil if there is none. Reservations
// are left alone.
func (g *gleaner) fresh(c int) *site {
	pins := []requirements.Set{{}}
	if spans := g.p.rules.duties[c].spans; len(spans) > 0 {
		pins = nil
		for _, cell := range g.p.cells[c] {
			pins = append(pins, g.p.pinOf(g.p.table.numbers(spans), cell.At))
		}
	}
	var best *site
	for i := range g.p.pools {
		if best != nil && g.p.lowPools[i].Tier > g.p.lowPools[best.shape.pool].Tier {
			break
		}
		within := g.withinLimits(i)
		for _, pin := range pins {
			if s := g.alone(c, i, pin, within); s != nil && (best == nil || s.shape.price() < best.shape.price()) {
				best = s
			}
		}
	}
	return best
}

// alone returns a node of a pool for a pod of a class alone, nil if there is
// none.
func (g *gleaner) alone(c, pool int, pin requirements.Set, within bitset.Set) *site {
	class, lot := g.p.admission.lowerWith(c, pin, g.wish(c), map[int32]int32{})
	for i, v := range class.Variants {
		options := v.Options.Clone()
		options.And(within)
		options = g.p.spared(pool, options)
		short := !g.p.choice(pool, options, v.Trait)
		if options.Empty() || g.left <= 0 || short && g.p.opts.MinValues != BestEffort {
			continue
		}
		g.left--
		asked := unnamed(g.p.pools[pool].template.Intersect(lot.sources[i]))
		if asked.Impossible() {
			continue
		}
		s := &site{number: -1, node: -1, shape: g.a.newShape(pool, options, v.Trait, asked, short), taken: make([]int64, len(g.p.requests[c]))}
		s.at = g.p.shapeReaches(s.shape)
		if g.ledger.allows(c, s) && !g.ledger.extends(s) && !g.ledger.crowds(s) {
			return s
		}
	}
	return nil
}

// wish are the options that a class is to have where some of them will do, nil if
// all are alike.
func (g *gleaner) wish(c int) bitset.Set {
	if g.a.s.unwished[c] {
		return g.p.wishes[c].steady
	}
	return g.p.wishes[c].options
}

// withinLimits returns the options of a pool that its limits allow beside the
// nodes of the plan, but those of reservations.
func (g *gleaner) withinLimits(pool int) bitset.Set {
	low := &g.p.lowPools[pool]
	left := slices.Clone(low.Limits)
	for _, s := range g.ledger.sites {
		if s.node >= 0 || s.shape.pool != pool || left == nil || len(s.ranks) == 0 {
			continue
		}
		subtract(left, mostUses(low, s.shape.options))
	}
	out := bitset.New(len(g.p.lowOptions))
	for o := low.First; o < low.Last; o++ {
		if g.p.lowOptions[o].Stock == 0 && (left == nil || within(low.Uses[o-low.First], left)) {
			out.Add(o)
		}
	}
	return out
}

// mostUses is what a launch of the largest of some options takes of each limited
// resource.
func mostUses(pool *pack.Pool, options bitset.Set) []int64 {
	most := make([]int64, len(pool.Limits))
	if pool.Uses == nil {
		return most
	}
	for o := range options.All() {
		for r, n := range pool.Uses[o-pool.First] {
			most[r] = max(most[r], n)
		}
	}
	return most
}
