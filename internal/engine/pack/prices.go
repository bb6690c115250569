package pack

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// duals is the solution of the covering relaxation for a tier: a lower bound on the cost, and the
// worth of a pod of each class.
type duals struct {
	bound float64
	value []float64 // by class
	total float64   // of all pods left

	// highest is, by set of groups and resource, the highest price that any kind of the set pays.
	highest [][]float64

	left    []int // counts when the prices were computed
	cover   cover.Problem
	bought  []float64 // by supply: the amount that the cheapest cover buys
	details []detail  // by set of groups; computed on demand
}

// detail has the values that duals imply for one set of groups.
type detail struct {
	// target is, by resource, the share of capacity that the cheapest cover uses: 1 where the
	// resource is scarce.
	target []float64
	// entries are the entries admitted that had pods left.
	entries []entry
}

// detail returns the detail of a set of groups. Most sets belong to candidates that are never
// filled.
func (s *solver) detail(t *tier, q *duals, set int) *detail {
	d := &q.details[set]
	if d.target == nil {
		d.target, d.entries = q.target(set), s.alive(t.entries[set], q.left)
	}
	return d
}

// duals solves the covering relaxation for the pods left in a tier, by kind.
func (s *solver) duals(t *tier, left []int) duals {
	problem := s.relaxation(t, left, t.kinds, s.kinds, func(c int) int { return s.p.Classes[c].Kind })
	solution := s.seriesOf(t).Cover(problem.Demand, s.effort.pivots)
	s.raise(t, solution.Prices)
	out := duals{
		bound:   s.withoutFees(t, solution.Bound),
		value:   s.priced(t, solution.Prices),
		highest: highest(t, solution.Prices),
		left:    slices.Clone(left),
		cover:   *problem,
		bought:  solution.Bought,
		details: make([]detail, len(t.serves)),
	}
	for c, n := range left {
		out.total += float64(out.value[c] * float64(n))
	}
	return out
}

// seriesOf returns the series that covers the demands of a tier one after the other, because
// successive demands change little.
func (s *solver) seriesOf(t *tier) *cover.Series {
	series := s.series[t]
	if series == nil {
		series = t.market.Series()
		s.series[t] = series
	}
	return series
}

// alive returns the entries that have pods left.
func (s *solver) alive(entries []entry, left []int) []entry {
	if len(entries) <= s.effort.sampleFrom() {
		return entries // few enough to keep all
	}
	var out []entry
	for _, e := range entries {
		if left[e.class] > 0 {
			out = append(out, e)
		}
	}
	return out
}

const (
	// maxPivots is the largest number of simplex steps.
	maxPivots = 500
	// maxFineRows is the largest number of rows of the relaxation that also distinguishes classes
	// by the room they need, and maxFinePivots the number of its simplex steps. It runs only once.
	maxFineRows   = 120
	maxFinePivots = 5000
)

// fineBound returns the bound of the relaxation in which a pod uses only options with room for it.
// The bound is tighter than that by kinds, and takes longer.
func (s *solver) fineBound(t *tier, left []int) float64 {
	if t.groups*s.p.Dims > maxFineRows {
		return 0
	}
	problem := s.relaxation(t, left, t.serves, t.groups, func(c int) int { return int(t.groupOf[c]) })
	return s.withoutFees(t, cover.Solve(problem, maxFinePivots).Bound)
}

// boundWithoutFee returns a lower bound on the cost of the pods placed, without fees.
func (s *solver) boundWithoutFee(t *tier, placed []int) float64 {
	problem := s.relaxation(t, placed, t.kinds, s.kinds, func(c int) int { return s.p.Classes[c].Kind })
	problem.Supplies = slices.Clone(problem.Supplies)
	for i := range problem.Supplies {
		problem.Supplies[i].Price = math.Max(problem.Supplies[i].Price-s.p.Fee, 0)
	}
	return s.withoutFees(t, cover.Solve(problem, maxPivots).Bound)
}

// relaxation returns the covering problem for the pods left. lump gives each class the number of
// its row, below count.
func (s *solver) relaxation(t *tier, left []int, serves [][]int, count int, lump func(class int) int) *cover.Problem {
	problem := &cover.Problem{Serves: serves, Demand: make([][]float64, count)}
	amounts := make([]float64, count*s.p.Dims)
	for g := range problem.Demand {
		problem.Demand[g] = amounts[g*s.p.Dims : (g+1)*s.p.Dims]
	}
	for c, n := range left {
		if t.groupOf[c] >= 0 && n > 0 {
			demand := problem.Demand[lump(c)]
			for r, want := range s.p.Classes[c].Request {
				demand[r] += float64(float64(want) * float64(n))
			}
		}
	}
	problem.Supplies = t.supplies
	return problem
}

// withoutFees removes the surcharges of candidates from a bound.
func (s *solver) withoutFees(t *tier, bound float64) float64 {
	if t.free {
		return 0 // without prices only surcharges are left
	}
	return math.Max(bound/(1+2*feeShare)-s.reservationCredit(t), 0)
}

// setSupplies sets the candidates as supplies of the relaxation.
func (t *tier) setSupplies(p *Problem) {
	amounts := make([]float64, len(t.candidates)*p.Dims)
	for i := range t.candidates {
		c := &t.candidates[i]
		amount := amounts[i*p.Dims : (i+1)*p.Dims]
		for r, a := range c.capacity {
			amount[r] = math.Max(float64(a), 0)
		}
		t.supplies = append(t.supplies, cover.Supply{Price: c.worth, Amount: amount, Serves: c.serves})
		t.free = t.free || c.reservation == 0 && p.Options[c.option].Price == 0
	}
	t.market = cover.NewMarket(t.kinds, t.supplies)
}

// target compares the demand of the kinds of a set with what is bought of the supplies open to any
// of them.
func (q *duals) target(set int) []float64 {
	p := &q.cover
	groups := p.Serves[set]
	served := make([]bool, len(p.Demand))
	demand := make([]float64, len(p.Demand[groups[0]]))
	supply := make([]float64, len(demand))
	for _, g := range groups {
		served[g] = true
		for r, d := range p.Demand[g] {
			demand[r] += d
		}
	}
	for i, x := range q.bought {
		if x > 0 && slices.ContainsFunc(p.Serves[p.Supplies[i].Serves], func(g int) bool { return served[g] }) {
			for r, a := range p.Supplies[i].Amount {
				supply[r] += float64(x * a)
			}
		}
	}
	out := make([]float64, len(demand))
	for r := range demand {
		out[r] = 1
		if supply[r] > 0 {
			out[r] = min(1, max(demand[r]/supply[r], 0.02))
		}
	}
	return out
}

// raise raises each price to at least a hundredth of the least price of the resource bought alone.
// A plentiful resource costs nothing but may be scarce at the end, and a pod that requests nothing
// else must be worth something.
func (s *solver) raise(t *tier, prices [][]float64) {
	floor := t.unit
	for g := range prices {
		for r := range prices[g] {
			prices[g][r] = math.Max(prices[g][r], floor[r]/100)
		}
	}
}

// priced returns, by class, the worth of a pod at the prices of its kind. Pods that no new node
// takes are worth nothing.
func (s *solver) priced(t *tier, prices [][]float64) []float64 {
	out := make([]float64, len(s.p.Classes))
	for c := range out {
		if t.groupOf[c] >= 0 {
			for r, want := range s.p.Classes[c].Request {
				out[c] += float64(prices[s.p.Classes[c].Kind][r] * float64(want))
			}
		}
	}
	return out
}

func highest(t *tier, prices [][]float64) [][]float64 {
	out := make([][]float64, len(t.kinds))
	dims := 0
	if len(prices) > 0 {
		dims = len(prices[0])
	}
	all := make([]float64, dims*len(out))
	for s, kinds := range t.kinds {
		here := all[s*dims : (s+1)*dims]
		copy(here, prices[kinds[0]])
		for _, g := range kinds[1:] {
			for r, p := range prices[g] {
				here[r] = max(here[r], p)
			}
		}
		out[s] = here
	}
	return out
}

// unitPrices returns, by resource, the least price of one unit bought alone.
func (t *tier) unitPrices(dims int) []float64 {
	unit := make([]float64, dims)
	for i := range t.candidates {
		for r, a := range t.candidates[i].capacity {
			if a <= 0 {
				continue
			}
			if p := t.candidates[i].worth / float64(a); unit[r] == 0 || p < unit[r] {
				unit[r] = p
			}
		}
	}
	return unit
}

// onlyHere is the multiplier of pods that no new node takes.
const onlyHere = 10

// nodeWorth returns worths by which existing nodes, which cost nothing, take pods: first those that
// no tier takes, then those that cost most for their request in the first tier that takes them.
func (s *solver) nodeWorth() worth {
	out := worth{
		value:      make([]float64, len(s.p.Classes)),
		multiplier: slices.Repeat([]float64{onlyHere}, len(s.p.Classes)),
	}
	for c, urgency := range s.urgency {
		out.multiplier[c] *= urgency
	}
	for _, tier := range slices.Backward(s.tiers) {
		t := tier()
		q := s.duals(t, s.left)
		for c := range t.classes.All() {
			alone := 0.0 // the cost of each resource bought alone
			for r, want := range s.p.Classes[c].Request {
				alone += float64(t.unit[r] * float64(want))
			}
			out.value[c], out.multiplier[c] = q.value[c], s.urgency[c]
			if alone > 0 {
				out.multiplier[c] = s.urgency[c] * math.Sqrt(q.value[c]/alone)
			}
		}
	}
	return out
}
