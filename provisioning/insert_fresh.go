package provisioning

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// fresh returns a node for a pod of a class alone, the cheapest of the heaviest
// pools that have one within their limits; nil if there is none. Reservations
// are left alone.
func (g *inserter) fresh(c int) *bin { return g.freshIn(c, g.pins(c)) }

// pins are the cells that a node for a pod of a class may be in, as requirements.
func (g *inserter) pins(c int) []requirements.Set {
	pins := []requirements.Set{{}}
	if spans := g.p.rules.duties[c].spans; len(spans) > 0 {
		pins = nil
		for _, cell := range g.p.cells[c] {
			pins = append(pins, g.p.pinOf(g.p.table.numbers(spans), cell.At))
		}
	}
	return pins
}

// freshIn returns such a node in one of some cells.
func (g *inserter) freshIn(c int, pins []requirements.Set) *bin {
	var best *bin
	for i := range g.p.pools {
		if best != nil && g.p.lowPools[i].Tier > g.p.lowPools[best.binType.pool].Tier {
			break
		}
		within := g.withinLimits(i)
		for _, pin := range pins {
			if s := g.alone(c, i, pin, within); s != nil && (best == nil || s.binType.price() < best.binType.price()) {
				best = s
			}
		}
	}
	return best
}

// alone returns a node of a pool for a pod of a class alone, nil if there is
// none.
func (g *inserter) alone(c, pool int, pin requirements.Set, within bitset.Set) *bin {
	class, item := g.p.admission.lowerWith(c, pin, g.preference(c), map[int32]int32{})
	for i, v := range class.Variants {
		options := v.Options.Clone()
		options.And(within)
		asked := unnamed(g.p.pools[pool].template.Intersect(item.sources[i]))
		s := g.launch(c, pool, options, v.Trait, asked)
		if s == nil {
			continue
		}
		if brings := g.ledger.extending(s); !brings.Empty() {
			options = s.binType.options.Clone()
			options.AndNot(brings)
			if s = g.launch(c, pool, options, v.Trait, asked); s == nil {
				continue
			}
		}
		if g.ledger.allows(c, s) && !g.ledger.fillsFirst(s) {
			s.binType.wide = g.p.widestAlone(pool, v.Options)
			return s
		}
	}
	return nil
}

// launch returns a node of some options of a pool, without the pod of a class that it
// is for; nil if these are too few.
func (g *inserter) launch(c, pool int, options bitset.Set, trait int32, asked requirements.Set) *bin {
	options = g.p.spared(pool, options)
	if g.beside != nil {
		all, ok := together(g.p.requests[c][:len(g.p.resources)], g.beside)
		if options.And(g.lead); !ok {
			return nil
		}
		options = g.p.holding(options, all)
	}
	short := !g.p.choice(pool, options, trait)
	if options.Empty() || g.left <= 0 || short && g.p.opts.MinValues != BestEffort || asked.Impossible() {
		return nil
	}
	g.left--
	s := &bin{number: -1, node: -1, binType: g.a.newBinType(pool, options, trait, asked, short), taken: make([]int64, len(g.p.requests[c]))}
	s.at = g.p.binTypeLocations(s.binType)
	return s
}

// preference are the options that a class is to have where some of them will do, nil if
// all are alike.
func (g *inserter) preference(c int) bitset.Set {
	if g.a.s.givesUp(c) {
		return g.p.preferences[c].steady
	}
	return g.p.preferences[c].options
}

// withinLimits returns the options of a pool that its limits allow beside the
// nodes of the plan, but those of reservations.
func (g *inserter) withinLimits(pool int) bitset.Set {
	low := &g.p.lowPools[pool]
	left := slices.Clone(low.Limits)
	for _, s := range g.ledger.bins {
		if s.node >= 0 || s.binType.pool != pool || left == nil || len(s.podIDs) == 0 {
			continue
		}
		subtract(left, mostUses(low, s.binType.options))
	}
	out := bitset.New(len(g.p.lowOptions))
	for o := low.First; o < low.Last; o++ {
		if g.p.lowOptions[o].Reservation == 0 && (left == nil || within(low.Uses[o-low.First], left)) {
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

// times multiplies amounts, up to what an amount can be.
func times(amounts []int64, n int) []int64 {
	out := make([]int64, len(amounts))
	for r, amount := range amounts {
		if out[r] = math.MaxInt64; n == 0 || amount <= math.MaxInt64/int64(n) {
			out[r] = amount * int64(n)
		}
	}
	return out
}
