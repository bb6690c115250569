package estimate

import (
	"math"
	"slices"
)

// supply is a way to launch a node.
type supply struct {
	room  []int64 // for pods
	price float64 // in USD per hour
}

// unitPrices returns a price for a unit of each resource such that no supply has room worth more than
// the supply costs. The request of some pods at these prices is then a lower bound on the price of
// nodes that hold them. wanted is the total demand. The prices are chosen so that the bound for
// that demand is close to the highest possible.
//
// It returns nil if there is no supply. The work is bounded: a few hundred passes over the
// supplies.
func unitPrices(supplies []supply, wanted []int64) []float64 {
	if len(supplies) == 0 {
		return nil
	}
	scale := make([]float64, len(wanted)) // the reciprocal of the demand
	weight := make([]float64, len(wanted))
	for d, n := range wanted {
		if n > 0 {
			scale[d], weight[d] = 1/float64(n), 1
		}
	}
	supplies = undominated(supplies, wanted)
	best, floor := make([]float64, len(wanted)), -1.0
	for range priceRounds {
		tightest, most := -1, 0.0
		for i := range supplies {
			worth := 0.0
			for d, w := range weight {
				worth += w * scale[d] * float64(supplies[i].room[d])
			}
			if over := worth / supplies[i].price; over > most {
				tightest, most = i, over
			}
		}
		if tightest < 0 {
			return best
		}
		sum := 0.0
		for _, w := range weight {
			sum += w
		}
		if value := sum / most; value > floor {
			floor = value
			for d, w := range weight {
				best[d] = w * scale[d] / most
			}
		}
		// Lower the weight of the resources of which the tightest supply has much.
		mean, dims := 0.0, 0.0
		for d, s := range scale {
			if s > 0 {
				mean += s * float64(supplies[tightest].room[d])
				dims++
			}
		}
		mean /= max(dims, 1)
		for d, s := range scale {
			if s > 0 {
				weight[d] *= math.Exp(priceStep * (1 - s*float64(supplies[tightest].room[d])/mean))
				weight[d] = min(max(weight[d], 1e-9), 1e9)
			}
		}
	}
	return best
}

// undominated leaves out each supply that is no better than an earlier one: it has at most as much
// of every wanted resource, and costs no less. At no prices is such a supply worth more for its
// price. Few supplies are left.
func undominated(supplies []supply, wanted []int64) []supply {
	var out []supply
	for _, s := range supplies {
		dominates := func(other supply) bool {
			for d, n := range wanted {
				if n > 0 && other.room[d] < s.room[d] {
					return false
				}
			}
			return other.price <= s.price
		}
		if !slices.ContainsFunc(out, dominates) {
			out = append(out, s)
		}
	}
	return out
}

const (
	priceRounds = 200
	priceStep   = 0.05
)

// worth returns the value of a request at the prices; infinite if prices is nil.
func worth(request []int64, prices []float64) float64 {
	if prices == nil {
		return math.Inf(1)
	}
	sum := 0.0
	for d, p := range prices {
		sum += p * float64(request[d])
	}
	return sum
}
