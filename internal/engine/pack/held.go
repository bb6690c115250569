package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/knapsack"
)

// floorItems is the total number of classes that all knapsacks may load for the exact bound, and
// floorVisits the number of branches that each may visit.
const (
	floorItems  = 4_000
	floorVisits = 500
)

// surchargeFactor corrects a bound for the surcharges of candidates; see fees.
const surchargeFactor = 1 / (1 + 2*feeShare)

// tolerance is a factor that corrects a sum for rounding errors.
const tolerance = 1 - 1e-9

// guess is an upper bound on the worth that a candidate can hold, from each resource alone.
type guess struct {
	candidate int
	worth     float64
}

// estimates returns the guess of each candidate.
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

// rough returns the bound that worths prove, with what nodes hold estimated by prices of resources
// only.
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

// heldRoughly returns an upper bound on the worth that the nodes of a look can hold.
func (f *floor) heldRoughly(w *worths, l int) float64 {
	prices := w.dearest(f.looks[l].kinds, f.s.p.Dims)
	sum := 0.0
	for _, i := range f.rooms[l] {
		sum += knapsack.RoomWorth(f.s.p.Nodes[i].Free, prices)
	}
	return math.Min(sum, f.admitted(w, l))
}

// admitted returns the worth of all pods that may run on the nodes of a look.
func (f *floor) admitted(w *worths, l int) float64 {
	sum := 0.0
	for _, e := range f.looks[l].entries {
		sum += float64(w.value[e.class] * float64(f.counts[e.class]))
	}
	return sum
}

// drawn returns an upper bound on the worth of pods on reserved nodes in excess of their price.
// holds returns the most that a candidate can hold.
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

// exact returns the bound that worths prove for whole pods: branch and bound finds the most that
// each node can hold, or an estimate where that would take long. It raises the worths as far as
// valid.
func (f *floor) exact(w *worths) float64 {
	f.raise(f.s.knapsack(f.counts, w.value), w)
	return f.paid(w)
}

// paid returns the cost that all pods prove if no new node can hold pods worth more than its price:
// their worth, minus the most that existing nodes and reservations hold.
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

// raise scales the worth of each class so that no candidate without reservation can hold pods worth
// more than its price: it divides by the highest ratio of worth to price among the candidates that
// hold a pod of the class. All classes on a candidate have at least the ratio of the candidate, so
// its price is not exceeded.
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

// ratios returns, by class, the highest ratio of worth to price of any candidate without
// reservation that holds a pod of the class; 0 if there is none.
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

// held returns an upper bound on the worth that the nodes of a look can hold.
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

// most returns the highest worth of pods in the room of an existing node, or of a new node if node
// is -1. It returns the estimate, an upper bound, if the item limit is used up.
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
