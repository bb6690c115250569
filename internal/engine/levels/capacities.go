package levels

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// Capacities are the distinct capacity vectors of some options, which lie pool by pool. They are not
// written to, and safe for concurrent use.
type Capacities struct {
	of    []int32 // by option: which of the distinct ones
	count int     // of these
	pools func() []*Table
}

// NewCapacities tells the capacities of n options apart by where they are in memory: options alike are
// expected to share them. dims is the length of each, and firsts are the first options of the pools.
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

// Count is how many distinct capacities there are.
func (k *Capacities) Count() int { return k.count }

// Of is the number of the capacity of an option, from 0.
func (k *Capacities) Of(option int) int32 { return k.of[option] }

// KeepHolding removes from a set the options that do not hold a sum. scratch is
// overwritten.
func (k *Capacities) KeepHolding(set bitset.Set, sum []int64, scratch bitset.Set) {
	for _, table := range k.pools() {
		table.KeepHolding(set, sum, scratch)
	}
}

// KeepHoldingIn does so for the options of one pool.
func (k *Capacities) KeepHoldingIn(pool int, set bitset.Set, sum []int64, scratch bitset.Set) {
	k.pools()[pool].KeepHolding(set, sum, scratch)
}
