package pack

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// options returns the options of a pool that hold a pattern, and are of no other
// stock than the one given. The set is scratch space, valid until the next call.
func (s *solver) options(pool, stock int, shares []Share, trait int32) bitset.Set {
	set := s.optionsOfAll(pool, shares, trait)
	s.keepStock(set, stock)
	return set
}

// optionsOfAll returns the options of a pool that hold a pattern, of whatever
// stock: admitted by every variant in it and large enough for the sum. The set is
// scratch space, valid until the next call.
func (s *solver) optionsOfAll(pool int, shares []Share, trait int32) bitset.Set {
	p := &s.p.Pools[pool]
	set := s.scratch
	clear(set)
	set.AddRange(p.First, p.Last)
	for _, sh := range shares {
		set.And(s.p.Classes[sh.Class].Variants[sh.Variant].Options)
	}
	if trait != 0 {
		set.And(s.p.Traits.Options(pool, trait))
	}
	s.capacities.KeepHolding(set, s.sumOf(shares), s.level)
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
	all    [][]int64
	of     []int32 // by option: which of all
	levels func() *Levels
}

// NewCapacities tells the capacities of options apart by where they are in memory:
// options alike are expected to share them. dims is the length of each.
func NewCapacities(options []Option, dims int) *Capacities {
	k := &Capacities{}
	k.all, k.of = distinct(len(options), dims, func(o int) []int64 { return options[o].Capacity })
	k.levels = sync.OnceValue(func() *Levels { return newLevels(k.all, k.of, dims, 0, len(options)) })
	return k
}

// KeepHolding removes from a set the options that do not hold a sum. scratch is
// overwritten.
func (k *Capacities) KeepHolding(set bitset.Set, sum []int64, scratch bitset.Set) {
	k.levels().keepHolding(set, sum, scratch)
}

// capacities are those of the options of a problem.
func (p *Problem) capacities() *Capacities {
	if p.Capacities != nil {
		return p.Capacities
	}
	return NewCapacities(p.Options, p.Dims)
}

// first returns the least member of a set, -1 if it is empty.
func first(set bitset.Set) int {
	for i := range set.All() {
		return i
	}
	return -1
}
