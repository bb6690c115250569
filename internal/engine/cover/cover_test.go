package cover_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// near is how far a bound may lie below the optimum, as a share.
const near = 1e-6

// TestSolveOddProblems: what nobody asks for, sells or serves is left out.
func TestSolveOddProblems(t *testing.T) {
	apart := [][]int{{0}, {1}, {0, 1}}
	tests := []struct {
		name    string
		problem cover.Problem
		want    float64
		prices  [][]float64
	}{
		{"no demand", cover.Problem{Demand: [][]float64{{0, 0}}, Serves: [][]int{{0}}, Supplies: []cover.Supply{{1, []float64{1, 1}, 0}}},
			0, [][]float64{{0, 0}}},
		{"negative demand is none", cover.Problem{Demand: [][]float64{{-5, 2}}, Serves: [][]int{{0}}, Supplies: []cover.Supply{{1, []float64{1, 1}, 0}}},
			2, [][]float64{{0, 1}}},
		{"a resource that nobody sells is left out",
			cover.Problem{Demand: [][]float64{{10, 7}}, Serves: [][]int{{0}}, Supplies: []cover.Supply{{1, []float64{2, 0}, 0}}},
			5, [][]float64{{0.5, 0}}},
		{"a group that nobody serves is left out",
			cover.Problem{Demand: [][]float64{{10}, {10}}, Serves: apart, Supplies: []cover.Supply{{1, []float64{2}, 0}}},
			5, [][]float64{{0.5}, {0}}},
		{"a supply of nothing is not bought",
			cover.Problem{Demand: [][]float64{{10}}, Serves: [][]int{{0}}, Supplies: []cover.Supply{{0.01, []float64{0}, 0}, {1, []float64{2}, 0}}},
			5, [][]float64{{0.5}}},
		{"a supply that serves an empty set is not bought",
			cover.Problem{Demand: [][]float64{{10}}, Serves: [][]int{{0}, {}}, Supplies: []cover.Supply{{0.01, []float64{9}, 1}, {1, []float64{2}, 0}}},
			5, [][]float64{{0.5}}},
		{"nothing is on sale", cover.Problem{Demand: [][]float64{{1, 2}}}, 0, [][]float64{{0, 0}}},
		{"no groups", cover.Problem{Serves: [][]int{{}}, Supplies: []cover.Supply{{1, []float64{2}, 0}}}, 0, [][]float64{}},
		{"no resources", cover.Problem{Demand: [][]float64{{}}, Serves: [][]int{{0}}, Supplies: []cover.Supply{{1, nil, 0}}}, 0, [][]float64{{}}},
		{"empty", cover.Problem{}, 0, [][]float64{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := solve(t, &tt.problem, 100)
			require.InDelta(t, tt.want, got.Bound, near*(1+tt.want))
			require.Len(t, got.Prices, len(tt.prices))
			for g := range tt.prices {
				require.InDeltaSlice(t, tt.prices[g], got.Prices[g], 1e-6, "prices of group %d", g)
			}
		})
	}
}

// solve solves a problem and checks what holds of every solution.
func solve(t *testing.T, p *cover.Problem, maxPivots int) cover.Solution {
	t.Helper()
	s := cover.Solve(p, maxPivots)
	check(t, p, s)
	return s
}

// check checks what holds of every solution of a problem.
func check(t *testing.T, p *cover.Problem, s cover.Solution) {
	t.Helper()
	require.Len(t, s.Prices, len(p.Demand))
	require.Len(t, s.Bought, len(p.Supplies))
	worth := 0.0
	for g := range p.Demand {
		require.Len(t, s.Prices[g], len(p.Demand[g]))
		for r, price := range s.Prices[g] {
			require.True(t, price >= 0 && !math.IsInf(price, 1), "price %v", price)
			worth += price * math.Max(p.Demand[g][r], 0)
		}
	}
	for i := range p.Supplies {
		require.LessOrEqual(t, value(p, &p.Supplies[i], s.Prices), p.Supplies[i].Price*(1+1e-9), "supply %d fetches more than it costs", i)
	}
	require.LessOrEqual(t, s.Bound, worth, "the bound is what the demand is worth")
	require.InDelta(t, worth, s.Bound, 1e-8*(1+worth))
	cost := 0.0
	for i, n := range s.Bought {
		require.True(t, n >= 0 && !math.IsInf(n, 1), "bought %v", n)
		cost += n * p.Supplies[i].Price
	}
	require.LessOrEqual(t, s.Bound, cost*(1+1e-9)+1e-12, "the bound is above the cost of a cover")
}

// costOf is what a solution spends.
func costOf(p *cover.Problem, s cover.Solution) float64 {
	cost := 0.0
	for i, n := range s.Bought {
		cost += n * p.Supplies[i].Price
	}
	return cost
}

func TestBoundIsTheOptimumOfTinyProblems(t *testing.T) {
	positive := 0
	for seed := range uint64(600) {
		rng := source(seed)
		p := without(random(rng, between(rng, 1, 2), 2, between(rng, 1, 4)))
		want := vertexOptimum(p)
		got := solve(t, p, 1000)
		require.InDelta(t, want, got.Bound, near*(1+want), "seed %d: %+v", seed, p)
		if want > 0 {
			positive++
		}
	}
	require.Greater(t, positive, 400)
}

func TestBoundIsBelowEveryWholeCover(t *testing.T) {
	finite, below := 0, 0
	for seed := range uint64(600) {
		rng := source(seed)
		p := without(random(rng, between(rng, 1, 3), between(rng, 1, 2), between(rng, 1, 4)))
		whole := integerOptimum(p, 6)
		if math.IsInf(whole, 1) {
			continue
		}
		finite++
		for _, maxPivots := range []int{0, 1, 1000} {
			got := solve(t, p, maxPivots)
			require.LessOrEqual(t, got.Bound, whole, "seed %d, %d pivots: %+v", seed, maxPivots, p)
			if maxPivots == 1000 && whole > 0 && got.Bound > 0.7*whole {
				below++
			}
		}
	}
	require.Greater(t, finite, 300)
	require.Greater(t, below, finite/3, "the bound says something")
}

// TestCostMeetsBound checks optimality where there are too many rows for any
// other way to check it: cost and bound of a solution meet nowhere else.
func TestCostMeetsBound(t *testing.T) {
	pivots := 0
	for seed := range uint64(60) {
		rng := source(seed)
		p := random(rng, between(rng, 10, 60), between(rng, 1, 4), between(rng, 20, 200))
		got := solve(t, p, 100_000)
		cost := costOf(p, got)
		require.InDelta(t, cost, got.Bound, near*(1+cost), "seed %d", seed)
		pivots = max(pivots, got.Pivots)
	}
	require.Greater(t, pivots, 100, "the duals are worked out anew on the way")
}

func TestFewerPivotsGiveALowerBound(t *testing.T) {
	for seed := range uint64(100) {
		rng := source(seed)
		p := random(rng, between(rng, 1, 8), between(rng, 1, 3), between(rng, 2, 30))
		last := 0.0
		for maxPivots := range 12 {
			got := solve(t, p, maxPivots)
			require.GreaterOrEqual(t, got.Bound, last, "seed %d: a pivot more", seed)
			last = got.Bound
		}
		if without(p).Demand[0][0] > 0 {
			require.Positive(t, cover.Solve(p, 0).Bound, "seed %d: the start is a bound already", seed)
		}
	}
}

func TestMaxPivots(t *testing.T) {
	rng := source(7)
	p := without(random(rng, 6, 3, 40))
	full := cover.Solve(p, 1000)
	require.Greater(t, full.Pivots, 5)
	for _, limit := range []int{0, 1, 5} {
		require.Equal(t, limit, cover.Solve(p, limit).Pivots, "the problem is in one part")
	}
}

func TestMoreDemandNeverCostsLess(t *testing.T) {
	for seed := range uint64(200) {
		rng := source(seed)
		p := random(rng, between(rng, 1, 5), between(rng, 1, 3), between(rng, 2, 20))
		before := solve(t, p, 1000).Bound
		more := &cover.Problem{Serves: p.Serves, Supplies: p.Supplies}
		for _, demand := range p.Demand {
			demand = slices.Clone(demand)
			for r := range demand {
				demand[r] += float64(rng.IntN(3))
			}
			more.Demand = append(more.Demand, demand)
		}
		after := solve(t, more, 1000).Bound
		require.GreaterOrEqual(t, after, before*(1-near), "seed %d", seed)
		twice := &cover.Problem{Serves: p.Serves, Supplies: p.Supplies}
		for _, demand := range p.Demand {
			demand = slices.Clone(demand)
			for r := range demand {
				demand[r] *= 2
			}
			twice.Demand = append(twice.Demand, demand)
		}
		require.InDelta(t, 2*before, solve(t, twice, 1000).Bound, near*(1+before), "seed %d: twice the demand", seed)
	}
}

func TestUnitsDoNotMatter(t *testing.T) {
	for seed := range uint64(100) {
		rng := source(seed)
		p := random(rng, between(rng, 1, 5), 3, between(rng, 2, 20))
		want := solve(t, p, 1000).Bound
		for _, factor := range []float64{1 << 20, 1 << 40, 1.0 / (1 << 30)} {
			got := cover.Solve(scaled(p, 1, factor), 1000).Bound
			require.InDelta(t, want, got, near*(1+want), "seed %d: memory counted in units of %v", seed, factor)
		}
	}
}

func TestPartsAddUp(t *testing.T) {
	for seed := range uint64(100) {
		rng := source(seed)
		a := random(rng, between(rng, 1, 4), 2, between(rng, 1, 12))
		b := random(rng, between(rng, 1, 4), 2, between(rng, 1, 12))
		sa, sb := solve(t, a, 1000), solve(t, b, 1000)
		both := solve(t, sideBySide(a, b), 1000)
		require.InDelta(t, sa.Bound+sb.Bound, both.Bound, 1e-12*(1+both.Bound), "seed %d", seed)
		require.Equal(t, sa.Pivots+sb.Pivots, both.Pivots, "seed %d", seed)
		require.Equal(t, slices.Concat(sa.Prices, sb.Prices), both.Prices, "seed %d", seed)
		require.Equal(t, slices.Concat(sa.Bought, sb.Bought), both.Bought, "seed %d", seed)
	}
}

// TestManyRows shows that a part too large for a basis still gets a bound, and
// prices that prove it.
func TestManyRows(t *testing.T) {
	p := &cover.Problem{Serves: [][]int{{}}}
	for g := range 3001 {
		p.Demand = append(p.Demand, []float64{float64(1 + g%7)})
		p.Serves[0] = append(p.Serves[0], g)
	}
	p.Supplies = []cover.Supply{{2, []float64{8}, 0}, {3, []float64{13}, 0}}
	got := solve(t, p, 1000)
	require.Zero(t, got.Pivots)
	total := 0.0
	for _, d := range p.Demand {
		total += d[0]
	}
	require.InDelta(t, total*3/13, got.Bound, 1e-3)
}

func TestSolveIsRepeatableAndReadsOnly(t *testing.T) {
	rng := source(3)
	p := random(rng, 8, 3, 60)
	whole := func() string { return fmt.Sprintf("%v", p) }
	before := whole()
	want := cover.Solve(p, 1000)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				if got := cover.Solve(p, 1000); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("another solution: %v", got)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, before, whole())
}
