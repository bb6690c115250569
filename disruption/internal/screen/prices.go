package screen

import "math"

// Supply is a way to launch a node.
type Supply struct {
	// Room is what it has for pods.
	Room []int64
	// Price is in USD per hour.
	Price float64
}

// Prices finds what a unit of each resource costs at least, given what is wanted
// of each in sum: no supply is worth more than its price at these. So what some
// pods ask for, times the prices, is a floor under the cost of nodes that hold
// them. The nearer the better: the floor of what is wanted is close to the
// highest there is.
//
// Nil means that there is no supply. The work is bounded: a few hundred looks at
// each supply.
func Prices(supply []Supply, wanted []int64) []float64 {
	if len(supply) == 0 {
		return nil
	}
	scale := make([]float64, len(wanted)) // one over what is wanted
	weight := make([]float64, len(wanted))
	for d, n := range wanted {
		if n > 0 {
			scale[d], weight[d] = 1/float64(n), 1
		}
	}
	best, floor := make([]float64, len(wanted)), -1.0
	for range priceRounds {
		tightest, most := -1, 0.0
		for i := range supply {
			worth := 0.0
			for d, w := range weight {
				worth += w * scale[d] * float64(supply[i].Room[d])
			}
			if over := worth / supply[i].Price; over > most {
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
		// What the tightest supply has much of is worth less than thought.
		mean, dims := 0.0, 0.0
		for d, s := range scale {
			if s > 0 {
				mean += s * float64(supply[tightest].Room[d])
				dims++
			}
		}
		mean /= max(dims, 1)
		for d, s := range scale {
			if s > 0 {
				weight[d] *= math.Exp(priceStep * (1 - s*float64(supply[tightest].Room[d])/mean))
				weight[d] = min(max(weight[d], 1e-9), 1e9)
			}
		}
	}
	return best
}

const (
	priceRounds = 200
	priceStep   = 0.05
)

// Floor is a request at prices; infinite without prices.
func Floor(request []int64, prices []float64) float64 {
	if prices == nil {
		return math.Inf(1)
	}
	sum := 0.0
	for d, p := range prices {
		sum += p * float64(request[d])
	}
	return sum
}
