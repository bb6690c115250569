package pack

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// appraise prices the candidates that come from a reservation at what the like of
// them would cost elsewhere. The relaxation knows no reservations, so it must not
// take them for free: what a pod is worth is decided by what is bought once the
// reservations are empty.
func (t *tier) appraise(p *Problem, masks []bitset.Set) {
	for i := range t.candidates {
		c := &t.candidates[i]
		if c.reservation == 0 {
			continue
		}
		t.reserved = true
		c.worth = math.Inf(1)
		for j := range t.candidates {
			k := &t.candidates[j]
			if k.reservation != 0 || k.serves != c.serves && !masks[c.serves].SubsetOf(masks[k.serves]) {
				continue
			}
			if price := k.price * times(c.capacity, k.capacity); price < c.worth {
				c.worth = price
			}
		}
		if math.IsInf(c.worth, 1) {
			// Nothing else serves these pods: all reservations are worth alike.
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

// reservationCredit is how far the reservations may bring the cost below what the
// relaxation reckons with.
func (s *solver) reservationCredit(t *tier) float64 {
	if len(s.p.Reservations) == 0 {
		return 0
	}
	credit := make([]float64, len(s.p.Reservations))
	for i := range t.candidates {
		if c := &t.candidates[i]; c.reservation != 0 {
			credit[c.reservation-1] = math.Max(credit[c.reservation-1], c.worth-s.p.Options[c.option].Price)
		}
	}
	sum := 0.0
	for i, n := range s.p.Reservations {
		sum += float64(float64(n) * credit[i])
	}
	return sum
}

// inReservation says how many nodes of a candidate its reservation still allows.
func (s *solver) inReservation(c *candidate) int {
	if c.reservation == 0 {
		return math.MaxInt
	}
	return s.reservations[c.reservation-1]
}

// draw takes nodes of a candidate from its reservation; a negative number puts them
// back.
func (s *solver) draw(c *candidate, copies int) {
	if c.reservation != 0 {
		s.reservations[c.reservation-1] -= copies
	}
}

// keepReservation removes the options of other reservations than a node takes from and,
// where that is strict, those of none.
func (s *solver) keepReservation(set bitset.Set, reservation int) {
	if len(s.p.Reservations) == 0 {
		return
	}
	for o := range set.All() {
		of := s.p.Options[o].Reservation
		if of != reservation && (of != 0 || s.p.StrictReservation) {
			set.Remove(o)
		}
	}
}

// onlyReserved says which classes can be served from reservations only. They come
// first, as others have a choice.
func onlyReserved(p *Problem) []bool {
	out := make([]bool, len(p.Classes))
	if len(p.Reservations) == 0 {
		return out
	}
	for c := range p.Classes {
		some := false
		out[c] = true
		for _, v := range p.Classes[c].Variants {
			for o := range v.Options.All() {
				some = true
				if p.Options[o].Reservation == 0 {
					out[c] = false
				}
			}
		}
		out[c] = out[c] && some
	}
	return out
}
