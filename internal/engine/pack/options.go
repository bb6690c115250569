package pack

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
)

// options returns the options of a pool that hold a pattern, without those of reservations other
// than the given one. The set is scratch space, valid until the next call.
func (s *solver) options(pool, reservation int, shares []Share, trait int32) bitset.Set {
	set := s.optionsOfAll(pool, shares, trait)
	s.keepReservation(set, reservation)
	return set
}

// optionsOfAll returns the options of a pool that hold a pattern, of any reservation: every variant
// of the pattern admits them, and they are large enough for the sum. The set is scratch space,
// valid until the next call.
func (s *solver) optionsOfAll(pool int, shares []Share, trait int32) bitset.Set {
	p := &s.p.Pools[pool]
	set := s.scratch
	clear(set)
	set.AddRange(p.First, p.Last)
	here := set.Window(p.First, p.Last)
	for _, sh := range shares {
		here.And(s.p.Classes[sh.Class].Variants[sh.Variant].Options.Window(p.First, p.Last))
	}
	if trait != 0 {
		here.And(s.p.Traits.Options(pool, trait))
	}
	s.capacities.KeepHoldingIn(pool, set, s.sumOf(shares), s.level)
	if p.MinValues != nil && p.Limits != nil {
		s.Packer.uses[pool].KeepWithin(set, p.Limits, s.level) // options beyond the limits do not count for MinValues
	}
	return set
}

// sumOf returns the total request of shares. It is scratch space, valid until the next call.
func (s *solver) sumOf(shares []Share) []int64 {
	clear(s.sum)
	for _, sh := range shares {
		for r, want := range s.p.Classes[sh.Class].Request {
			s.sum[r] += want * int64(sh.Count)
		}
	}
	return s.sum
}

// NewCapacities finds the distinct capacities of options, as levels.NewCapacities does. dims is the
// length of each vector. firsts are the indexes of the first option of each pool.
func NewCapacities(options []Option, firsts []int, dims int) *levels.Capacities {
	return levels.NewCapacities(len(options), dims, firsts, func(o int) []int64 { return options[o].Capacity })
}

// capacities returns the distinct capacities of the options of a problem.
func (p *Problem) capacities() *levels.Capacities {
	if p.Capacities != nil {
		return p.Capacities
	}
	firsts := make([]int, len(p.Pools))
	for i := range firsts {
		firsts[i] = p.Pools[i].First
	}
	return NewCapacities(p.Options, firsts, p.Dims)
}
