package pack

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// purchase is a pattern bought for a number of nodes.
type purchase struct {
	candidate int
	pattern
	copies int
	uses   []int64 // by limited resource: what one copy uses
}

// merged joins purchases of equal patterns, which were bought in portions.
func merged(purchases []purchase) []purchase {
	out := purchases[:0:0]
	of := map[int][]int{} // by candidate: indexes of its purchases in out
	for _, p := range purchases {
		same := of[p.candidate]
		i := slices.IndexFunc(same, func(i int) bool { return out[i].trait == p.trait && slices.Equal(out[i].shares, p.shares) })
		if i < 0 {
			of[p.candidate] = append(same, len(out))
			out = append(out, p)
			continue
		}
		out[same[i]].copies += p.copies
	}
	return out
}

// launch returns the launch of a purchase with all its options. In a pool with limits it leaves out
// options that would use more than was reserved, so that every choice of options stays within the
// limits.
func (s *solver) launch(t *tier, p *purchase) Launch {
	c := &t.candidates[p.candidate]
	set := s.options(c.pool, c.reservation, p.shares, p.trait).Clone()
	s.keepFlexible(c, set)
	wide := s.keepWithin(c, set, p.uses)
	return Launch{
		Pool:        c.pool,
		Copies:      p.copies,
		Shares:      p.shares,
		Options:     set,
		Wide:        wide,
		Trait:       p.trait,
		Price:       s.p.Options[set.First()].Price,
		Reservation: c.reservation,
		Relaxed:     s.relaxed(c.pool, set, p.trait),
	}
}

// keepWithin removes the options that use more of the limits of their pool than was reserved. It
// returns the set before, nil if the pool has no limits.
func (s *solver) keepWithin(c *candidate, set bitset.Set, uses []int64) bitset.Set {
	if uses == nil {
		return nil
	}
	before := set.Clone()
	s.Packer.uses[c.pool].KeepWithin(set, uses, s.level)
	return before
}

func costOf(t *tier, purchases []purchase) float64 {
	sum := 0.0
	for i := range purchases {
		sum += float64(t.candidates[purchases[i].candidate].price * float64(purchases[i].copies))
	}
	return sum
}

// affordable returns how many nodes of a candidate with the given uses the limits of its pool and
// its reservation still allow.
func (s *solver) affordable(c *candidate, uses []int64) int {
	n := s.inReservation(c)
	for r, use := range uses {
		if use > 0 {
			n = min(n, int(max(s.limits[c.pool][r], 0)/use))
		}
	}
	return n
}

func (s *solver) spend(c *candidate, uses []int64, copies int) {
	s.draw(c, copies)
	for r, use := range uses {
		s.limits[c.pool][r] -= use * int64(copies)
	}
}
