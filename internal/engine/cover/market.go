package cover

import "math"

// Market is supplies prepared to cover any number of demands. It is safe for concurrent use.
type Market struct {
	serves   [][]int
	supplies []Supply
	goods    []goods // by index in serves
	dims     int
}

// goods are the supplies that serve one set of groups.
type goods struct {
	supplies []int32   // indexes, ascending
	prices   []float64 // by supply
	amounts  []float64 // by supply, then by resource
	cheapest []offer   // by resource
}

// offer is the cheapest way to cover demand for one resource alone.
type offer struct {
	unit, amount float64
	supply       int
}

// noOffer is the offer for a resource that no supply has.
var noOffer = offer{unit: math.Inf(1)}

// NewMarket prepares supplies. It keeps its arguments, which must not be changed afterwards.
func NewMarket(serves [][]int, supplies []Supply) *Market {
	m := &Market{serves: serves, supplies: supplies, goods: make([]goods, len(serves))}
	for i := range supplies {
		s := &supplies[i]
		g := &m.goods[s.Serves]
		m.dims = len(s.Amount)
		g.supplies = append(g.supplies, int32(i))
		g.prices = append(g.prices, s.Price)
		g.amounts = append(g.amounts, s.Amount...)
		if g.cheapest == nil {
			g.cheapest = noOffers(len(s.Amount))
		}
		for r, a := range s.Amount {
			if a > 0 {
				g.cheapest[r] = g.cheapest[r].or(offer{s.Price / a, a, i})
			}
		}
	}
	return m
}

// or returns the cheaper of two offers; of equal offers the one with the lower supply index.
func (o offer) or(other offer) offer {
	if other.unit < o.unit || other.unit == o.unit && other.supply < o.supply {
		return other
	}
	return o
}

func noOffers(n int) []offer {
	out := make([]offer, n)
	for i := range out {
		out[i] = noOffer
	}
	return out
}

// Cover computes the lowest fractional cost of covering a demand, given by group and resource; see
// Solve.
func (m *Market) Cover(demand [][]float64, maxPivots int) Solution {
	return m.Series().Cover(demand, maxPivots)
}

// solution returns a Solution of the right size that covers nothing yet.
func (m *Market) solution(demand [][]float64) Solution {
	out := Solution{Prices: make([][]float64, len(demand)), Bought: make([]float64, len(m.supplies))}
	n := 0
	for g := range demand {
		n += len(demand[g])
	}
	prices := make([]float64, n)
	for g := range demand {
		n := len(demand[g])
		out.Prices[g], prices = prices[:n:n], prices[n:]
	}
	return out
}
