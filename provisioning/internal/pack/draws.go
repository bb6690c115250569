package pack

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/flow"
)

// sale is what a new node was bought as.
type sale struct {
	tier *tier
	pick
}

// assignStocks gives what is in the stocks to those new nodes that save most by
// it, whoever came first when they were bought. Each new node may draw on one of
// the stocks that options of its pool with room for its pods come from, and a
// node that can be launched from stocks only keeps to one.
//
// Where pods are left without a node that only stocks could serve, stocks are
// first freed for them, even if the nodes that drew on those become dearer.
func (s *solver) assignStocks(out *Result) error {
	if len(s.p.Stocks) == 0 {
		return nil
	}
	if s.anyLeft() && s.free(out) {
		if err := s.buyAll(out); err != nil {
			return err
		}
	}
	if len(s.sold) > 0 {
		s.assign(out, nil)
	}
	return s.ctx.Err()
}

// draws are, by new node, the ways to launch it: first from no stock, then
// from each.
type draws [][]draw

// draw is a new node as it would be if it drew on some stock, or on none.
type draw struct {
	ok     bool
	launch Launch
}

// free assigns the stocks such that pods without a place find something there,
// and says whether anything is there now that was not before.
func (s *solver) free(out *Result) bool {
	waiting := s.waiting()
	if len(waiting) == 0 {
		return false
	}
	before := slices.Clone(s.stocks)
	s.assign(out, waiting)
	for i, n := range s.stocks {
		if n > before[i] && before[i] == 0 {
			return true
		}
	}
	return false
}

// waiting are the pods without a place that could be on new nodes from stocks,
// as rows of an assignment: each as if it took a node of its own.
type waiting struct {
	count  int
	stocks []bool // that would do
}

func (s *solver) waiting() []waiting {
	var out []waiting
	for c, n := range s.left {
		if n == 0 {
			continue
		}
		w := waiting{n, make([]bool, len(s.p.Stocks))}
		for _, tier := range s.tiers {
			t := tier()
			if t.groupOf[c] < 0 {
				continue
			}
			for i := range t.candidates {
				k := &t.candidates[i]
				if k.stock != 0 && t.admits[k.serves].Has(int(t.groupOf[c])) && fits(s.p.Classes[c].Request, k.capacity) {
					w.stocks[k.stock-1] = true
				}
			}
		}
		if slices.Contains(w.stocks, true) {
			out = append(out, w)
		}
	}
	return out
}

// assign assigns the stocks anew. Without pods that wait it changes nothing
// unless that saves something.
func (s *solver) assign(out *Result, waiting []waiting) {
	p := &flow.Problem{Room: s.p.Stocks}
	ways := make(draws, len(s.sold))
	some := len(waiting) > 0
	for i := range s.sold {
		ways[i] = s.draws(&s.sold[i], out.New[i].Stock)
		gain, claim := gains(ways[i])
		for stock := range gain {
			some = some || !math.IsNaN(gain[stock]) && stock+1 != out.New[i].Stock
		}
		p.Supply, p.Gain, p.Claim = append(p.Supply, out.New[i].Copies), append(p.Gain, gain), append(p.Claim, claim)
	}
	if !some {
		return
	}
	for _, w := range waiting {
		gain := make([]float64, len(s.p.Stocks))
		for stock, ok := range w.stocks {
			if !ok {
				gain[stock] = math.NaN()
			}
		}
		p.Supply, p.Gain, p.Claim = append(p.Supply, w.count), append(p.Gain, gain), append(p.Claim, flow.Wants)
	}
	assigned := flow.Assign(p)
	if len(waiting) > 0 || saved(p, assigned[:len(ways)]) > s.savedNow(p, out)*(1+1e-9) {
		s.redraw(out, ways, assigned)
	}
}

// draws lists the ways to launch what was sold. What it draws on now is kept as
// it is.
func (s *solver) draws(sold *sale, now int) []draw {
	out := make([]draw, 1+len(s.p.Stocks))
	c := sold.tier.candidates[sold.candidate]
	all := s.optionsOfAll(c.pool, sold.shares, sold.trait).Clone()
	s.keepWithin(&c, all, sold.uses)
	for stock, options := range s.byStock() {
		if all.Overlaps(options) {
			out[stock].launch, out[stock].ok = s.drawn(&c, &sold.pick, all, stock)
		}
	}
	if now == c.stock {
		out[now] = draw{true, s.launch(sold.tier, &sold.pick)}
	}
	return out
}

// drawn is a new node that draws on a stock, or on none; false if it would not
// be one that the packer makes. c is what it was bought as, all are the options
// of its pool that hold its pods, of whatever stock.
func (s *solver) drawn(c *candidate, p *pick, all bitset.Set, stock int) (Launch, bool) {
	set := all.Clone()
	set.And(s.stockOptions[stock])
	there := *c
	there.stock, there.option = stock, first(set) // options lie cheapest first
	if stock != 0 && !s.p.StrictStock {
		others := all.Clone()
		others.And(s.stockOptions[0])
		set.Or(others)
	}
	s.keepFlexible(&there, set)
	pool := &s.p.Pools[there.pool]
	for i := range pool.MinValues {
		if pool.MinValues[i].Distinct(pool.First, set, s.values(there.pool, i, p.trait)) < s.needed(there.pool, i, p.shares) {
			return Launch{}, false
		}
	}
	if s.isFlexible(&there) && s.p.Flexible.kinds(set) < s.neededKinds(there.pool, p.shares) {
		return Launch{}, false
	}
	// Where something else is cheaper the launch would not draw on the stock.
	at := first(set)
	if at < 0 || s.p.Options[at].Stock != stock {
		return Launch{}, false
	}
	return Launch{
		Pool: there.pool, Shares: p.shares, Options: set, Trait: p.trait, Price: s.p.Options[at].Price, Stock: stock,
		Relaxed: s.relaxed(there.pool, set, p.trait),
	}, true
}

// byStock returns the options of each stock, first those of none.
func (s *solver) byStock() []bitset.Set {
	if s.stockOptions == nil {
		s.stockOptions = make([]bitset.Set, 1+len(s.p.Stocks))
		for i := range s.stockOptions {
			s.stockOptions[i] = bitset.New(len(s.p.Options))
		}
		for o := range s.p.Options {
			s.stockOptions[s.p.Options[o].Stock].Add(o)
		}
	}
	return s.stockOptions
}

// gains is what one node saves by drawing on each stock, NaN where it cannot or
// saves nothing.
func gains(ways []draw) ([]float64, flow.Claim) {
	out := make([]float64, len(ways)-1)
	for i := range out {
		out[i] = math.NaN()
		switch from := &ways[i+1]; {
		case !from.ok:
		case !ways[0].ok:
			out[i] = -from.launch.Price
		case from.launch.Price < ways[0].launch.Price:
			out[i] = ways[0].launch.Price - from.launch.Price
		}
	}
	if !ways[0].ok {
		return out, flow.Needs
	}
	return out, flow.None
}

// saved is what an assignment saves.
func saved(p *flow.Problem, assigned [][]int) float64 {
	sum := 0.0
	for row := range assigned {
		for stock, n := range assigned[row] {
			if n > 0 {
				sum += float64(p.Gain[row][stock] * float64(n))
			}
		}
	}
	return sum
}

// savedNow is what the nodes save by what they draw on now.
func (s *solver) savedNow(p *flow.Problem, out *Result) float64 {
	sum := 0.0
	for i := range s.sold {
		if l := &out.New[i]; l.Stock != 0 && !math.IsNaN(p.Gain[i][l.Stock-1]) {
			sum += float64(p.Gain[i][l.Stock-1] * float64(l.Copies))
		}
	}
	return sum
}

// redraw makes the new nodes draw on the stocks that they were assigned to.
func (s *solver) redraw(out *Result, ways draws, assigned [][]int) {
	var launches []Launch
	var sold []sale
	copy(s.stocks, s.p.Stocks)
	for i := range s.sold {
		rest := out.New[i].Copies
		add := func(stock, n int) {
			if n == 0 {
				return
			}
			l := ways[i][stock].launch
			l.Copies = n
			launches, sold = append(launches, l), append(sold, s.sold[i])
			if stock > 0 {
				s.stocks[stock-1] -= n
			}
		}
		for stock, n := range assigned[i] {
			add(stock+1, n)
			rest -= n
		}
		add(0, rest)
	}
	out.New, s.sold = launches, sold
}
