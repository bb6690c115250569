package pack

import (
	"math/bits"

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
	sum := s.sum
	clear(sum)
	for _, sh := range shares {
		class := &s.p.Classes[sh.Class]
		set.And(class.Variants[sh.Variant].Options)
		for r, want := range class.Request {
			sum[r] += want * int64(sh.Count)
		}
	}
	if trait != 0 {
		set.And(s.p.Traits.Options(pool, trait))
	}
	s.round++
	// By hand, not by All: a plan asks this of every pattern and option.
	for w := p.First >> 6; w<<6 < p.Last; w++ {
		for left := set[w]; left != 0; left &= left - 1 {
			if o := w<<6 + bits.TrailingZeros64(left); !s.holds(s.capacities.of[o], sum) {
				set.Remove(o)
			}
		}
	}
	return set
}

// holds says whether a capacity holds a sum. Many options share a capacity, so
// the answer is kept for the round.
func (s *solver) holds(capacity int32, sum []int64) bool {
	if s.answered[capacity] != s.round {
		s.answered[capacity] = s.round
		s.answer[capacity] = fits(sum, s.capacities.all[capacity])
	}
	return s.answer[capacity]
}

// Capacities are the distinct capacity vectors of some options. They are not
// written to.
type Capacities struct {
	all [][]int64
	of  []int32 // by option: which of all
}

// NewCapacities tells the capacities of options apart by where they are in memory:
// options alike are expected to share them. dims is the length of each.
func NewCapacities(options []Option, dims int) *Capacities {
	k := &Capacities{of: make([]int32, len(options))}
	if dims == 0 {
		k.all = [][]int64{nil}
		return k
	}
	index := map[*int64]int32{}
	var last *int64
	for o := range options {
		key := &options[o].Capacity[0]
		if key == last { // most options of a type follow each other
			k.of[o] = k.of[o-1]
			continue
		}
		last = key
		id, ok := index[key]
		if !ok {
			id = int32(len(k.all))
			index[key] = id
			k.all = append(k.all, options[o].Capacity)
		}
		k.of[o] = id
	}
	return k
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
