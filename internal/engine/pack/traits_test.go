package pack_test

import "github.com/dovetail-sdk/dovetail/internal/engine/bitset"

// openLabel is a Traits with one label. A trait is the set of values that pods
// allow, as bits; allows holds the values that each option leaves open.
type openLabel struct {
	allows []int32
	pools  [][2]int // first and last option
	counts []bool   // by pool: its MinValues count the values of this label
}

func (l *openLabel) Merge(pool int, a, b int32) (int32, bool) {
	both := a & b
	return both, both != 0 && !l.Options(pool, both).Empty()
}

func (l *openLabel) Options(pool int, trait int32) bitset.Set {
	first, last := l.pools[pool][0], l.pools[pool][1]
	set := bitset.NewWindow(first, last)
	for o := first; o < last; o++ {
		if l.allows[o]&trait != 0 {
			set.Add(o - bitset.Base(first))
		}
	}
	return set
}

func (l *openLabel) Values(pool, _ int, trait int32) bitset.Set {
	if !l.counts[pool] {
		return nil
	}
	return valuesOf(trait)
}

// valuesOf returns the numbers of the values in a trait.
func valuesOf(trait int32) bitset.Set {
	set := bitset.New(32)
	for v := range 32 {
		if trait>>v&1 != 0 {
			set.Add(v)
		}
	}
	return set
}
