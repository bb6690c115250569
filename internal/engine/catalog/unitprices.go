package catalog

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// UnitPrices gives the share of a node's price that a request accounts for, as if nodes could be
// bought in parts. Slots do not count, because other pods use the rest of a node.
type UnitPrices struct {
	dims   int
	prices []float64 // by option
	rooms  []int32   // by option: index of its capacity
	whole  []float64 // by capacity and resource: 1 / capacity, 0 if the capacity is 0
	count  int       // number of distinct capacities

	mu    sync.Mutex
	known map[string]rating // by request and options
}

// rating is the option with the lowest cost of a request.
type rating struct {
	cost   float64
	option int
}

// maxRatings is how many ratings are kept. Then all are dropped.
const maxRatings = 1024

// Rater finds the option with the lowest unit price for a request. It must not be used by several
// goroutines at a time.
type Rater struct {
	*UnitPrices
	shares []float64 // by capacity: the share that the request takes, negative if not computed yet
	key    []byte    // scratch
}

// Rater returns a new Rater over these prices.
func (u *UnitPrices) Rater() *Rater { return &Rater{UnitPrices: u, shares: make([]float64, u.count)} }

// NewUnitPrices computes the unit prices of all options.
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

// Of returns the cost in USD per hour of a request at one option: the price of the option, times
// the largest share that the request takes of any resource.
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

// Best returns the lowest cost of a request over some options, and the option that has it; +Inf and
// -1 if there are no options. All problems with these prices share the answers.
func (u *Rater) Best(request []int64, options bitset.Set) (float64, int) {
	u.key = u.key[:0]
	for _, n := range request[:u.dims] {
		u.key = binary.LittleEndian.AppendUint64(u.key, uint64(n))
	}
	u.key = options.AppendKey(u.key)
	u.mu.Lock()
	known, ok := u.known[string(u.key)]
	u.mu.Unlock()
	if ok {
		return known.cost, known.option
	}
	cost, option := u.best(request, options)
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.known) == maxRatings || u.known == nil {
		u.known = map[string]rating{}
	}
	u.known[string(u.key)] = rating{cost, option}
	return cost, option
}

// best computes Best.
func (u *Rater) best(request []int64, options bitset.Set) (float64, int) {
	for i := range u.shares {
		u.shares[i] = -1
	}
	best, at := math.Inf(1), -1
	// A loop over words is faster than All, and this runs for every class and option.
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
