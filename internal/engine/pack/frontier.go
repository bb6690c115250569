package pack

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
)

// frontier finds the options of a tier that no other option dominates.
type frontier struct {
	p     *Problem
	masks []bitset.Set // sets of groups that options admit
	ids   *admittedBy  // by option: its set
	kept  []priced
	room  []int64 // capacities of kept, one after the other; compared most often
	last  []int32 // by distinct capacity: 1 + index in kept of the last option with it
	like  []int32 // by entry of kept: the same for the previous option with its capacity
}

// priced is an option with the price by which options are compared.
type priced struct {
	option, pool, serves int32
	safe                 bool // see candidate; set for kept options only
	price                float64
}

// candidates returns the options that no other option dominates, sorted by price.
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
	// Kept options reuse the memory of those read.
	f := &frontier{p: p, masks: masks, ids: ids, last: make([]int32, capacities.Count()), kept: all[:0]}
	for i := range all {
		f.add(all[i], &f.last[capacities.Of(int(all[i].option))])
	}
	return f.candidates()
}

// candidates converts the kept options to candidates.
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

// add keeps an option unless a kept one dominates it. Options must be added by ascending price.
// Among options with one capacity the cheapest usually dominates.
func (f *frontier) add(c priced, last *int32) {
	for i := *last; i > 0; i = f.like[i-1] {
		if f.standsIn(&f.kept[i-1], &c) {
			return
		}
	}
	dims, capacity := f.p.Dims, f.p.Options[c.option].Capacity
	for i := len(f.kept) - 1; i >= 0; i-- { // the most expensive first, because they are most likely to be large enough
		if fits(capacity, f.room[i*dims:(i+1)*dims]) && f.standsIn(&f.kept[i], &c) {
			return
		}
	}
	c.safe = f.safe(&c)
	f.kept, f.like = append(f.kept, c), append(f.like, *last)
	*last = int32(len(f.kept))
	f.room = append(f.room, capacity...)
}

// standsIn says whether k can replace c wherever c is allowed. k must cost at most as much as c and
// have at least its capacity. Limits and MinValues may exclude k where c is still allowed.
func (f *frontier) standsIn(k, c *priced) bool {
	if k.serves != c.serves && !f.masks[c.serves].SubsetOf(f.masks[k.serves]) {
		return false
	}
	if r := f.p.Options[k.option].Reservation; r != 0 && r != f.p.Options[c.option].Reservation {
		return false // the reservation of k may run out
	}
	if x := f.p.Flexible; x != nil && x.Options.Has(int(k.option)) && !x.Options.Has(int(c.option)) {
		return false // k may have too few kinds
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

// safe says whether the options that are at least as large as c and admit at least the same groups
// satisfy the MinValues of its pool. It reads the most expensive first, which are the largest.
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
