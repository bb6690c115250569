// Package cover solves the fractional covering problem behind a packing: buy
// fractions of supplies so that the demand of every group for every resource
// is met at the least cost. Its dual gives each group a price for each
// resource, and any dual that no supply can undercut proves a lower bound on
// the cost of every real packing.
//
// A supply serves only some groups and divides each of its resources freely
// between those. That is less than reality asks for (a pod cannot take its CPU
// from one node and its memory from another), so the optimum is a bound, not a
// plan.
//
// Solve is a revised simplex over each part of the problem that shares no
// supply with the rest. It is deterministic, and safe for concurrent use on one
// Problem, which it only reads. A Series covers one demand after another and begins
// each where the last one ended.
package cover

// Supply is something that can be bought in any fraction.
type Supply struct {
	Price  float64   // of one unit; positive
	Amount []float64 // of each resource in one unit; non-negative
	Serves int       // index into Problem.Serves
}

// Problem asks for Demand to be covered from Supplies.
type Problem struct {
	// Demand holds, for each group, how much of each resource it needs.
	Demand [][]float64

	// Serves lists sets of groups, ascending; a Supply names one of them.
	Serves [][]int

	Supplies []Supply
}

// Solution is the optimum, or the best bound found within the pivots allowed.
type Solution struct {
	// Bound is a proven lower bound on the cost of covering all demand.
	Bound float64

	// Prices are the dual prices that prove it, by group and resource: what
	// one more unit of demand would add to the cost.
	Prices [][]float64

	// Bought is how much of each supply a cheapest cover buys, or the cheapest
	// found.
	Bought []float64

	// Pivots is the number of simplex steps taken.
	Pivots int
}

// Solve finds the least fractional cost: NewMarket and Market.Cover in one. It
// stops after maxPivots steps on each independent part, and Bound is then valid but
// not tight; so it does at once on a part of more than 3,000 rows, a row being a
// group's positive demand for one resource. Demand that no supply can meet is left
// out.
//
// A step takes O(supplies) time and, where it touches all rows, O(rows^2 +
// supplies x resources).
func Solve(p *Problem, maxPivots int) Solution {
	return NewMarket(p.Serves, p.Supplies).Cover(p.Demand, maxPivots)
}

// maxRows is how many rows a part may have to be pivoted: the inverse of a
// basis has the square of that.
const maxRows = 3000

// solve adds the solution of a part to that of the whole.
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
