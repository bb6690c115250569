package knapsack

import (
	"math"
	"slices"
)

// Whole returns the least sum of prices, each used any number of times, that is not below a bound:
// nodes are bought whole. If Addable says that there are too many sums to try, it returns the
// bound.
func Whole(prices []float64, bound float64) float64 {
	if bound <= 0 || len(prices) == 0 {
		return math.Max(bound, 0)
	}
	prices = distinct(prices)
	if !Addable(prices, bound) {
		return bound
	}
	a := adder{prices: prices, least: bound * (1 - 1e-6), best: math.Inf(1), visits: maxSums}
	a.add(len(prices)-1, 0)
	if a.visits == 0 {
		return bound
	}
	return math.Max(bound, a.best)
}

// Addable says whether Whole tries all sums up to a bound: the prices must be positive and the sums
// few.
func Addable(prices []float64, bound float64) bool {
	prices = distinct(prices)
	return len(prices) > 0 && prices[0] > 0 && float64(len(prices))*bound <= prices[0]*maxSums
}

// distinct returns the distinct prices, ascending.
func distinct(prices []float64) []float64 {
	out := slices.Sorted(slices.Values(prices))
	return slices.Compact(out)
}

// maxSums bounds the number of sums that Whole tries.
const maxSums = 2_000

// adder finds the least sum of prices, each used any number of times, that is not below least.
type adder struct {
	prices      []float64
	least, best float64
	visits      int
}

// add extends a sum by the prices at position i and below.
func (a *adder) add(i int, sum float64) {
	for ; sum < a.best; sum += a.prices[i] {
		if a.visits == 0 {
			return
		}
		a.visits--
		if sum >= a.least {
			a.best = sum
			return
		}
		if i > 0 {
			a.add(i-1, sum)
		}
	}
}

// RoomWorth returns the total worth of room, given a price for each resource.
func RoomWorth(room []int64, prices []float64) float64 {
	sum := 0.0
	for r, price := range prices {
		sum += float64(price * math.Max(float64(room[r]), 0))
	}
	return sum
}
