package pricing

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Entry is one price.
type Entry struct {
	// Scope selects the offerings with this price. An empty field stands for any value: an entry of
	// a price list names instance type and capacity type, one of a feed of spot prices the zone as
	// well.
	Scope cloudprovider.Scope
	// Price is in USD per hour, above zero.
	Price float64
	// At is when the source gave the price. Required in a layer with a MaxAge.
	At time.Time
}

// Layer is one source of prices.
type Layer struct {
	// Name is the name of the source in texts. Required, and unique in a Book.
	Name string
	// MaxAge is how long an entry is current. Older entries are stale. Zero means no limit.
	MaxAge time.Duration
	// Entries are the prices, in any order. Of several with one scope the latest counts; two with
	// one scope and instant are a fault unless they are equal.
	Entries []Entry
}

// State says whether a price is current.
type State string

const (
	// Known is a current price.
	Known State = "Known"
	// Stale is a price from an outdated entry.
	Stale State = "Stale"
	// Unknown is no price at all.
	Unknown State = "Unknown"
)

// priceFault says what is wrong with a price, or "".
func priceFault(p float64) string {
	if !(p > 0 && p <= cloudprovider.MaxPrice) {
		return fmt.Sprintf("price: %v; use USD per hour, above zero and at most %v", p, float64(cloudprovider.MaxPrice))
	}
	return ""
}

// The fields of a scope, by bit, from the least to the most significant for the order of scopes.
const (
	reservation = 1 << iota
	capacityType
	zone
	instanceType
	allFields
)

// byWidth lists all sets of fields from the narrowest to the widest: those with more fields first;
// of equally many, those with the instance type, then the zone, the capacity type and the
// reservation.
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

// index finds the items whose scope covers an offering, the narrowest first.
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
		// A key with an empty field gives the same scope for two sets of fields. Only the scope's
		// own set counts.
		if item, found := x.by[s]; found && fieldsOf(s) == f && !yield(s, item) {
			return
		}
	}
}
