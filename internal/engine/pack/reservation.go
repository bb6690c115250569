package pack

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// appraise sets the worth of candidates that use a reservation to the price of equal capacity
// elsewhere. The relaxation does not know reservations, so it must not treat these candidates as
// free: the worth of a pod depends on what is bought once the reservations are empty.
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
			// Nothing else serves these pods, so all reservations have the same worth.
			c.worth = 1
		}
		c.worth = math.Max(c.worth, c.price)
	}
}

// times returns how many nodes of the second capacity replace one node of the first, as a fraction
// that is at least 1.
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

// reservationCredit returns an upper bound on how much the reservations lower the cost below that
// of the relaxation.
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

// inReservation returns how many nodes of a candidate its reservation still allows.
func (s *solver) inReservation(c *candidate) int {
	if c.reservation == 0 {
		return math.MaxInt
	}
	return s.reservations[c.reservation-1]
}

// draw takes nodes of a candidate from its reservation; a negative number puts them back.
func (s *solver) draw(c *candidate, copies int) {
	if c.reservation != 0 {
		s.reservations[c.reservation-1] -= copies
	}
}

// keepReservation removes the options of reservations other than the given one and, with
// StrictReservation, those without reservation.
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

// onlyReserved says, by class, whether only reservations can serve it. Such classes are packed
// first, because others have a choice.
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
