package knapsack

import (
	"math"
	"slices"
)

// Whole returns the least cost of whole nodes at some prices that is not below a bound, each price taken
// any number of times. Where there are so many ways to add prices up that it would take long, as Addable
// says, it returns the bound.
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

// Addable says whether Whole tries to add prices up to a bound: they are few, and all above zero.
func Addable(prices []float64, bound float64) bool {
	prices = distinct(prices)
	return len(prices) > 0 && prices[0] > 0 && float64(len(prices))*bound <= prices[0]*maxSums
}

// distinct returns the distinct prices, ascending.
func distinct(prices []float64) []float64 {
	out := slices.Sorted(slices.Values(prices))
	return slices.Compact(out)
}

// maxSums bounds the sums that Whole looks at.
const maxSums = 2_000

// adder looks for the least sum of prices, each taken any number of times, that is not below
// least.
type adder struct {
	prices      []float64
	least, best float64
	visits      int
}

// add goes on from a sum of prices above position i.
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

// RoomWorth is what room is worth at some prices of its resources.
func RoomWorth(room []int64, prices []float64) float64 {
	sum := 0.0
	for r, price := range prices {
		sum += float64(price * math.Max(float64(room[r]), 0))
	}
	return sum
}
