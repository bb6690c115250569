package pack

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/flow"
)

// tierPurchase is the purchase of a new node.
type tierPurchase struct {
	tier *tier
	purchase
}

// draws has, by new node, the ways to launch it: at 0 without reservation, then by reservation.
type draws [][]draw

// draw is a new node that uses some reservation, or none.
type draw struct {
	ok     bool
	launch Launch
}

// free assigns the reservations so that pods without a place can use them, and says whether any
// reservation has more nodes left than before.
func (s *solver) free(out *Result) bool {
	waiting := s.waiting()
	if len(waiting) == 0 {
		return false
	}
	before := slices.Clone(s.reservations)
	s.assign(out, waiting)
	for i, n := range s.reservations {
		if n > before[i] && before[i] == 0 {
			return true
		}
	}
	return false
}

// waiting is the unplaced pods of a class that could be on new nodes from reservations. They are one
// row of an assignment, which counts one node for each pod.
type waiting struct {
	count        int
	reservations []bool // by reservation: it would serve the pods
}

func (s *solver) waiting() []waiting {
	var out []waiting
	for c, n := range s.left {
		if n == 0 {
			continue
		}
		w := waiting{n, make([]bool, len(s.p.Reservations))}
		for _, tier := range s.tiers {
			t := tier()
			if t.groupOf[c] < 0 {
				continue
			}
			for i := range t.candidates {
				k := &t.candidates[i]
				if k.reservation != 0 && t.admits[k.serves].Has(int(t.groupOf[c])) && fits(s.p.Classes[c].Request, k.capacity) {
					w.reservations[k.reservation-1] = true
				}
			}
		}
		if slices.Contains(w.reservations, true) {
			out = append(out, w)
		}
	}
	return out
}

// assign assigns the reservations anew. If no pods wait, it changes nothing unless that saves
// something.
func (s *solver) assign(out *Result, waiting []waiting) {
	p := &flow.Problem{Room: s.p.Reservations}
	ways := make(draws, len(s.sold))
	some := len(waiting) > 0
	for i := range s.sold {
		ways[i] = s.draws(&s.sold[i], out.New[i].Reservation)
		gain, claim := gains(ways[i])
		for reservation := range gain {
			some = some || !math.IsNaN(gain[reservation]) && reservation+1 != out.New[i].Reservation
		}
		p.Supply, p.Gain, p.Claim = append(p.Supply, out.New[i].Copies), append(p.Gain, gain), append(p.Claim, claim)
	}
	if !some {
		return
	}
	for _, w := range waiting {
		gain := make([]float64, len(s.p.Reservations))
		for reservation, ok := range w.reservations {
			if !ok {
				gain[reservation] = math.NaN()
			}
		}
		p.Supply, p.Gain, p.Claim = append(p.Supply, w.count), append(p.Gain, gain), append(p.Claim, flow.Wants)
	}
	assigned := flow.Assign(p)
	if len(waiting) > 0 || saved(p, assigned[:len(ways)]) > s.savedNow(p, out)*(1+1e-9) {
		s.reassign(out, ways, assigned)
	}
}

// draws lists the ways to launch a new node. The current way is kept unchanged.
func (s *solver) draws(sold *tierPurchase, now int) []draw {
	out := make([]draw, 1+len(s.p.Reservations))
	c := sold.tier.candidates[sold.candidate]
	all := s.optionsOfAll(c.pool, sold.shares, sold.trait).Clone()
	wide := s.keepWithin(&c, all, sold.uses)
	for reservation, options := range s.byReservation() {
		if !all.Overlaps(options) {
			continue
		}
		way := &out[reservation]
		if way.launch, way.ok = s.drawn(&c, &sold.purchase, all, reservation); way.ok && wide != nil {
			way.launch.Wide = s.ofReservation(wide, reservation)
		}
	}
	if now == c.reservation {
		out[now] = draw{true, s.launch(sold.tier, &sold.purchase)}
	}
	return out
}

// drawn returns a new node that uses a reservation, or none for 0; false if the packer would not
// make it. c is the candidate of the node's purchase. all are the options of its pool, of any
// reservation, that hold its pods.
func (s *solver) drawn(c *candidate, p *purchase, all bitset.Set, reservation int) (Launch, bool) {
	set := s.ofReservation(all, reservation)
	drawing := set.Clone()
	drawing.And(s.reservationOptions[reservation])
	there := *c
	there.reservation, there.option = reservation, drawing.First() // options are sorted by price
	s.keepFlexible(&there, set)
	pool := &s.p.Pools[there.pool]
	for i := range pool.MinValues {
		if pool.MinValues[i].Distinct(pool.First, set, s.values(there.pool, i, p.trait)) < s.needed(there.pool, i, p.shares) {
			return Launch{}, false
		}
	}
	if s.isFlexible(&there) && s.p.Flexible.kinds(set) < s.neededKinds(there.pool, p.shares) {
		return Launch{}, false
	}
	// If another option is cheaper, the launch would not use the reservation.
	at := set.First()
	if at < 0 || s.p.Options[at].Reservation != reservation {
		return Launch{}, false
	}
	return Launch{
		Pool: there.pool, Shares: p.shares, Options: set, Trait: p.trait, Price: s.p.Options[at].Price, Reservation: reservation,
		Relaxed: s.relaxed(there.pool, set, p.trait),
	}, true
}

// ofReservation returns the options that a node which uses a reservation may have, among the given
// ones.
func (s *solver) ofReservation(all bitset.Set, reservation int) bitset.Set {
	set := all.Clone()
	set.And(s.reservationOptions[reservation])
	if reservation != 0 && !s.p.StrictReservation {
		others := all.Clone()
		others.And(s.reservationOptions[0])
		set.Or(others)
	}
	return set
}

// byReservation returns the options of each reservation, at 0 those of none.
func (s *solver) byReservation() []bitset.Set {
	if s.reservationOptions == nil {
		s.reservationOptions = make([]bitset.Set, 1+len(s.p.Reservations))
		for i := range s.reservationOptions {
			s.reservationOptions[i] = bitset.New(len(s.p.Options))
		}
		for o := range s.p.Options {
			s.reservationOptions[s.p.Options[o].Reservation].Add(o)
		}
	}
	return s.reservationOptions
}

// gains returns, by reservation, what one node saves by using it in USD per hour, NaN if it cannot
// or saves nothing.
func gains(ways []draw) ([]float64, flow.Claim) {
	out := make([]float64, len(ways)-1)
	for i := range out {
		out[i] = math.NaN()
		switch from := &ways[i+1]; {
		case !from.ok:
		case !ways[0].ok:
			out[i] = -from.launch.Price
		case from.launch.Price < ways[0].launch.Price:
			out[i] = ways[0].launch.Price - from.launch.Price
		}
	}
	if !ways[0].ok {
		return out, flow.Needs
	}
	return out, flow.None
}

// saved returns what an assignment saves.
func saved(p *flow.Problem, assigned [][]int) float64 {
	sum := 0.0
	for row := range assigned {
		for reservation, n := range assigned[row] {
			if n > 0 {
				sum += float64(p.Gain[row][reservation] * float64(n))
			}
		}
	}
	return sum
}

// savedNow returns what the current assignment saves.
func (s *solver) savedNow(p *flow.Problem, out *Result) float64 {
	sum := 0.0
	for i := range s.sold {
		if l := &out.New[i]; l.Reservation != 0 && !math.IsNaN(p.Gain[i][l.Reservation-1]) {
			sum += float64(p.Gain[i][l.Reservation-1] * float64(l.Copies))
		}
	}
	return sum
}

// reassign makes the new nodes use the reservations assigned to them.
func (s *solver) reassign(out *Result, ways draws, assigned [][]int) {
	var launches []Launch
	var sold []tierPurchase
	copy(s.reservations, s.p.Reservations)
	for i := range s.sold {
		rest := out.New[i].Copies
		add := func(reservation, n int) {
			if n == 0 {
				return
			}
			l := ways[i][reservation].launch
			l.Copies = n
			launches, sold = append(launches, l), append(sold, s.sold[i])
			if reservation > 0 {
				s.reservations[reservation-1] -= n
			}
		}
		for reservation, n := range assigned[i] {
			add(reservation+1, n)
			rest -= n
		}
		add(0, rest)
	}
	out.New, s.sold = launches, sold
}
