// Package levels finds, a set at a time, the options whose vector is nowhere below, or nowhere
// above, a given vector.
//
// Input: a vector for each option. Output: a Table, which removes options from sets. Invariant: a
// Table is read-only once it is made, and its answers equal those of a comparison with each option.
package levels

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// levelStep is the number of options between two stored sets. Options between two stored sets are
// compared one by one.
const levelStep = 64

// Table finds the options whose vector is nowhere below, or nowhere above, a given vector. It takes
// O(options/64) time for each dimension and O(options²/64) bits of memory, so each pool has its
// own. It is read-only.
type Table struct {
	first, last int // the options are [first, last)
	dims        []dimension
}

// dimension has the options sorted by one dimension. Options are numbered as in their window.
type dimension struct {
	order   []int32 // the options, by descending amount
	amounts []int64 // the distinct amounts, descending
	ends    []int32 // by amount: where its options end in order
	most    []bitset.Set
}

// Index makes tables and lets tables of pools with equal options share their data. The zero value
// is ready to use.
type Index struct{ known map[sharedKey][]made }

// sharedKey is equal for tables that may share their data.
type sharedKey struct {
	options, offset int    // the number of options, and where their window begins
	first           *int64 // vector of the first option
}

// made holds the dimensions computed for some vectors.
type made struct {
	at   func(o int) []int64
	dims []dimension
}

// New returns the table of the options from first on with these vectors. Equal options should share
// a vector.
func (x *Index) New(vectors [][]int64, first int) *Table {
	if len(vectors) == 0 {
		return &Table{}
	}
	return x.Make(len(vectors), len(vectors[0]), first, func(o int) []int64 { return vectors[o] })
}

// Make returns the table of n options from first on; at returns the vector of each.
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

// alike says whether the vectors of n options are the same slices in both.
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

// add appends options with an amount not above those before.
func (l *dimension) add(options []int32, amount int64) {
	l.order = append(l.order, options...)
	if last := len(l.amounts) - 1; last < 0 || l.amounts[last] != amount {
		l.amounts, l.ends = append(l.amounts, amount), append(l.ends, 0)
	}
	l.ends[len(l.ends)-1] = int32(len(l.order))
}

// keepSets computes the stored sets. It stores none if all options have the same amount, because no
// call needs a part of them then.
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

// Distinct finds the distinct vectors among n by comparing pointers. It returns them, and for each
// of the n the index of its vector.
func Distinct(n, dims int, at func(i int) []int64) (all [][]int64, of []int32) {
	of = make([]int32, n)
	if dims == 0 {
		return [][]int64{nil}, of
	}
	index := map[*int64]int32{}
	var last *int64
	for i := range of {
		v := at(i)
		if &v[0] == last { // the options of one type usually follow each other
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

// atLeast sets a window to the options with at least an amount, and returns how many they are. If
// these are all options or none, it leaves the window unchanged.
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

// KeepHolding removes from a set the options of the table that are below a sum in any dimension.
// Other options stay in the set. scratch must be as large as the set and is overwritten.
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

// addOthers adds to a window all of its bits that are not options of the table.
func (x *Table) addOthers(window bitset.Set) {
	window[0] |= 1<<(x.first&63) - 1
	if end := x.last & 63; end != 0 {
		window[len(window)-1] |= ^uint64(0) << end
	}
}

// removeAll removes all options of the table from a window. scratch is overwritten.
func (x *Table) removeAll(window, scratch bitset.Set) {
	clear(scratch)
	x.addOthers(scratch)
	window.And(scratch)
}

// KeepWithin removes from a set the options of the table that are above most in any dimension.
// scratch must be as large as the set and is overwritten.
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
