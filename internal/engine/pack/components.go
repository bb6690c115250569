package pack

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/disjoint"
	"github.com/dovetail-sdk/dovetail/internal/engine/knapsack"
)

// components divides classes so that no new node can hold pods of two components, for example one
// component for each zone if every pod is tied to a zone. The lower bounds of the components add
// up, and each component needs whole nodes of its own.
type components struct {
	ofSet   []int // by set of admission groups: the component of its candidates, -1 for none
	ofClass []int // by class: its component, -1 for a class that is left out
	count   int
	partial bool // some class is left out
}

// divide divides the classes that have pods, as disjoint.Divide does: classes that few candidates
// take come first.
func (t *tier) divide(counts []int, narrow bool) *components {
	wanted := make([]bool, t.groups)
	for c, n := range counts {
		if n > 0 && t.groupOf[c] >= 0 {
			wanted[t.groupOf[c]] = true
		}
	}
	offered := make([]int, len(t.serves)) // by set: its number of candidates
	for i := range t.candidates {
		offered[t.candidates[i].serves]++
	}
	sets := make([][]int, t.groups)
	for s, groups := range t.serves {
		for _, g := range groups {
			if wanted[g] && offered[s] > 0 {
				sets[g] = append(sets[g], s)
			}
		}
	}
	p := &components{ofClass: slices.Repeat([]int{-1}, len(counts))}
	var groups []int
	groups, p.ofSet, p.count = disjoint.Divide(sets, offered, narrow)
	for c, n := range counts {
		if g := t.groupOf[c]; n > 0 && g >= 0 {
			p.ofClass[c] = groups[g]
			p.partial = p.partial || groups[g] < 0 && len(sets[g]) > 0
		}
	}
	return p
}

// componentsBound returns a lower bound on the cost of the new nodes of a tier for some pods, if
// existing nodes hold none of them; see inComponents. known is a bound that it should improve.
func (s *solver) componentsBound(t *tier, counts []int, known float64) float64 {
	if t.free {
		return 0
	}
	return newFloor(s, t, counts).inComponents(worths{}, known)
}

// inComponents returns the best bound proven by whole nodes in each component. w are worths known
// to give a good bound, if any, and known is the bound to be improved. With one component and too
// many prices to add up, it only counts one node for the most expensive class.
func (f *floor) inComponents(w worths, known float64) float64 {
	all, narrow := f.t.divide(f.counts, false), f.t.divide(f.counts, true)
	bound := 0.0
	for c := range f.counts {
		bound = math.Max(bound, f.one(c))
	}
	if all.count > 1 || all.count == 1 && knapsack.Addable(f.prices(), known) {
		if w.value == nil {
			w = f.priced(f.counts, f.t.market)
		}
		bound = max(bound, f.byComponents(w, all))
	}
	if narrow.partial {
		counts := slices.Clone(f.counts)
		for c, component := range narrow.ofClass {
			if component < 0 {
				counts[c] = 0
			}
		}
		bound = max(bound, f.byComponents(f.priced(counts, f.t.market), narrow))
	}
	return bound
}

// componentSum has the totals of one component.
type componentSum struct {
	total  float64   // worth of all of its pods
	one    float64   // the least price of a new node for the class that needs the most expensive one
	shared bool      // existing nodes or reservations may hold pods of it
	prices []float64 // of its candidates
}

// byComponents returns the bound that worths prove if new nodes are whole and each is in one
// component.
//
// If existing nodes and reservations hold no pods of a component, its cost is a sum of prices of
// its own. Of the other components, one node is counted where it costs more than all pods of the
// component are worth. The rest of them have one bound together, because an existing node may hold
// pods of several.
func (f *floor) byComponents(w worths, p *components) float64 {
	if p.partial {
		w = f.without(w, func(c int) bool { return p.ofClass[c] < 0 })
	} else {
		w.value = slices.Clone(w.value)
	}
	f.spare = max(f.spare, componentItems)
	f.raise(f.s.knapsack(f.counts, w.value), &w)
	sums := f.sums(&w, p)
	sum, joint, prices := 0.0, componentSum{}, []float64(nil)
	counted := make([]bool, p.count)
	for i := range sums {
		s := &sums[i]
		switch {
		case !s.shared:
			counted[i] = true
			sum += knapsack.Whole(s.prices, math.Max(s.one, surchargeFactor*s.total*tolerance))
		case s.one >= surchargeFactor*s.total:
			counted[i] = true
			sum += s.one
		default:
			joint.one = math.Max(joint.one, s.one)
			prices = append(prices, s.prices...)
		}
	}
	if !slices.Contains(counted, false) {
		return sum
	}
	w = f.without(w, func(c int) bool { return p.ofClass[c] >= 0 && counted[p.ofClass[c]] })
	return sum + knapsack.Whole(prices, math.Max(joint.one, f.paid(&w)))
}

// prices lists the prices of the candidates, fee included, in USD per hour.
func (f *floor) prices() []float64 {
	out := make([]float64, len(f.t.candidates))
	for i := range out {
		out[i] = f.s.p.Options[f.t.candidates[i].option].Price + f.s.p.Fee
	}
	return out
}

// sums computes the totals of each component.
func (f *floor) sums(w *worths, p *components) []componentSum {
	out, prices := make([]componentSum, p.count), f.prices()
	for c, component := range p.ofClass {
		if component >= 0 {
			out[component].total += float64(w.value[c] * float64(f.counts[c]))
			out[component].one = math.Max(out[component].one, f.one(c))
		}
	}
	for i := range f.t.candidates {
		if c := &f.t.candidates[i]; p.ofSet[c.serves] >= 0 {
			s := &out[p.ofSet[c.serves]]
			s.shared = s.shared || c.reservation != 0
			s.prices = append(s.prices, prices[i])
		}
	}
	for l := range f.looks {
		for _, e := range f.looks[l].entries {
			if component := p.ofClass[e.class]; component >= 0 {
				out[component].shared = true
			}
		}
	}
	return out
}

// componentItems is the least number of items that knapsacks may load for one division into
// components.
const componentItems = 300
