package repair

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// fresh returns a node for a pod of a class alone, the cheapest of the heaviest
// pools that have one within their limits; nil if there is none. Reservations
// are left alone. One that costs a limit or more need not be found: see freshIn.
func (g *placer) fresh(c int, limit float64) *ledger.Bin { return g.freshIn(c, g.st.cells(c), limit) }

// freshIn returns such a node in one of some cells. One that costs a limit or more need not
// be found, fee included.
func (g *placer) freshIn(c int, cells []cell, limit float64) *ledger.Bin {
	if n := len(g.p.LowPools); n > 0 && g.p.LowPools[n-1].Tier > 0 {
		limit = math.Inf(1) // a dear node of a heavy pool comes before a cheap one of a light one
	}
	var best *ledger.Bin
	dear := func(price float64) bool {
		return price+g.p.Opts.NodeFee >= limit || best != nil && price >= best.BinType.Price()
	}
	for i := range g.p.Pools {
		if best != nil && g.p.LowPools[i].Tier > g.p.LowPools[best.BinType.Pool].Tier {
			break
		}
		within := g.withinLimits(i)
		for at := range cells {
			if s := g.alone(c, i, &cells[at], within, dear); s != nil && !dear(s.BinType.Price()) {
				best = s
			}
		}
	}
	return best
}

// alone returns a node of a pool for a pod of a class alone, nil if there is
// none. What is too dear may be none: it takes far longer to make than to price.
func (g *placer) alone(c, pool int, in *cell, within bitset.Set, dear func(price float64) bool) *ledger.Bin {
	low := g.st.aloneIn(c, in)
	for i, v := range low.class.Variants {
		options := v.Options.Both(within)
		asked := g.st.ask(low, pool, i)
		last := i == len(low.class.Variants)-1 // before it a dear one keeps others from being looked at
		tooDear := func(price float64) bool { return last && dear(price) }
		s := g.launch(c, pool, options, v.Trait, asked, tooDear)
		if s == nil {
			continue
		}
		if s = g.allowed(c, s, tooDear); s != nil {
			s.BinType.Wide = widestAlone(g.p, pool, v.Options)
			return s
		}
	}
	return nil
}

// allowed returns a node for a pod of a class in the cheapest cell where constraints between pods
// allow it, of those in which a new node may be; nil if there is none, or only one that is too
// dear.
func (g *placer) allowed(c int, s *ledger.Bin, dear func(price float64) bool) *ledger.Bin {
	of := s.BinType
	parts, asks := []compile.Part{{Options: of.Options}}, []requirements.Set{of.Asked}
	open, several := g.st.open(of, g.ledger.KeysOfCell(c))
	if several {
		parts, asks = g.st.cellsOf(of.Options, of.Asked, open)
	}
	for i := range parts {
		if several {
			if s = g.launch(c, of.Pool, parts[i].Options, of.Trait, &ask{of: asks[i]}, dear); s == nil {
				continue
			}
		}
		if g.ledger.Allows(c, s) && !g.ledger.Extends(nil, s) && g.ledger.DaemonsAllowed(s) {
			return s
		}
	}
	return nil
}

// launch returns a node of some options of a pool, without the pod of a class that it
// is for; nil if these are too few or too dear.
func (g *placer) launch(c, pool int, options bitset.Set, trait int32, asked *ask, dear func(price float64) bool) *ledger.Bin {
	options = spared(g.p, pool, options)
	if g.beside != nil {
		all, ok := attempt.Together(g.p.OfResources(g.p.Requests[c]), g.beside)
		if options.And(g.lead); !ok {
			return nil
		}
		options = ledger.Holding(g.p, pool, options, all)
	}
	short := !g.p.Choice(pool, options, trait)
	if options.Empty() || g.left <= 0 || short && g.p.Opts.MinValues != model.BestEffort || asked.never {
		return nil
	}
	if g.left--; dear(ledger.Cheapest(g.p, pool, options)) {
		return nil
	}
	s := &ledger.Bin{Number: -1, Node: -1, BinType: g.st.NewBinType(pool, options, trait, asked.of, short), Taken: make([]int64, len(g.p.Requests[c]))}
	s.At = ledger.BinTypeLocations(g.p, s.BinType)
	return s
}

// withinLimits returns the options of a pool that its limits allow beside the
// nodes of the plan, but those of reservations.
func (g *placer) withinLimits(pool int) bitset.Set {
	low := &g.p.LowPools[pool]
	left := slices.Clone(low.Limits)
	for _, s := range g.ledger.Bins {
		if s.Node >= 0 || s.BinType.Pool != pool || left == nil || len(s.PodIDs) == 0 {
			continue
		}
		attempt.Subtract(left, mostUses(low, s.BinType.Options))
	}
	return g.p.WithinLimits(pool, left)
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
