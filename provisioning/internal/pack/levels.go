package pack

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// levelStep is how many options there are between two sets that are kept. What lies
// between is looked at one by one.
const levelStep = 64

// Levels finds those of some options that have no less of anything than is asked, or
// no more. It takes O(options/64) time for each dimension, and O(options²/64) bits
// of memory. It is not written to.
type Levels struct{ dims []levels }

// levels is the options by one dimension.
type levels struct {
	order   []int32 // the options, those with most first
	amounts []int64 // what they have
	most    []bitset.Set
}

// NewLevels reads the vectors of options, those from first on of total. Options that
// are alike are expected to share them.
func NewLevels(vectors [][]int64, first, total int) *Levels {
	if len(vectors) == 0 {
		return &Levels{}
	}
	all, of := distinct(len(vectors), len(vectors[0]), func(o int) []int64 { return vectors[o] })
	return newLevels(all, of, len(vectors[0]), first, total)
}

// newLevels makes levels of distinct vectors, and which of them each option has.
func newLevels(all [][]int64, of []int32, dims, first, total int) *Levels {
	out := &Levels{dims: make([]levels, dims)}
	if len(of) == 0 {
		return &Levels{}
	}
	options := make([][]int32, len(all))
	for o, id := range of {
		options[id] = append(options[id], int32(first+o))
	}
	ranked := make([]int32, len(all))
	for r := range out.dims {
		for id := range ranked {
			ranked[id] = int32(id)
		}
		slices.SortFunc(ranked, func(a, b int32) int {
			return cmp.Or(-cmp.Compare(all[a][r], all[b][r]), cmp.Compare(a, b))
		})
		for _, id := range ranked {
			out.dims[r].add(options[id], all[id][r])
		}
		out.dims[r].keepSets(total)
	}
	return out
}

// add adds options that have no more than those before.
func (l *levels) add(options []int32, amount int64) {
	l.order = append(l.order, options...)
	for range options {
		l.amounts = append(l.amounts, amount)
	}
}

// keepSets works out the sets. Where all options have the same nobody asks for some
// of them.
func (l *levels) keepSets(total int) {
	if l.amounts[0] == l.amounts[len(l.amounts)-1] {
		return
	}
	set := bitset.New(total)
	for i, o := range l.order {
		if i%levelStep == 0 {
			l.most = append(l.most, set.Clone())
		}
		set.Add(int(o))
	}
}

// distinct tells n vectors apart by where they are in memory.
func distinct(n, dims int, at func(i int) []int64) (all [][]int64, of []int32) {
	of = make([]int32, n)
	if dims == 0 {
		return [][]int64{nil}, of
	}
	index := map[*int64]int32{}
	var last *int64
	for i := range of {
		v := at(i)
		if &v[0] == last { // most options of a type follow each other
			of[i] = of[i-1]
			continue
		}
		last = &v[0]
		id, ok := index[last]
		if !ok {
			id = int32(len(all))
			index[last] = id
			all = append(all, v)
		}
		of[i] = id
	}
	return all, of
}

// useLevels are the levels of what launches take of the limits, nil without.
func (p *Pool) useLevels(options int) *Levels {
	if p.Limits == nil || p.Levels != nil {
		return p.Levels
	}
	return NewLevels(p.Uses, p.First, options)
}

// atLeast puts the options with at least an amount into a set, and says how many
// they are. Where that is all of them or none it leaves the set alone.
func (l *levels) atLeast(amount int64, set bitset.Set) int {
	n := sort.Search(len(l.amounts), func(i int) bool { return l.amounts[i] < amount })
	if n > 0 && n < len(l.amounts) {
		copy(set, l.most[n/levelStep])
		for _, o := range l.order[n-n%levelStep : n] {
			set.Add(int(o))
		}
	}
	return n
}

// keepHolding removes from a set the options that have less of anything than a sum.
// scratch is overwritten.
func (x *Levels) keepHolding(set bitset.Set, sum []int64, scratch bitset.Set) {
	for r := range x.dims {
		switch x.dims[r].atLeast(sum[r], scratch) {
		case len(x.dims[r].amounts):
		case 0:
			clear(set)
			return
		default:
			set.And(scratch)
		}
	}
}

// KeepWithin removes from a set the options that have more of anything than there
// may be. scratch is overwritten.
func (x *Levels) KeepWithin(set bitset.Set, most []int64, scratch bitset.Set) {
	for r := range x.dims {
		if most[r] == math.MaxInt64 {
			continue
		}
		switch x.dims[r].atLeast(most[r]+1, scratch) {
		case 0:
		case len(x.dims[r].amounts):
			for _, o := range x.dims[r].order {
				set.Remove(int(o))
			}
			return
		default:
			set.AndNot(scratch)
		}
	}
}
