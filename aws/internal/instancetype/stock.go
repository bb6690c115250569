package instancetype

import (
	"maps"
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Stock is how many more instances capacity reservations hold: what EC2 said last,
// and what was launched and terminated since. It is immutable; methods that change
// it return another one. The zero value knows of none.
//
// It rather says too much than too little: a launch into a reservation that turns
// out to be full is refused by EC2 and says so by Full.
type Stock struct {
	by map[string]holding
}

// holding is the stock of one reservation.
type holding struct {
	left  int
	at    time.Time
	moves []move // after at
}

// move is instances that come back, or go if it is below zero.
type move struct {
	at time.Time
	by int
}

// Observe returns s with what the answer of DescribeCapacityReservations at the
// instant at says of the reservations in it. What was launched and terminated up
// to then is in the answer, and no longer counted; what came later still is. An
// answer older than one that is known changes nothing.
func (s Stock) Observe(at time.Time, list []ec2types.CapacityReservation) Stock {
	by := maps.Clone(s.by)
	if by == nil {
		by = map[string]holding{}
	}
	for i := range list {
		if id := text(list[i].CapacityReservationId); id != "" {
			by[id] = by[id].observed(at, int(value(list[i].AvailableInstanceCount)))
		}
	}
	return Stock{by: by}
}

func (h holding) observed(at time.Time, left int) holding {
	if at.Before(h.at) {
		return h
	}
	next := holding{left: left, at: at}
	for _, m := range h.moves {
		if m.at.After(at) {
			next.moves = append(next.moves, m)
		}
	}
	return next
}

// Launched returns s with one instance fewer in a reservation, from the instant at
// at which it was launched.
func (s Stock) Launched(at time.Time, id string) Stock { return s.moved(at, id, -1) }

// Terminated returns s with one instance more, from the instant at at which EC2 no
// longer had it.
func (s Stock) Terminated(at time.Time, id string) Stock { return s.moved(at, id, 1) }

func (s Stock) moved(at time.Time, id string, by int) Stock {
	h := s.by[id]
	// Clipped, so that append copies what other values share.
	h.moves = append(slices.Clip(h.moves), move{at, by})
	return s.with(id, h)
}

// Full returns s with nothing left in a reservation at the instant at, at which EC2
// refused a launch into it.
func (s Stock) Full(at time.Time, id string) Stock { return s.with(id, s.by[id].observed(at, 0)) }

func (s Stock) with(id string, h holding) Stock {
	by := maps.Clone(s.by)
	if by == nil {
		by = map[string]holding{}
	}
	by[id] = h
	return Stock{by: by}
}

// Left returns how many more instances a reservation holds, and zero for one that
// is not known.
func (s Stock) Left(id string) int {
	h := s.by[id]
	left := h.left
	for _, m := range h.moves {
		if m.at.After(h.at) {
			left += m.by
		}
	}
	return max(left, 0)
}

// Keep returns s with these reservations and no others, so that those that are gone
// take no room.
func (s Stock) Keep(ids ...string) Stock {
	by := map[string]holding{}
	for _, id := range ids {
		if h, found := s.by[id]; found {
			by[id] = h
		}
	}
	return Stock{by: by}
}
