// Package knapsack computes the highest total worth of the pods on one node, given the worth of
// each: exactly, by branch and bound over the count of each class, or as an upper bound where an
// exact search would take long. It knows resources and counts, and no rule between pods except a
// limit on the pods of a class on one node.
package knapsack

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// Class is a group of pods that are alike.
type Class struct {
	Request []int64 // of one pod, by resource
	Most    int     // the most pods that one node may hold, whatever its room
	Worth   float64 // of one pod; a class of worth 0 is not used
}

// Chosen is the number of pods of a class on a node.
type Chosen struct{ Class, Count int }

// Knapsack finds the highest total worth of the pods on one node. It must not be used by several
// goroutines at a time.
type Knapsack struct {
	classes []Class

	items    []item
	room     []int64
	rates    []float64 // by resource: worth of one unit of the node's room
	plane    []float64 // scratch of rate
	after    []float64 // by position and resource: see prepareAfter
	highest  []float64 // scratch of Ceiling
	counts   []int     // by position: the current count
	chosen   []int     // by position: the count in the best pattern found
	best     float64
	open     float64 // the highest ceiling of the branches not searched
	visits   int
	patience int
}

// item is a class that may go on the node.
type item struct {
	class      int32
	limit      int
	request    []int64
	worth      float64
	efficiency float64 // worth divided by the price of its request at the rates
}

// New returns a knapsack for nodes with the given number of resources.
func New(resources int, classes []Class) *Knapsack {
	return &Knapsack{classes: classes, room: make([]int64, resources), rates: make([]float64, resources), highest: make([]float64, resources)}
}

// Load sets the node: its room and the classes that it may hold. Items are sorted by descending
// efficiency.
func (k *Knapsack) Load(classes []int32, room []int64) {
	k.gather(classes, room)
	slices.SortFunc(k.items, func(x, y item) int {
		return cmp.Or(-cmp.Compare(x.efficiency, y.efficiency), cmp.Compare(x.class, y.class))
	})
	k.prepareAfter()
}

// gather lists the classes that a node may hold and computes their efficiency.
func (k *Knapsack) gather(classes []int32, room []int64) {
	for r, n := range room {
		k.room[r] = max(n, 0)
	}
	k.items = k.items[:0]
	for _, c := range classes {
		if class := &k.classes[c]; class.Worth > 0 {
			k.items = append(k.items, item{class: c, limit: class.Most, request: class.Request, worth: class.Worth})
		}
	}
	k.rate(room)
	for i := range k.items {
		it := &k.items[i]
		charge := 0.0
		for r, want := range it.request {
			charge += float64(k.rates[r] * float64(want))
		}
		it.efficiency = it.worth / charge
	}
}

// prepareAfter computes, for each position and resource, the highest worth per unit of the resource
// among the items from that position on.
func (k *Knapsack) prepareAfter() {
	n := len(k.room)
	k.after = slices.Grow(k.after[:0], n*(len(k.items)+1))[:n*(len(k.items)+1)]
	clear(k.after[n*len(k.items):])
	for i := len(k.items) - 1; i >= 0; i-- {
		here := k.after[n*i : n*(i+1)]
		copy(here, k.after[n*(i+1):])
		k.items[i].raise(here)
	}
}

// raise raises the highest worth per unit of each resource to that of an item, if lower.
func (it *item) raise(highest []float64) {
	for r, want := range it.request {
		if want > 0 {
			highest[r] = max(highest[r], it.worth/float64(want))
		} else {
			highest[r] = unlimited
		}
	}
}

// unlimited is the worth per unit of a resource for an item that requests none of it.
const unlimited = math.MaxFloat64

// Ceiling returns an upper bound on the worth that a node can hold, from each resource alone and
// from all resources at the rates.
func (k *Knapsack) Ceiling(classes []int32, room []int64) float64 {
	k.gather(classes, room)
	if len(k.items) == 0 {
		return 0
	}
	efficiency := 0.0
	clear(k.highest)
	for i := range k.items {
		efficiency = max(efficiency, k.items[i].efficiency)
		k.items[i].raise(k.highest)
	}
	return k.bound(k.highest, efficiency)
}

// above returns an upper bound on the value that items from position i on can reach in the room
// left, in addition to value. more says whether the bound is above the best value found, and
// pruned whether the rates show that it is clearly not.
func (k *Knapsack) above(i int, value float64) (above float64, more, pruned bool) {
	most := k.best * (1 + 1e-9)
	bound := k.byRates(k.items[i].efficiency)
	if value+bound <= most { // true in nearly all calls
		return 0, false, value+bound <= most*(1-1e-12)
	}
	above = value + k.byEach(k.after[i*len(k.room):], bound)
	return above, !(above <= most), false // an item that requests nothing has no bound
}

// bound returns an upper bound on the worth of items in the room left, given their highest worth
// per unit of each resource and their highest efficiency.
func (k *Knapsack) bound(highest []float64, efficiency float64) float64 {
	return k.byEach(highest, k.byRates(efficiency))
}

// byRates returns the bound from all resources at the rates.
func (k *Knapsack) byRates(efficiency float64) float64 {
	charge := 0.0
	rates := k.rates[:len(k.room)]
	for r, room := range k.room {
		charge += float64(rates[r] * float64(room))
	}
	return charge * efficiency
}

// byEach lowers a bound to what each resource alone allows.
func (k *Knapsack) byEach(highest []float64, bound float64) float64 {
	highest = highest[:len(k.room)]
	for r, room := range k.room {
		if rate := highest[r]; rate < unlimited {
			bound = min(bound, float64(rate*float64(room)))
		}
	}
	return bound
}

// Most returns the highest worth of a pattern found above floor, or else floor, and a ceiling over
// all patterns. The two are equal unless the search ran out of visits.
func (k *Knapsack) Most(floor float64, visits int) (found, ceiling float64) {
	k.best, k.open, k.visits, k.patience = floor, 0, 0, visits
	k.counts = slices.Grow(k.counts[:0], len(k.items))[:len(k.items)]
	k.chosen = k.chosen[:0]
	k.search(0, 0)
	return k.best, max(k.best, k.open)
}

// search tries all counts of the item at position i, the highest first. Once visits have run out,
// it only records the ceiling of the branches left. It returns true if fewer pods of the previous
// item cannot do better either: items are sorted by efficiency, so by the rates the room that one
// pod leaves is worth at most the pod.
func (k *Knapsack) search(i int, value float64) (pruned bool) {
	if value > k.best {
		k.best = value
		k.chosen = append(k.chosen[:0], k.counts[:i]...)
	}
	if i == len(k.items) {
		return true // fewer pods are worth less
	}
	above, more, pruned := k.above(i, value)
	if !more {
		return pruned
	}
	if k.visits++; k.visits > k.patience {
		k.open = max(k.open, above)
		return false
	}
	it := &k.items[i]
	n := k.fitting(it)
	k.put(it, n)
	for {
		k.counts[i] = n
		if k.search(i+1, value+float64(it.worth*float64(n))) || n == 0 {
			k.put(it, -n)
			return false
		}
		k.put(it, -1)
		n--
	}
}

// fitting returns the number of pods of an item that fit in the room left, up to its limit.
func (k *Knapsack) fitting(it *item) int {
	n := int64(it.limit)
	for r, want := range it.request {
		if room := k.room[r]; want > room {
			return 0
		} else if want > 0 && n > 1 {
			n = min(n, room/want)
		}
	}
	return int(n)
}

func (k *Knapsack) put(it *item, n int) {
	if n == 0 {
		return
	}
	room := k.room[:len(it.request)]
	for r, want := range it.request {
		room[r] -= want * int64(n)
	}
}

// Chosen lists the best pattern that Most found above its floor; nil if Most found none.
func (k *Knapsack) Chosen() (out []Chosen) {
	for i, n := range k.chosen {
		if n > 0 {
			out = append(out, Chosen{int(k.items[i].class), n})
		}
	}
	return out
}

// rate computes the worth of each resource of a node if pods could be cut into pieces: the duals of
// the fractional knapsack. They give the tightest ceiling of this kind, and the best measure of how
// well a pod uses the node.
//
// It is a primal simplex on a dense tableau with a row for each resource and the slacks as its
// first basis. Any positive rates give a valid ceiling, so it may stop early.
func (k *Knapsack) rate(capacity []int64) {
	rows, columns := len(capacity), len(k.items)
	width := columns + rows + 1
	k.plane = append(k.plane[:0], make([]float64, (rows+1)*width)...)
	at := func(i int) []float64 { return k.plane[i*width : (i+1)*width] }
	gains := at(rows)
	highest := 0.0
	for j := range k.items {
		for r, want := range k.items[j].request {
			if capacity[r] > 0 {
				at(r)[j] = float64(want) / float64(capacity[r])
			}
		}
		gains[j] = -k.items[j].worth
		highest = max(highest, k.items[j].worth)
	}
	for r := range rows {
		at(r)[columns+r] = 1
		if capacity[r] > 0 {
			at(r)[width-1] = 1
		}
	}
	cover.Maximize(at, rows, highest)
	for r := range rows {
		// The floor makes the charge of every pod positive.
		k.rates[r] = max(gains[columns+r], 1e-6*highest) / float64(max(capacity[r], 1))
	}
}
