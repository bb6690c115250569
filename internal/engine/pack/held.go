package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/knapsack"
)

// floorItems bounds the work of the exact bound: how many classes all knapsacks
// may be loaded with. floorVisits bounds the branches looked at for each.
const (
	floorItems  = 4_000
	floorVisits = 500
)

// surchargeFactor makes up for the surcharges that candidates carry, see fees.
const surchargeFactor = 1 / (1 + 2*feeShare)

// tolerance takes off what rounding might add to a sum.
const tolerance = 1 - 1e-9

// guess is what a candidate can hold, as far as one resource at a time tells.
type guess struct {
	candidate int
	worth     float64
}

// estimates values the candidates.
func (f *floor) estimates(w *worths) []guess {
	out := make([]guess, len(f.t.candidates))
	prices := make([][]float64, len(f.t.kinds))
	for s := range prices {
		prices[s] = w.dearest(f.t.kinds[s], f.s.p.Dims)
	}
	for i := range out {
		c := &f.t.candidates[i]
		out[i] = guess{i, knapsack.RoomWorth(c.capacity, prices[c.serves])}
	}
	return out
}

// rough is the bound that worths prove as far as prices of resources alone tell
// what nodes can hold.
func (f *floor) rough(w *worths) float64 {
	held := 0.0
	for l := range f.looks {
		held += f.heldRoughly(w, l)
	}
	bound := surchargeFactor * (w.total(f.counts)*tolerance - held)
	if f.t.reserved {
		estimates := f.estimates(w)
		bound -= f.drawn(func(i int) float64 { return surchargeFactor * estimates[i].worth })
	}
	return bound
}

// heldRoughly is what the nodes of a look can hold at most.
func (f *floor) heldRoughly(w *worths, l int) float64 {
	prices := w.dearest(f.looks[l].kinds, f.s.p.Dims)
	sum := 0.0
	for _, i := range f.rooms[l] {
		sum += knapsack.RoomWorth(f.s.p.Nodes[i].Free, prices)
	}
	return math.Min(sum, f.admitted(w, l))
}

// admitted is what all pods are worth that may run on the nodes of a look.
func (f *floor) admitted(w *worths, l int) float64 {
	sum := 0.0
	for _, e := range f.looks[l].entries {
		sum += float64(w.value[e.class] * float64(f.counts[e.class]))
	}
	return sum
}

// drawn is how far pieces of the reservations can hold pods that are worth more than
// the pieces cost, given what each candidate holds at most.
func (f *floor) drawn(holds func(candidate int) float64) float64 {
	gain := make([]float64, len(f.s.p.Reservations))
	for i := range f.t.candidates {
		if c := &f.t.candidates[i]; c.reservation != 0 {
			gain[c.reservation-1] = math.Max(gain[c.reservation-1], holds(i)-f.s.p.Options[c.option].Price)
		}
	}
	sum := 0.0
	for i, n := range f.s.p.Reservations {
		sum += float64(gain[i] * float64(max(n, 0)))
	}
	return sum
}

// exact is the bound that worths prove when pods are not cut in pieces: a branch
// and bound says how much each node can hold. Where that would take long it is
// estimated. It raises the worths as far as they allow.
func (f *floor) exact(w *worths) float64 {
	f.raise(f.s.knapsack(f.counts, w.value), w)
	return f.paid(w)
}

// paid is what has to be paid for all pods where no pods on a new node are worth more than its
// price: what they are worth, less the most that existing nodes and reservations hold of it.
func (f *floor) paid(w *worths) float64 {
	k := f.s.knapsack(f.counts, w.value)
	held := 0.0
	for l := range f.looks {
		held += f.held(k, w, l)
	}
	bound := surchargeFactor * (w.total(f.counts)*tolerance - held)
	if f.t.reserved {
		estimates := f.estimates(w)
		bound -= f.drawn(func(i int) float64 {
			c := &f.t.candidates[i]
			return surchargeFactor * f.most(k, w, f.t.entries[c.serves], c.capacity, -1, estimates[i].worth)
		})
	}
	return bound
}

// raise scales the worth of each class up, or down, such that pods on no
// candidate which comes from no reservation are worth more than its price: by the
// worst ratio of worth to price among the candidates that hold one of the class.
// All who share a candidate have a ratio no better than that of the candidate, so
// that its price is kept.
func (f *floor) raise(k *knapsack.Knapsack, w *worths) {
	ratios := f.ratios(k, w, f.estimates(w))
	scale := make([]float64, f.s.kinds) // of the prices of each kind
	for c, ratio := range ratios {
		if ratio > 0 && w.value[c] > 0 {
			w.value[c] /= ratio
			kind := f.s.p.Classes[c].Kind
			scale[kind] = math.Max(scale[kind], 1/ratio)
		}
	}
	prices := make([][]float64, len(w.prices))
	for kind := range prices {
		prices[kind] = slices.Clone(w.prices[kind])
		for r := range prices[kind] {
			prices[kind][r] *= math.Max(scale[kind], 1)
		}
	}
	w.prices = prices
}

// ratios finds, for each class, the most that pods on any candidate which holds
// one of the class, and comes from no reservation, can be worth over its price; 0 if
// there is no such candidate.
func (f *floor) ratios(k *knapsack.Knapsack, w *worths, estimates []guess) []float64 {
	byRatio := slices.DeleteFunc(slices.Clone(estimates), func(e guess) bool { return f.t.candidates[e.candidate].reservation != 0 })
	of := func(e guess) float64 { return e.worth / f.t.candidates[e.candidate].price }
	slices.SortStableFunc(byRatio, func(x, y guess) int { return -cmp.Compare(of(x), of(y)) })
	out := make([]float64, len(f.counts))
	for _, e := range byRatio {
		c := &f.t.candidates[e.candidate]
		entries := f.t.entries[c.serves]
		known := true
		for _, e2 := range entries {
			known = known && (out[e2.class] >= of(e) || w.value[e2.class] == 0 || !fits(f.s.p.Classes[e2.class].Request, c.capacity))
		}
		if known {
			continue
		}
		ratio := f.most(k, w, entries, c.capacity, -1, e.worth) / c.price
		for _, e2 := range entries {
			if fits(f.s.p.Classes[e2.class].Request, c.capacity) {
				out[e2.class] = max(out[e2.class], ratio)
			}
		}
	}
	return out
}

// held is what the nodes of a look can hold at most.
func (f *floor) held(k *knapsack.Knapsack, w *worths, l int) float64 {
	prices := w.dearest(f.looks[l].kinds, f.s.p.Dims)
	sum := 0.0
	for _, i := range f.rooms[l] {
		free := f.s.p.Nodes[i].Free
		if most := knapsack.RoomWorth(free, prices); most > 0 {
			sum += f.most(k, w, f.looks[l].entries, free, i, most)
		}
	}
	return math.Min(sum, f.admitted(w, l))
}

// most is the most that pods in some room can be worth, be it that of an existing
// node or, for -1, of a new one; the estimate, from above, where there is no time
// to look.
func (f *floor) most(k *knapsack.Knapsack, w *worths, entries []entry, room []int64, node int, estimate float64) float64 {
	if f.spare <= 0 {
		return estimate
	}
	f.fitting = f.fitting[:0]
	for _, e := range entries {
		if c := int(e.class); w.value[c] > 0 && fits(f.s.p.Classes[c].Request, room) && (node < 0 || f.mayJoin(c, node)) {
			f.fitting = append(f.fitting, e.class)
		}
	}
	f.spare -= max(len(f.fitting), 1)
	k.Load(f.fitting, room)
	_, ceiling := k.Most(0, floorVisits)
	return min(ceiling, estimate)
}
