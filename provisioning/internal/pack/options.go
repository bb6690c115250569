package pack

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/levels"
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

// Capacities are the distinct capacity vectors of some options. They are not
// written to.
type Capacities struct {
	of     []int32 // by option: which of the distinct ones
	count  int     // of these
	levels func() []*levels.Table
}

// NewCapacities tells the capacities of options apart by where they are in memory:
// options alike are expected to share them. dims is the length of each, and firsts are
// the first options of the pools that the options lie in.
func NewCapacities(options []Option, firsts []int, dims int) *Capacities {
	at := func(o int) []int64 { return options[o].Capacity }
	k := &Capacities{}
	all, of := levels.Distinct(len(options), dims, at)
	k.of, k.count = of, len(all)
	k.levels = sync.OnceValue(func() []*levels.Table {
		var index levels.Index
		out := make([]*levels.Table, len(firsts))
		for i, first := range firsts {
			last := len(options)
			if i+1 < len(firsts) {
				last = firsts[i+1]
			}
			out[i] = index.Make(last-first, dims, first, func(o int) []int64 { return at(first + o) })
		}
		return out
	})
	return k
}

// KeepHolding removes from a set the options that do not hold a sum. scratch is
// overwritten.
func (k *Capacities) KeepHolding(set bitset.Set, sum []int64, scratch bitset.Set) {
	for _, table := range k.levels() {
		table.KeepHolding(set, sum, scratch)
	}
}

// KeepHoldingIn does so for the options of one pool.
func (k *Capacities) KeepHoldingIn(pool int, set bitset.Set, sum []int64, scratch bitset.Set) {
	k.levels()[pool].KeepHolding(set, sum, scratch)
}

// capacities are those of the options of a problem.
func (p *Problem) capacities() *Capacities {
	if p.Capacities != nil {
		return p.Capacities
	}
	firsts := make([]int, len(p.Pools))
	for i := range firsts {
		firsts[i] = p.Pools[i].First
	}
	return NewCapacities(p.Options, firsts, p.Dims)
}
