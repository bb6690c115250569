package cover_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// next is another demand: some of it bought, some of it gone, now and then all of it
// back, or something that nobody wanted before.
func next(rng *rand.Rand, p *cover.Problem, demand [][]float64) [][]float64 {
	if rng.IntN(8) == 0 {
		demand = p.Demand
	}
	out := make([][]float64, len(demand))
	for g := range demand {
		out[g] = slices.Clone(demand[g])
		for r := range out[g] {
			switch rng.IntN(12) {
			case 0:
				out[g][r] = 0
			case 1:
				out[g][r] = float64(rng.IntN(20))
			case 2, 3, 4:
				out[g][r] *= 0.5 + rng.Float64()/2
			}
		}
	}
	return out
}

func TestSeriesFindsWhatCoverFinds(t *testing.T) {
	alone, together := 0, 0
	for seed := range uint64(testlong.Seeds(60, 300)) {
		rng := source(seed)
		p := random(rng, between(rng, 1, 12), between(rng, 1, 4), between(rng, 2, 60))
		market := cover.NewMarket(p.Serves, p.Supplies)
		series := market.Series()
		demand := p.Demand
		for turn := range 30 {
			want, got := market.Cover(demand, 10_000), series.Cover(demand, 10_000)
			require.InDelta(t, want.Bound, got.Bound, near*(1+want.Bound), "seed %d, turn %d", seed, turn)
			now := &cover.Problem{Demand: demand, Serves: p.Serves, Supplies: p.Supplies}
			check(t, now, got)
			require.InDelta(t, got.Bound, costOf(now, got), near*(1+got.Bound), "seed %d, turn %d: bought", seed, turn)
			alone, together = alone+want.Pivots, together+got.Pivots
			demand = next(rng, p, demand)
		}
	}
	require.Less(t, together, alone, "steps from where the last cover ended, and anew")
}

// TestSeriesOfPortions buys a tenth of everything at a time, as a packer does: nothing
// changes but the amounts.
func TestSeriesOfPortions(t *testing.T) {
	rng := source(5)
	p := without(random(rng, 10, 3, 80))
	series := cover.NewMarket(p.Serves, p.Supplies).Series()
	first := series.Cover(p.Demand, 1000)
	require.Greater(t, first.Pivots, 10)
	for left := 9; left > 0; left-- {
		demand := make([][]float64, len(p.Demand))
		for g := range demand {
			for _, d := range p.Demand[g] {
				demand[g] = append(demand[g], d*float64(left)/10)
			}
		}
		got := series.Cover(demand, 1000)
		require.Zero(t, got.Pivots)
		require.InDelta(t, first.Bound*float64(left)/10, got.Bound, near*first.Bound)
	}
}

func TestSeriesAreRepeatable(t *testing.T) {
	answers := func() string {
		rng := source(11)
		p := random(rng, 9, 3, 50)
		series := cover.NewMarket(p.Serves, p.Supplies).Series()
		text, demand := "", p.Demand
		for range 40 {
			text += fmt.Sprintln(series.Cover(demand, 60))
			demand = next(rng, p, demand)
		}
		return text
	}
	require.Equal(t, answers(), answers())
}

// TestSeriesWithFewPivots stops short of the optimum each time, and has a bound all the
// same.
func TestSeriesWithFewPivots(t *testing.T) {
	for seed := range uint64(testlong.Seeds(30, 100)) {
		rng := source(seed)
		p := random(rng, between(rng, 1, 10), between(rng, 1, 3), between(rng, 2, 40))
		market := cover.NewMarket(p.Serves, p.Supplies)
		series, demand := market.Series(), p.Demand
		for range 20 {
			got := series.Cover(demand, 3)
			check(t, &cover.Problem{Demand: demand, Serves: p.Serves, Supplies: p.Supplies}, got)
			require.LessOrEqual(t, got.Bound, market.Cover(demand, 10_000).Bound*(1+near)+near)
			demand = next(rng, p, demand)
		}
	}
}
