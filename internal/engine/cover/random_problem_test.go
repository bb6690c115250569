package cover_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// between returns a number in [low, high].
func between(rng *rand.Rand, low, high int) int { return low + rng.IntN(high-low+1) }

// random makes a problem of the given number of groups, resources and supplies. Some of the
// demand is zero, and some cannot be met.
func random(rng *rand.Rand, groups, dims, supplies int) *cover.Problem {
	p := &cover.Problem{}
	for range groups {
		demand := make([]float64, dims)
		for r := range demand {
			demand[r] = float64(max(between(rng, -3, 20), 0))
		}
		p.Demand = append(p.Demand, demand)
	}
	for range between(rng, 1, 3) {
		set := []int{}
		for g := range groups {
			if rng.IntN(3) > 0 {
				set = append(set, g)
			}
		}
		p.Serves = append(p.Serves, set)
	}
	for range supplies {
		s := cover.Supply{Price: float64(between(rng, 1, 40)) / 4, Serves: rng.IntN(len(p.Serves))}
		for range dims {
			s.Amount = append(s.Amount, float64(max(between(rng, -2, 9), 0)))
		}
		p.Supplies = append(p.Supplies, s)
	}
	return p
}

// without returns the problem less the demand that no supply can meet.
func without(p *cover.Problem) *cover.Problem {
	out := &cover.Problem{Serves: p.Serves, Supplies: p.Supplies}
	for g, demand := range p.Demand {
		demand = slices.Clone(demand)
		for r := range demand {
			if !slices.ContainsFunc(p.Supplies, func(s cover.Supply) bool {
				return s.Amount[r] > 0 && slices.Contains(p.Serves[s.Serves], g)
			}) {
				demand[r] = 0
			}
		}
		out.Demand = append(out.Demand, demand)
	}
	return out
}

// value is what one unit of a supply fetches at the given prices, each of its
// resources handed to the group that pays most.
func value(p *cover.Problem, s *cover.Supply, prices [][]float64) float64 {
	sum := 0.0
	for r, a := range s.Amount {
		best := 0.0
		for _, g := range p.Serves[s.Serves] {
			best = math.Max(best, prices[g][r])
		}
		sum += float64(best * a)
	}
	return sum
}

// scaled returns the problem with resource r counted in other units.
func scaled(p *cover.Problem, r int, factor float64) *cover.Problem {
	out := &cover.Problem{Serves: p.Serves}
	for _, demand := range p.Demand {
		d := slices.Clone(demand)
		d[r] *= factor
		out.Demand = append(out.Demand, d)
	}
	for _, s := range p.Supplies {
		s.Amount = slices.Clone(s.Amount)
		s.Amount[r] *= factor
		out.Supplies = append(out.Supplies, s)
	}
	return out
}

// sideBySide returns two problems of equally many resources as one.
func sideBySide(a, b *cover.Problem) *cover.Problem {
	out := &cover.Problem{
		Demand:   slices.Concat(a.Demand, b.Demand),
		Serves:   slices.Clone(a.Serves),
		Supplies: slices.Clone(a.Supplies),
	}
	for _, set := range b.Serves {
		moved := make([]int, len(set))
		for i, g := range set {
			moved[i] = g + len(a.Demand)
		}
		out.Serves = append(out.Serves, moved)
	}
	for _, s := range b.Supplies {
		s.Serves += len(a.Serves)
		out.Supplies = append(out.Supplies, s)
	}
	return out
}
