package pack

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// worths are the worths of pods, and the prices of resources from which they follow.
type worths struct {
	value  []float64   // by class
	prices [][]float64 // by kind and resource
	sold   []bool      // by kind: some class of it has a positive worth
}

// candidates returns several lists of worths. In each list, the pods that a candidate without
// reservation holds are worth at most its price, even if each of its resources is divided between
// pods by itself.
func (f *floor) candidates(bought []int) []worths {
	var out []worths
	differs := !slices.Equal(bought, f.counts)
	if slices.ContainsFunc(bought, func(n int) bool { return n > 0 }) {
		w := f.priced(bought, f.t.market)
		if differs {
			// Pods of which none had to be bought, or that might all be on existing nodes, may be
			// worth nothing: then nodes with room for many of them hold no worth either.
			out = append(out, f.without(w, func(c int) bool { return bought[c] == 0 }))
			out = append(out, f.without(w, func(c int) bool { return f.onNodes[c] >= f.counts[c] }))
		}
		out = append(out, w)
	}
	if differs {
		out = append(out, f.priced(f.counts, f.t.market))
	}
	if len(f.looks) > 0 {
		// Existing nodes may lack one resource and have more than enough of the others: then the
		// best price of the plentiful resources is zero.
		for r, price := range f.t.unit {
			if price > 0 {
				out = append(out, f.only(r, price))
			}
		}
	}
	if f.t.reserved {
		// As if reservations were unlimited, at their price.
		supplies := slices.Clone(f.t.supplies)
		for i := range supplies {
			supplies[i].Price = f.t.candidates[i].price
		}
		out = append(out, f.priced(f.counts, cover.NewMarket(f.t.kinds, supplies)))
	}
	return out
}

// priced returns worths from the prices at which a demand is covered.
func (f *floor) priced(demand []int, market *cover.Market) worths {
	problem := f.s.relaxation(f.t, demand, f.t.kinds, f.s.kinds, func(c int) int { return f.s.p.Classes[c].Kind })
	return f.valued(market.Cover(problem.Demand, maxPivots).Prices)
}

// only returns worths from one resource alone, at the least price of one unit bought alone.
func (f *floor) only(resource int, price float64) worths {
	prices := make([][]float64, f.s.kinds)
	for kind := range prices {
		prices[kind] = make([]float64, f.s.p.Dims)
		prices[kind][resource] = price
	}
	return f.valued(prices)
}

// valued returns the worths at given prices of resources.
func (f *floor) valued(prices [][]float64) worths {
	value := f.s.priced(f.t, prices)
	return worths{value, prices, f.sold(value)}
}

// without sets the worth of some classes to zero.
func (f *floor) without(w worths, which func(class int) bool) worths {
	w.value = slices.Clone(w.value)
	for c := range w.value {
		if which(c) {
			w.value[c] = 0
		}
	}
	w.sold = f.sold(w.value)
	return w
}

// sold says, by kind, whether any class of it has a positive worth.
func (f *floor) sold(value []float64) []bool {
	out := make([]bool, f.s.kinds)
	for c, v := range value {
		out[f.s.p.Classes[c].Kind] = out[f.s.p.Classes[c].Kind] || v > 0
	}
	return out
}

// total returns the worth of a number of pods of each class.
func (w *worths) total(counts []int) float64 {
	sum := 0.0
	for c, n := range counts {
		sum += float64(w.value[c] * float64(n))
	}
	return sum
}

// dearest returns, by resource, the highest price that any of some kinds pays.
func (w *worths) dearest(kinds []int, dims int) []float64 {
	out := make([]float64, dims)
	for _, k := range kinds {
		if !w.sold[k] {
			continue
		}
		for r, price := range w.prices[k] {
			out[r] = math.Max(out[r], price)
		}
	}
	return out
}
