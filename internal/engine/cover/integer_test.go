package cover_test

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// integerOptimum returns the least cost of whole supplies that cover a small
// problem, found by trying every number of each up to most.
func integerOptimum(p *cover.Problem, most int) float64 {
	best := math.Inf(1)
	bought := make([]int, len(p.Supplies))
	var try func(i int, cost float64)
	try = func(i int, cost float64) {
		if cost >= best {
			return
		}
		if i == len(bought) {
			if covers(p, bought) {
				best = cost
			}
			return
		}
		for n := range most + 1 {
			bought[i] = n
			try(i+1, cost+float64(n)*p.Supplies[i].Price)
		}
		bought[i] = 0
	}
	try(0, 0)
	return best
}

// covers says whether whole supplies can be handed out so that all demand is
// met. By Hall's theorem it is enough that each set of groups finds as much of
// a resource as it demands among the supplies that serve any of it.
func covers(p *cover.Problem, bought []int) bool {
	for set := 1; set < 1<<len(p.Demand); set++ {
		for r := range p.Demand[0] {
			demand, supply := 0.0, 0.0
			for g := range p.Demand {
				if set&(1<<g) != 0 {
					demand += p.Demand[g][r]
				}
			}
			for i, n := range bought {
				if n > 0 && servesAny(p, &p.Supplies[i], set) {
					supply += float64(n) * p.Supplies[i].Amount[r]
				}
			}
			if demand > supply {
				return false
			}
		}
	}
	return true
}

func servesAny(p *cover.Problem, s *cover.Supply, set int) bool {
	for _, g := range p.Serves[s.Serves] {
		if set&(1<<g) != 0 {
			return true
		}
	}
	return false
}
