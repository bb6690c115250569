package cover_test

import (
	"fmt"
	"testing"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// BenchmarkSolve has groups that share all supplies, that share some, and that
// share none.
func BenchmarkSolve(b *testing.B) {
	for _, bench := range []struct {
		sharing string
		groups  int
	}{{"all", 1}, {"all", 20}, {"some", 20}, {"some", 300}, {"none", 300}} {
		b.Run(fmt.Sprintf("sharing=%s/groups=%d", bench.sharing, bench.groups), func(b *testing.B) {
			p := cloud(bench.sharing, bench.groups, 150)
			b.ReportAllocs()
			for b.Loop() {
				cover.Solve(p, 500)
			}
		})
	}
}

// BenchmarkSeries buys a quarter of what is left of half of the groups, eight times.
func BenchmarkSeries(b *testing.B) {
	p := cloud("some", 20, 150)
	demands := [][][]float64{p.Demand}
	rng := source(9)
	for range 8 {
		var left [][]float64
		for _, d := range demands[len(demands)-1] {
			share := 1 - 0.25*float64(rng.IntN(2))
			left = append(left, []float64{d[0] * share, d[1] * share, d[2] * share})
		}
		demands = append(demands, left)
	}
	market := cover.NewMarket(p.Serves, p.Supplies)
	b.Run("anew", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, d := range demands {
				market.Cover(d, 500)
			}
		}
	})
	b.Run("series", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			series := market.Series()
			for _, d := range demands {
				series.Cover(d, 500)
			}
		}
	})
}

// cloud makes supplies like nodes and groups that want CPU, memory and room for
// pods.
func cloud(sharing string, groups, supplies int) *cover.Problem {
	rng := source(5)
	p := &cover.Problem{}
	for g := range groups {
		pods := float64(between(rng, 1, 200))
		p.Demand = append(p.Demand, []float64{pods * float64(between(rng, 1, 20)*100), pods * float64(between(rng, 1, 16)) * 25e7, pods})
		set := []int{}
		for h := range groups {
			if sharing == "all" || h == g || sharing == "some" && (h == 0 || rng.IntN(groups) < 3) {
				set = append(set, h)
			}
		}
		p.Serves = append(p.Serves, set)
	}
	for i := range max(supplies, 2*groups) {
		cpu := float64(between(rng, 1, 96))
		p.Supplies = append(p.Supplies, cover.Supply{
			Price:  cpu * (0.03 + 0.02*rng.Float64()),
			Amount: []float64{cpu * 1000, cpu * float64(between(rng, 2, 8)) * 1e9, min(10*cpu, 234)},
			Serves: i % groups,
		})
	}
	return p
}
