package pack

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// frontier finds the options of a tier that no other one beats in every respect.
type frontier struct {
	p     *Problem
	masks []bitset.Set // the sets of groups that options admit
	ids   []int        // by option: its set
	kept  []candidate
	room  []int64         // of kept, one after the other: what is compared most
	like  map[likeKey]int // in kept: the last of its room that admits the same
}

// likeKey is what options have in common of which mostly the cheapest is enough.
type likeKey struct {
	pool     int
	capacity int32
	serves   int
}

// priced is an option with the price that it is compared by.
type priced struct {
	option, pool int
	price        float64
}

// candidates drops the options that another one beats in every respect. The
// others are sorted by price.
func candidates(p *Problem, pools []int, masks []bitset.Set, ids []int, capacities *Capacities) []candidate {
	fee := fees(p, pools, ids)
	all := make([]priced, 0, len(p.Options))
	for _, pool := range pools {
		for o := p.Pools[pool].First; o < p.Pools[pool].Last; o++ {
			if ids[o] >= 0 {
				all = append(all, priced{o, pool, p.Options[o].Price + p.Fee + fee(p.Options[o].Capacity)})
			}
		}
	}
	slices.SortFunc(all, func(x, y priced) int {
		if c := cmp.Compare(x.price, y.price); c != 0 {
			return c
		}
		return cmp.Or(-slices.Compare(p.Options[x.option].Capacity, p.Options[y.option].Capacity), cmp.Compare(x.option, y.option))
	})
	f := &frontier{p: p, masks: masks, ids: ids, like: map[likeKey]int{}}
	for _, o := range all {
		f.add(o, likeKey{o.pool, capacities.of[o.option], ids[o.option]})
	}
	return f.kept
}

// add keeps an option unless one that is kept beats it. They come by price.
func (f *frontier) add(o priced, key likeKey) {
	option := &f.p.Options[o.option]
	c := candidate{bin: bin{capacity: option.Capacity, pool: o.pool, option: o.option}, price: o.price, worth: o.price, reservation: option.Reservation, serves: key.serves}
	if i, found := f.like[key]; found && f.standsIn(&f.kept[i], &c) {
		return
	}
	dims := f.p.Dims
	for i := len(f.kept) - 1; i >= 0; i-- { // the dearest first, which are the likeliest to have the room
		if fits(c.capacity, f.room[i*dims:(i+1)*dims]) && f.standsIn(&f.kept[i], &c) {
			return
		}
	}
	c.safe = f.safe(&c)
	c.inverse = inverse(c.capacity)
	f.like[key] = len(f.kept)
	f.kept = append(f.kept, c)
	f.room = append(f.room, c.capacity...)
}

// standsIn says whether k, which is as cheap and has the room of c, makes c
// pointless. It holds only where k can always stand in for c: limits and MinValues
// may rule k out when c is still allowed.
func (f *frontier) standsIn(k, c *candidate) bool {
	if k.serves != c.serves && !f.masks[c.serves].SubsetOf(f.masks[k.serves]) {
		return false
	}
	if k.reservation != 0 && k.reservation != c.reservation {
		return false // it may run out
	}
	if x := f.p.Flexible; x != nil && x.Options.Has(k.option) && !x.Options.Has(c.option) {
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
	for r, use := range pool.Uses[k.option-pool.First] {
		if use > pool.Uses[c.option-pool.First][r] {
			return false
		}
	}
	return true
}

// safe says whether the options at least as large and as open as c satisfy the
// MinValues of its pool. It looks at the dearest first, which are the largest.
func (f *frontier) safe(c *candidate) bool {
	pool := &f.p.Pools[c.pool]
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
		id := f.ids[o]
		if id < 0 || id != c.serves && !f.masks[c.serves].SubsetOf(f.masks[id]) || !fits(c.capacity, f.p.Options[o].Capacity) {
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
