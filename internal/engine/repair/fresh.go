package repair

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// fresh returns a new node for a pod of a class alone: the cheapest of the heaviest pools that have
// one within their limits; nil if there is none. It uses no reservations. It may return nil instead
// of a node that costs limit or more; see freshIn.
func (g *placer) fresh(c int, limit float64) *ledger.Bin { return g.freshIn(c, g.st.cells(c), limit) }

// freshIn is fresh restricted to some cells. It may return nil instead of a node that costs limit
// or more in USD per hour, fee included.
func (g *placer) freshIn(c int, cells []cell, limit float64) *ledger.Bin {
	if n := len(g.p.LowPools); n > 0 && g.p.LowPools[n-1].Tier > 0 {
		limit = math.Inf(1) // a node of a heavier pool takes precedence, whatever it costs
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

// alone returns a node of a pool for a pod of a class alone, nil if there is none. It may return
// nil for a node that is too expensive, because a price is known far sooner than the node.
func (g *placer) alone(c, pool int, in *cell, within bitset.Set, dear func(price float64) bool) *ledger.Bin {
	low := g.st.aloneIn(c, in)
	if g.plain {
		low = g.st.plainIn(c, in)
	}
	for i, v := range low.class.Variants {
		g.scratch = append(g.scratch[:0], v.Options...)
		options := g.scratch
		options.And(within)
		asked := g.st.ask(low, pool, i)
		last := i == len(low.class.Variants)-1 // an earlier variant takes precedence, whatever it costs
		tooDear := func(price float64) bool { return last && dear(price) }
		s := g.launch(c, pool, options, v.Trait, asked, tooDear)
		if s == nil {
			continue
		}
		if s = g.allowed(c, s, tooDear); s != nil {
			out := *s
			out.BinType, out.Taken = g.st.cloneBinType(s.BinType), make([]int64, len(g.p.Requests[c]))
			out.BinType.Wide = optionsAloneIgnoringLimits(g.p, pool, v.Options)
			return &out
		}
	}
	return nil
}

// allowed returns a node for a pod of a class in the cheapest cell in which constraints between
// pods admit the pod, of the cells that are open to the node s. It returns nil if there is none, or
// if the node would be too expensive.
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
		if g.withoutRules || g.ledger.Allows(c, s) && !g.ledger.Extends(nil, s) && g.ledger.DaemonsAllowed(s) {
			return s
		}
	}
	return nil
}

// launch returns a node of some options of a pool for a pod of a class, with the pod not yet on it.
// It returns nil if the options are too few or too expensive. The next call overwrites the node: few
// nodes are accepted.
func (g *placer) launch(c, pool int, options bitset.Set, trait int32, asked *ask, dear func(price float64) bool) *ledger.Bin {
	options = withoutScarceSpot(g.p, pool, options)
	if g.extra != nil {
		all, ok := attempt.Together(g.p.OfResources(g.p.Requests[c]), g.extra)
		if !ok {
			return nil
		}
		options = ledger.Holding(g.p, pool, options.Both(g.lead), all)
	}
	short := !g.p.Choice(pool, options, trait)
	if options.Empty() || g.left <= 0 || short && g.p.Opts.MinValues != model.BestEffort || asked.never {
		return nil
	}
	if g.left--; dear(ledger.Cheapest(g.p, pool, options)) {
		return nil
	}
	of := g.st.binType(pool, options, trait, asked.of, short)
	g.candidate = ledger.Bin{Number: -1, Node: -1, BinType: of, At: ledger.BinTypeLocations(g.p, of)}
	return &g.candidate
}

// withinLimits returns the options of a pool, except those of reservations, that its limits allow
// in addition to the new nodes of the plan.
func (g *placer) withinLimits(pool int) bitset.Set {
	return g.p.WithinLimits(pool, planned(g.p, pool, g.ledger.Bins))
}

// times multiplies amounts by n; products that overflow become MaxInt64.
func times(amounts []int64, n int) []int64 {
	out := make([]int64, len(amounts))
	for r, amount := range amounts {
		if out[r] = math.MaxInt64; n == 0 || amount <= math.MaxInt64/int64(n) {
			out[r] = amount * int64(n)
		}
	}
	return out
}
