package pack

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
	"github.com/dovetail-sdk/dovetail/internal/engine/knapsack"
)

// patternBound returns a lower bound on the cost of serving the pods left, proven by worths of
// pods: if the pods on any candidate are worth at most its price times a ratio, then no packing
// costs less than the worth of all pods divided by that ratio. Unlike the covering relaxation it
// counts whole pods: a node with room for two and a half pods holds two.
//
// Any worths give a valid bound, and good ones a tight bound. The highest worth that a candidate
// can hold is computed by branch and bound, and estimated from above where that would take long.
func (s *solver) patternBound(t *tier, left []int, worth []float64) float64 {
	total := 0.0
	for c, n := range left {
		if t.groupOf[c] >= 0 {
			total += float64(worth[c] * float64(n))
		}
	}
	if total == 0 {
		return 0
	}
	k := s.knapsack(left, worth)
	ratio := 0.0 // of patterns that exist or cannot be excluded
	for _, e := range s.estimates(t, k) {
		if e.ratio <= ratio {
			break
		}
		c := &t.candidates[e.candidate]
		k.Load(t.takes[c.serves], c.capacity)
		_, ceiling := k.Most(ratio*c.price, maxVisits)
		s.step()
		ratio = max(ratio, ceiling/c.price)
	}
	if ratio == 0 {
		return 0
	}
	return s.withoutFees(t, total/ratio*(1-1e-9))
}

// knapsack returns a knapsack for nodes that hold some of the pods left.
func (k *Packer) knapsack(left []int, worth []float64) *knapsack.Knapsack {
	classes := make([]knapsack.Class, len(left))
	for c, n := range left {
		if n > 0 {
			classes[c] = knapsack.Class{Request: k.p.Classes[c].Request, Most: min(n, k.alone[c]), Worth: worth[c]}
		}
	}
	return knapsack.New(k.p.Dims, classes)
}

// estimate is an upper bound on the worth that a candidate can hold for its price.
type estimate struct {
	candidate int
	ratio     float64 // worth / price, an upper bound
}

// estimates lists the candidates of a tier by descending ratio.
func (s *solver) estimates(t *tier, k *knapsack.Knapsack) []estimate {
	out := make([]estimate, 0, len(t.candidates))
	for i := range t.candidates {
		c := &t.candidates[i]
		out = append(out, estimate{i, k.Ceiling(t.takes[c.serves], c.capacity) / c.price})
	}
	slices.SortStableFunc(out, func(x, y estimate) int { return -cmp.Compare(x.ratio, y.ratio) })
	return out
}

// maxVisits is the number of branches that a proof may visit for one candidate.
const maxVisits = 4000

// near says whether the cost of a tier is above its bound by at most a share of the cost of the
// whole plan, so that little can be gained. A tier that costs a hundredth of the plan is not worth
// much search, however far it is above its own bound.
func (s *solver) near(cost float64, q *duals, share float64) bool {
	return cost < q.bound+float64(share*max(q.bound, s.whole))
}

// wholeBound returns an approximate lower bound on the cost of the new nodes of all tiers, as if
// each class went to the first tier that takes it. It returns 0 if only one tier takes any pods, or
// in a coarse run, where the value is not used. It takes one covering relaxation by kinds for each
// tier.
func (s *solver) wholeBound() float64 {
	if len(s.tiers) == 1 || s.p.Coarse {
		return 0
	}
	var taking []*tier
	for _, tier := range s.tiers {
		if t := tier(); !s.complete(t) {
			taking = append(taking, t)
		}
	}
	if len(taking) < 2 {
		return 0
	}
	left, sum := slices.Clone(s.left), 0.0
	for _, t := range taking {
		here := make([]int, len(left))
		for c := range t.classes.All() {
			here[c], left[c] = left[c], 0
		}
		problem := s.relaxation(t, here, t.kinds, s.kinds, func(c int) int { return s.p.Classes[c].Kind })
		sum += cover.Solve(problem, s.effort.pivots).Bound
	}
	return sum
}
