// Package cover solves the fractional covering problem behind a packing: buy fractions of supplies
// so that the demand of every group for every resource is covered at the lowest cost. The dual
// gives each group a price for each resource. Any dual at which no supply is worth more than its
// price proves a lower bound on the cost of every real packing.
//
// A supply serves some groups only, and divides each of its resources freely between them. Reality
// is stricter: a pod cannot take its CPU from one node and its memory from another. So the optimum
// is a bound and not a plan.
//
// Solve is a revised simplex over each part of the problem that shares no supply with the rest. It
// is deterministic, only reads the Problem, and is safe for concurrent use. A Series covers one
// demand after another and starts each where the last one ended.
package cover

// Supply can be bought in any fraction.
type Supply struct {
	Price  float64   // of one unit; positive
	Amount []float64 // by resource: the amount in one unit; not negative
	Serves int       // index in Problem.Serves
}

// Problem is a demand and the supplies to cover it.
type Problem struct {
	// Demand is, by group and resource, the amount needed.
	Demand [][]float64

	// Serves lists sets of groups, each ascending. A Supply names one of the sets.
	Serves [][]int

	Supplies []Supply
}

// Solution is the optimum, or the best bound found within the allowed pivots.
type Solution struct {
	// Bound is a proven lower bound on the cost of covering all demand.
	Bound float64

	// Prices are the dual prices that prove the bound, by group and resource: what one more unit of
	// demand would add to the cost.
	Prices [][]float64

	// Bought is, by supply, the amount in the cheapest cover found.
	Bought []float64

	// Pivots is the number of simplex steps taken.
	Pivots int
}

// Solve computes the lowest fractional cost: it is NewMarket followed by Market.Cover. It stops
// after maxPivots steps on each independent part; then Bound is valid but not tight. On a part with
// more than 3,000 rows it takes no step, where a row is a group's positive demand for one resource.
// Demand that no supply can cover is left out.
//
// A step takes O(supplies) time, plus O(rows^2 + supplies x resources) if it changes all rows.
func Solve(p *Problem, maxPivots int) Solution {
	return NewMarket(p.Serves, p.Supplies).Cover(p.Demand, maxPivots)
}

// maxRows is the largest number of rows of a part that is pivoted: the inverse of the basis has the
// square of that many cells.
const maxRows = 3000

// solve adds the solution of a part to that of the whole problem.
func (t *tableau) solve(maxPivots int, out *Solution) {
	if len(t.rows) > maxRows {
		maxPivots = 0
	}
	best := 0.0
	for pivots := 0; ; pivots++ {
		block, ratio := t.price()
		if bound := t.bound(ratio); bound > best {
			best = bound
			t.store(out.Prices, ratio)
		}
		if block < 0 || pivots == maxPivots || !t.pivot(block) {
			out.Bound += best
			for i, supply := range t.supply {
				if supply != surplus {
					out.Bought[supply] += t.level[i]
				}
			}
			return
		}
	}
}
