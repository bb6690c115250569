package pricing

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Entry is one price.
type Entry struct {
	// Scope is what it is the price of. An empty field stands for any value: a
	// price list names instance type and capacity type, a feed of spot prices
	// the zone as well.
	Scope cloudprovider.Scope
	// Price is in USD per hour, above zero.
	Price float64
	// At is when the source gave the price. Required in a layer with a MaxAge.
	At time.Time
}

// Layer is one source of prices.
type Layer struct {
	// Name says where the prices are from, in texts. Required, and one of its
	// kind in a Book.
	Name string
	// MaxAge is how long an entry is in date. One that is older is stale. Zero
	// is for ever.
	MaxAge time.Duration
	// Entries are the prices, in any order. Of several with one scope the
	// latest counts; two of one scope and instant are a fault unless they are
	// equal.
	Entries []Entry
}

// State says how far a price can be trusted.
type State string

const (
	// Known is a price that is in date.
	Known State = "Known"
	// Stale is a price of which only entries out of date are known.
	Stale State = "Stale"
	// Unknown is no price at all.
	Unknown State = "Unknown"
)

// maxPrice keeps sums finite. It is beyond any machine.
const maxPrice = 1e9

// priceFault says what is wrong with a price, or "".
func priceFault(p float64) string {
	if !(p > 0 && p <= maxPrice) {
		return fmt.Sprintf("price: %v; use USD per hour, above zero and at most %v", p, float64(maxPrice))
	}
	return ""
}

// fields of a scope, by bit, in the order in which they make it narrow.
const (
	reservation = 1 << iota
	capacityType
	zone
	instanceType
	allFields
)

// byWidth lists all sets of fields from the narrowest to the widest: with more
// fields first, of as many the one with the instance type, then the zone, the
// capacity type and the reservation.
func byWidth() []int {
	return []int{
		15,
		14, 13, 11, 7,
		12, 10, 9, 6, 5, 3,
		8, 4, 2, 1,
		0,
	}
}

func fieldsOf(s cloudprovider.Scope) int {
	f := 0
	if s.InstanceType != "" {
		f |= instanceType
	}
	if s.Zone != "" {
		f |= zone
	}
	if s.CapacityType != "" {
		f |= capacityType
	}
	if s.ReservationID != "" {
		f |= reservation
	}
	return f
}

// index finds what covers an offering, narrowest first.
type index[T any] struct {
	by    map[cloudprovider.Scope]T
	inUse []int // sets of fields, narrowest first
}

func newIndex[T any](by map[cloudprovider.Scope]T) index[T] {
	var used [allFields]bool
	for s := range by {
		used[fieldsOf(s)] = true
	}
	x := index[T]{by: by}
	for _, f := range byWidth() {
		if used[f] {
			x.inUse = append(x.inUse, f)
		}
	}
	return x
}

// covering calls yield for each item whose scope covers the key, until it
// returns false.
func (x *index[T]) covering(key cloudprovider.OfferingKey, yield func(cloudprovider.Scope, T) bool) {
	for _, f := range x.inUse {
		s := key.Scope()
		if f&instanceType == 0 {
			s.InstanceType = ""
		}
		if f&zone == 0 {
			s.Zone = ""
		}
		if f&capacityType == 0 {
			s.CapacityType = ""
		}
		if f&reservation == 0 {
			s.ReservationID = ""
		}
		// A key with an empty field gives the same scope for two sets of
		// fields, of which one is the scope's own.
		if item, found := x.by[s]; found && fieldsOf(s) == f && !yield(s, item) {
			return
		}
	}
}
