package pack

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
)

// frontier finds the options of a tier that no other one beats in every respect.
type frontier struct {
	p     *Problem
	masks []bitset.Set // the sets of groups that options admit
	ids   *admittedBy  // by option: its set
	kept  []priced
	room  []int64 // of kept, one after the other: what is compared most
	last  []int32 // by capacity: one more than the place in kept of the last that has it
	like  []int32 // of kept: the same of the one before with its capacity
}

// priced is an option with the price that it is compared by.
type priced struct {
	option, pool, serves int32
	safe                 bool // see candidate; of those that are kept
	price                float64
}

// candidates drops the options that another one beats in every respect. The
// others are sorted by price.
func candidates(p *Problem, pools []int, masks []bitset.Set, ids *admittedBy, capacities *levels.Capacities) []candidate {
	if len(masks) == 0 {
		return nil
	}
	fee := fees(p, ids)
	all := make([]priced, 0, ids.count)
	for _, pool := range pools {
		for o := p.Pools[pool].First; o < p.Pools[pool].Last; o++ {
			if serves := ids.of(o); serves >= 0 {
				all = append(all, priced{option: int32(o), pool: int32(pool), serves: serves, price: p.Options[o].Price + p.Fee + fee(p.Options[o].Capacity)})
			}
		}
	}
	slices.SortFunc(all, func(x, y priced) int {
		if c := cmp.Compare(x.price, y.price); c != 0 {
			return c
		}
		return cmp.Or(-slices.Compare(p.Options[x.option].Capacity, p.Options[y.option].Capacity), cmp.Compare(x.option, y.option))
	})
	// What is kept takes the place of what was looked at.
	f := &frontier{p: p, masks: masks, ids: ids, last: make([]int32, capacities.Count()), kept: all[:0]}
	for i := range all {
		f.add(all[i], &f.last[capacities.Of(int(all[i].option))])
	}
	return f.candidates()
}

// candidates are those that are kept.
func (f *frontier) candidates() []candidate {
	out := make([]candidate, len(f.kept))
	for i := range f.kept {
		k, c := &f.kept[i], &out[i]
		option := &f.p.Options[k.option]
		c.capacity, c.pool, c.option, c.reservation = option.Capacity, int(k.pool), int(k.option), option.Reservation
		c.price, c.worth, c.serves, c.safe = k.price, k.price, int(k.serves), k.safe
		c.inverse = inverse(c.capacity)
	}
	return out
}

// add keeps an option unless one that is kept beats it. They come by price. Of those with one
// capacity mostly the cheapest is enough.
func (f *frontier) add(c priced, last *int32) {
	for i := *last; i > 0; i = f.like[i-1] {
		if f.standsIn(&f.kept[i-1], &c) {
			return
		}
	}
	dims, capacity := f.p.Dims, f.p.Options[c.option].Capacity
	for i := len(f.kept) - 1; i >= 0; i-- { // the dearest first, which are the likeliest to have the room
		if fits(capacity, f.room[i*dims:(i+1)*dims]) && f.standsIn(&f.kept[i], &c) {
			return
		}
	}
	c.safe = f.safe(&c)
	f.kept, f.like = append(f.kept, c), append(f.like, *last)
	*last = int32(len(f.kept))
	f.room = append(f.room, capacity...)
}

// standsIn says whether k, which is as cheap and has the room of c, makes c
// pointless. It holds only where k can always stand in for c: limits and MinValues
// may rule k out when c is still allowed.
func (f *frontier) standsIn(k, c *priced) bool {
	if k.serves != c.serves && !f.masks[c.serves].SubsetOf(f.masks[k.serves]) {
		return false
	}
	if r := f.p.Options[k.option].Reservation; r != 0 && r != f.p.Options[c.option].Reservation {
		return false // it may run out
	}
	if x := f.p.Flexible; x != nil && x.Options.Has(int(k.option)) && !x.Options.Has(int(c.option)) {
		return false // it may name too few kinds
	}
	pool := &f.p.Pools[k.pool]
	if pool.MinValues != nil && !k.safe {
		return false
	}
	if pool.Limits == nil {
		return true
	}
	if k.pool != c.pool {
		return false
	}
	for r, use := range pool.Uses[int(k.option)-pool.First] {
		if use > pool.Uses[int(c.option)-pool.First][r] {
			return false
		}
	}
	return true
}

// safe says whether the options at least as large and as open as c satisfy the
// MinValues of its pool. It looks at the dearest first, which are the largest.
func (f *frontier) safe(c *priced) bool {
	pool, capacity := &f.p.Pools[c.pool], f.p.Options[c.option].Capacity
	if pool.MinValues == nil {
		return true
	}
	open, seen := len(pool.MinValues), make([]bitset.Set, len(pool.MinValues))
	lacking := make([]int, len(pool.MinValues))
	for i := range pool.MinValues {
		seen[i], lacking[i] = bitset.New(pool.MinValues[i].Count), pool.MinValues[i].Need
		if lacking[i] <= 0 {
			open--
		}
	}
	for o := pool.Last - 1; o >= pool.First && open > 0; o-- {
		id := f.ids.of(o)
		if id < 0 || id != c.serves && !f.masks[c.serves].SubsetOf(f.masks[id]) || !fits(capacity, f.p.Options[o].Capacity) || pool.Limits != nil && !fits(pool.Uses[o-pool.First], pool.Limits) {
			continue
		}
		for i := range pool.MinValues {
			for _, v := range pool.MinValues[i].Values[o-pool.First] {
				if seen[i].Has(int(v)) {
					continue
				}
				seen[i].Add(int(v))
				if lacking[i]--; lacking[i] == 0 {
					open--
				}
			}
		}
	}
	return open == 0
}
