// Package levels finds those of some options that have no less of anything than is asked,
// or no more, a set at a time.
//
// Input: a vector for each option. Output: a Table of them, which cuts sets of options
// down. Invariant: a Table is not written to once it is made, and what it answers is what
// looking at each option would.
package levels

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// levelStep is how many options there are between two sets that are kept. What lies
// between is looked at one by one.
const levelStep = 64

// Table finds those of some options that have no less of anything than is asked, or
// no more. It takes O(options/64) time for each dimension, and O(options²/64) bits
// of memory; so each pool has its own. It is not written to.
type Table struct {
	first, last int // the options are [first, last)
	dims        []dimension
}

// dimension is the options by one of the dimensions. Options are numbered as in their window.
type dimension struct {
	order   []int32 // the options, those with most first
	amounts []int64 // the distinct amounts that they have
	ends    []int32 // where, in order, those with an amount end
	most    []bitset.Set
}

// Index makes tables. Those of pools with like options share what is in them. The
// zero value knows none.
type Index struct{ known map[sharedKey][]made }

// sharedKey is what tables that can be shared have in common.
type sharedKey struct {
	options, offset int    // how many there are, and where their window begins
	first           *int64 // the vector of the first
}

// made are the dimensions of some vectors.
type made struct {
	at   func(o int) []int64
	dims []dimension
}

// New reads the vectors of options, those from first on. Options that are alike are
// expected to share them.
func (x *Index) New(vectors [][]int64, first int) *Table {
	if len(vectors) == 0 {
		return &Table{}
	}
	return x.Make(len(vectors), len(vectors[0]), first, func(o int) []int64 { return vectors[o] })
}

// Make makes the table of n options from first on, given what each has.
func (x *Index) Make(n, dims, first int, at func(o int) []int64) *Table {
	if n == 0 || dims == 0 {
		return &Table{}
	}
	if x.known == nil {
		x.known = map[sharedKey][]made{}
	}
	out := &Table{first: first, last: first + n}
	key := sharedKey{n, first - bitset.Base(first), &at(0)[0]}
	for _, like := range x.known[key] {
		if alike(n, like.at, at) {
			out.dims = like.dims
			return out
		}
	}
	out.dims = newDimensions(n, dims, first, at)
	x.known[key] = append(x.known[key], made{at, out.dims})
	return out
}

// alike says whether the vectors of n options are the same in memory.
func alike(n int, a, b func(o int) []int64) bool {
	for o := range n {
		if &a(o)[0] != &b(o)[0] {
			return false
		}
	}
	return true
}

func newDimensions(n, dims, first int, at func(o int) []int64) []dimension {
	out := make([]dimension, dims)
	all, of := Distinct(n, dims, at)
	options := make([][]int32, len(all))
	base := bitset.Base(first)
	for o, id := range of {
		options[id] = append(options[id], int32(first-base+o))
	}
	ranked := make([]int32, len(all))
	for r := range out {
		for id := range ranked {
			ranked[id] = int32(id)
		}
		slices.SortFunc(ranked, func(a, b int32) int {
			return cmp.Or(-cmp.Compare(all[a][r], all[b][r]), cmp.Compare(a, b))
		})
		l := &out[r]
		l.order = make([]int32, 0, n)
		for _, id := range ranked {
			l.add(options[id], all[id][r])
		}
		l.keepSets(first, first+n)
	}
	return out
}

// add adds options that have no more than those before.
func (l *dimension) add(options []int32, amount int64) {
	l.order = append(l.order, options...)
	if last := len(l.amounts) - 1; last < 0 || l.amounts[last] != amount {
		l.amounts, l.ends = append(l.amounts, amount), append(l.ends, 0)
	}
	l.ends[len(l.ends)-1] = int32(len(l.order))
}

// keepSets works out the sets. Where all options have the same nobody asks for some
// of them.
func (l *dimension) keepSets(first, last int) {
	if len(l.amounts) == 1 {
		return
	}
	set := bitset.NewWindow(first, last)
	l.most = make([]bitset.Set, 0, (len(l.order)+levelStep-1)/levelStep)
	for i, o := range l.order {
		if i%levelStep == 0 {
			l.most = append(l.most, set.Clone())
		}
		set.Add(int(o))
	}
}

// Distinct tells n vectors apart by where they are in memory.
func Distinct(n, dims int, at func(i int) []int64) (all [][]int64, of []int32) {
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

// atLeast puts the options with at least an amount into a window, and says how many
// they are. Where that is all of them or none it leaves the window alone.
func (l *dimension) atLeast(amount int64, window bitset.Set) int {
	i := sort.Search(len(l.amounts), func(i int) bool { return l.amounts[i] < amount })
	if i == 0 {
		return 0
	}
	n := int(l.ends[i-1])
	if n < len(l.order) {
		copy(window, l.most[n/levelStep])
		for _, o := range l.order[n-n%levelStep : n] {
			window.Add(int(o))
		}
	}
	return n
}

// KeepHolding removes from a set the options that have less of anything than a sum;
// others that are none of these options it leaves alone. scratch, as large as the set,
// is overwritten.
func (x *Table) KeepHolding(set bitset.Set, sum []int64, scratch bitset.Set) {
	if len(x.dims) == 0 {
		return
	}
	set, scratch = set.Window(x.first, x.last), scratch.Window(x.first, x.last)
	for r := range x.dims {
		switch x.dims[r].atLeast(sum[r], scratch) {
		case len(x.dims[r].order):
		case 0:
			x.removeAll(set, scratch)
			return
		default:
			x.addOthers(scratch)
			set.And(scratch)
		}
	}
}

// addOthers adds to a window what is in it and none of these options.
func (x *Table) addOthers(window bitset.Set) {
	window[0] |= 1<<(x.first&63) - 1
	if end := x.last & 63; end != 0 {
		window[len(window)-1] |= ^uint64(0) << end
	}
}

// removeAll removes all of these options from a window. scratch is overwritten.
func (x *Table) removeAll(window, scratch bitset.Set) {
	clear(scratch)
	x.addOthers(scratch)
	window.And(scratch)
}

// KeepWithin removes from a set the options that have more of anything than there
// may be. scratch, as large as the set, is overwritten.
func (x *Table) KeepWithin(set bitset.Set, most []int64, scratch bitset.Set) {
	if len(x.dims) == 0 {
		return
	}
	set, scratch = set.Window(x.first, x.last), scratch.Window(x.first, x.last)
	for r := range x.dims {
		if most[r] == math.MaxInt64 {
			continue
		}
		switch x.dims[r].atLeast(most[r]+1, scratch) {
		case 0:
		case len(x.dims[r].order):
			x.removeAll(set, scratch)
			return
		default:
			set.AndNot(scratch)
		}
	}
}
