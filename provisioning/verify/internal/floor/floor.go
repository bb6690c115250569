package floor

import "math"

// Option is a way to launch a node.
type Option struct {
	Price float64 // not below 0
	Room  []int64 // by resource
}

// Of is the largest amount of any resource at the least price for which an option sells a unit
// of it. A resource that no option has room for adds nothing.
func Of(asked []int64, options []Option) float64 {
	least := 0.0
	for k, amount := range asked {
		unit := math.Inf(1)
		for _, o := range options {
			if o.Room[k] > 0 {
				unit = min(unit, o.Price/float64(o.Room[k]))
			}
		}
		if amount > 0 && !math.IsInf(unit, 1) {
			least = max(least, float64(amount)*unit)
		}
	}
	return least
}

// Gap is how far a cost is above a bound: 0.01 is 1%. It is 0 for a cost of 0, else infinite for a
// bound of 0.
func Gap(cost, bound float64) float64 {
	switch {
	case cost <= 0:
		return 0
	case bound <= 0:
		return math.Inf(1)
	}
	return cost/bound - 1
}

// Covers says whether there is room for each amount that is asked for.
func Covers(room, asked []int64) bool {
	for k, amount := range asked {
		if amount > 0 && amount > room[k] {
			return false
		}
	}
	return true
}
