package levels

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// Capacities are the distinct capacity vectors of options that are ordered by pool. It is read-only
// and safe for concurrent use.
type Capacities struct {
	of    []int32 // by option: index of its distinct capacity
	count int     // number of distinct capacities
	pools func() []*Table
}

// NewCapacities finds the distinct capacities of n options by comparing pointers: equal options
// should share a vector. dims is the length of each vector. firsts are the indexes of the first
// option of each pool.
func NewCapacities(n, dims int, firsts []int, at func(option int) []int64) *Capacities {
	all, of := Distinct(n, dims, at)
	return &Capacities{of: of, count: len(all), pools: sync.OnceValue(func() []*Table {
		var index Index
		out := make([]*Table, len(firsts))
		for i, first := range firsts {
			last := n
			if i+1 < len(firsts) {
				last = firsts[i+1]
			}
			out[i] = index.Make(last-first, dims, first, func(o int) []int64 { return at(first + o) })
		}
		return out
	})}
}

// Count returns the number of distinct capacities.
func (k *Capacities) Count() int { return k.count }

// Of returns the index of the distinct capacity of an option.
func (k *Capacities) Of(option int) int32 { return k.of[option] }

// KeepHolding removes from a set the options whose capacity is below a sum in any dimension.
// scratch is overwritten.
func (k *Capacities) KeepHolding(set bitset.Set, sum []int64, scratch bitset.Set) {
	for _, table := range k.pools() {
		table.KeepHolding(set, sum, scratch)
	}
}

// KeepHoldingIn is KeepHolding for the options of one pool.
func (k *Capacities) KeepHoldingIn(pool int, set bitset.Set, sum []int64, scratch bitset.Set) {
	k.pools()[pool].KeepHolding(set, sum, scratch)
}
