package pack

import (
	"math"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// appraise prices the candidates that come from a stock at what the like of
// them would cost elsewhere. The relaxation knows no stocks, so it must not
// take them for free: what a pod is worth is decided by what is bought once the
// stocks are empty.
func (t *tier) appraise(p *Problem, masks []bitset.Set) {
	for i := range t.candidates {
		c := &t.candidates[i]
		if c.stock == 0 {
			continue
		}
		t.stocked = true
		c.worth = math.Inf(1)
		for j := range t.candidates {
			k := &t.candidates[j]
			if k.stock != 0 || k.serves != c.serves && !masks[c.serves].SubsetOf(masks[k.serves]) {
				continue
			}
			if price := k.price * times(c.capacity, k.capacity); price < c.worth {
				c.worth = price
			}
		}
		if math.IsInf(c.worth, 1) {
			// Nothing else serves these pods: all stocks are worth alike.
			c.worth = 1
		}
		c.worth = math.Max(c.worth, c.price)
	}
}

// times says how many of one capacity it takes to hold another.
func times(capacity, of []int64) float64 {
	out := 1.0
	for r, n := range capacity {
		switch {
		case n <= 0:
		case of[r] <= 0:
			return math.Inf(1)
		default:
			out = math.Max(out, float64(n)/float64(of[r]))
		}
	}
	return out
}

// stockCredit is how far the stocks may bring the cost below what the
// relaxation reckons with.
func (s *solver) stockCredit(t *tier) float64 {
	if len(s.p.Stocks) == 0 {
		return 0
	}
	credit := make([]float64, len(s.p.Stocks))
	for i := range t.candidates {
		if c := &t.candidates[i]; c.stock != 0 {
			credit[c.stock-1] = math.Max(credit[c.stock-1], c.worth-s.p.Options[c.option].Price)
		}
	}
	sum := 0.0
	for i, n := range s.p.Stocks {
		sum += float64(float64(n) * credit[i])
	}
	return sum
}

// inStock says how many nodes of a candidate its stock still allows.
func (s *solver) inStock(c *candidate) int {
	if c.stock == 0 {
		return math.MaxInt
	}
	return s.stocks[c.stock-1]
}

// draw takes nodes of a candidate from its stock; a negative number puts them
// back.
func (s *solver) draw(c *candidate, copies int) {
	if c.stock != 0 {
		s.stocks[c.stock-1] -= copies
	}
}

// keepStock removes the options of other stocks than a node takes from and,
// where that is strict, those of none.
func (s *solver) keepStock(set bitset.Set, stock int) {
	if len(s.p.Stocks) == 0 {
		return
	}
	for o := range set.All() {
		of := s.p.Options[o].Stock
		if of != stock && (of != 0 || s.p.StrictStock) {
			set.Remove(o)
		}
	}
}

// onlyStocked says which classes can be served from stocks only. They come
// first, as others have a choice.
func onlyStocked(p *Problem) []bool {
	out := make([]bool, len(p.Classes))
	if len(p.Stocks) == 0 {
		return out
	}
	for c := range p.Classes {
		some := false
		out[c] = true
		for _, v := range p.Classes[c].Variants {
			for o := range v.Options.All() {
				some = true
				if p.Options[o].Stock == 0 {
					out[c] = false
				}
			}
		}
		out[c] = out[c] && some
	}
	return out
}
