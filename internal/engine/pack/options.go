package pack

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
)

// options returns the options of a pool that hold a pattern, and are of no other
// reservation than the one given. The set is scratch space, valid until the next call.
func (s *solver) options(pool, reservation int, shares []Share, trait int32) bitset.Set {
	set := s.optionsOfAll(pool, shares, trait)
	s.keepReservation(set, reservation)
	return set
}

// optionsOfAll returns the options of a pool that hold a pattern, of whatever
// reservation: admitted by every variant in it and large enough for the sum. The set is
// scratch space, valid until the next call.
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
		s.Packer.uses[pool].KeepWithin(set, p.Limits, s.level) // no other counts for MinValues
	}
	return set
}

// sumOf is what shares ask for in all. It is scratch space, valid until the next call.
func (s *solver) sumOf(shares []Share) []int64 {
	clear(s.sum)
	for _, sh := range shares {
		for r, want := range s.p.Classes[sh.Class].Request {
			s.sum[r] += want * int64(sh.Count)
		}
	}
	return s.sum
}

// NewCapacities tells the capacities of options apart, as levels.NewCapacities does. dims is the
// length of each, and firsts are the first options of the pools that the options lie in.
func NewCapacities(options []Option, firsts []int, dims int) *levels.Capacities {
	return levels.NewCapacities(len(options), dims, firsts, func(o int) []int64 { return options[o].Capacity })
}

// capacities are those of the options of a problem.
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
