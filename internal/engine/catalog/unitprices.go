package catalog

import (
	"math"
	"math/bits"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// UnitPrices says what requests cost on paper, as if nodes could be bought in
// pieces: the part of the price of a node that goes with the part they take of it.
// Slots are left out, as other pods use the rest of a node.
type UnitPrices struct {
	dims   int
	prices []float64 // by option
	rooms  []int32   // by option: index of its capacity
	whole  []float64 // by capacity and resource: one by all there is, 0 for none
	count  int       // of capacities
}

// Rater finds the best of many options by unit prices. It is for one goroutine at a
// time.
type Rater struct {
	*UnitPrices
	shares []float64 // by capacity: what a request takes of it, below zero if not known
}

// Rater begins to rate sets of options.
func (u *UnitPrices) Rater() *Rater { return &Rater{u, make([]float64, u.count)} }

// NewUnitPrices works out what a unit of each dimension costs on each option.
func NewUnitPrices(options [][]Option, dims int) *UnitPrices {
	total := 0
	for i := range options {
		total += len(options[i])
	}
	u := &UnitPrices{dims: dims, prices: make([]float64, 0, total), rooms: make([]int32, 0, total)}
	index := map[*int64]int32{}
	for i := range options {
		for j := range options[i] {
			o := &options[i][j]
			u.prices = append(u.prices, o.Offering.Price)
			if dims == 0 {
				u.rooms = append(u.rooms, 0)
				continue
			}
			room, known := index[&o.Capacity[0]]
			if !known {
				room = int32(len(index))
				index[&o.Capacity[0]] = room
				for _, have := range o.Capacity[:dims] {
					u.whole = append(u.whole, inverse(have))
				}
			}
			u.rooms = append(u.rooms, room)
		}
	}
	u.count = max(len(index), 1)
	return u
}

func inverse(n int64) float64 {
	if n <= 0 {
		return 0
	}
	return 1 / float64(n)
}

// Of is what a request costs at one option: its largest share of any resource, of
// the price.
func (u *UnitPrices) Of(request []int64, option int) float64 {
	return u.prices[option] * u.share(request, u.rooms[option])
}

func (u *UnitPrices) share(request []int64, room int32) float64 {
	most := 0.0
	for r, part := range u.whole[int(room)*u.dims : (int(room)+1)*u.dims] {
		most = max(most, float64(part*float64(request[r])))
	}
	return most
}

// Best is what a request costs at the best of some options, and which that is; if
// there are none, infinite and -1.
func (u *Rater) Best(request []int64, options bitset.Set) (float64, int) {
	for i := range u.shares {
		u.shares[i] = -1
	}
	best, at := math.Inf(1), -1
	// By hand, not by All: this is asked of every class and option.
	for w, word := range options {
		for ; word != 0; word &= word - 1 {
			o := w<<6 + bits.TrailingZeros64(word)
			room := u.rooms[o]
			if u.shares[room] < 0 {
				u.shares[room] = u.share(request, room)
			}
			if cost := u.prices[o] * u.shares[room]; cost < best {
				best, at = cost, o
			}
		}
	}
	return best, at
}
