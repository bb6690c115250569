package cover_test

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// vertexOptimum solves a small problem by its definition: the dual asks for
// prices, none negative, at which no supply fetches more than it costs however
// its resources are handed out, and that make the demand as dear as possible.
// The best of all corners of that polytope is the optimum. It shares no idea
// with the simplex under test.
func vertexOptimum(p *cover.Problem) float64 {
	index := map[[2]int]int{} // of the unknown price of a group's resource
	var demand []float64
	for g := range p.Demand {
		for r, d := range p.Demand[g] {
			if d > 0 {
				index[[2]int{g, r}] = len(demand)
				demand = append(demand, d)
			}
		}
	}
	n := len(demand)
	if n == 0 {
		return 0
	}
	var walls [][]float64 // n coefficients and the right side: a.y <= b
	for i := range n {
		wall := make([]float64, n+1)
		wall[i] = -1
		walls = append(walls, wall)
	}
	for i := range p.Supplies {
		s := &p.Supplies[i]
		wall := make([]float64, n+1)
		wall[n] = s.Price
		walls = hand(p, s, index, 0, wall, walls)
	}
	best := 0.0
	corners(walls, nil, 0, n, func(y []float64) {
		sum := 0.0
		for i, d := range demand {
			sum += y[i] * d
		}
		best = math.Max(best, sum)
	})
	return best
}

// hand adds one wall for each way to hand the resources from r on to groups.
func hand(p *cover.Problem, s *cover.Supply, index map[[2]int]int, r int, wall []float64, walls [][]float64) [][]float64 {
	if r == len(s.Amount) {
		return append(walls, wall)
	}
	some := false
	for _, g := range p.Serves[s.Serves] {
		if i, ok := index[[2]int{g, r}]; ok && s.Amount[r] > 0 {
			some = true
			next := append([]float64(nil), wall...)
			next[i] += s.Amount[r]
			walls = hand(p, s, index, r+1, next, walls)
		}
	}
	if !some {
		return hand(p, s, index, r+1, wall, walls)
	}
	return walls
}

// corners visits every point where n walls meet and none is crossed.
func corners(walls [][]float64, chosen []int, from, n int, visit func([]float64)) {
	if len(chosen) < n {
		for i := from; i < len(walls); i++ {
			corners(walls, append(chosen, i), i+1, n, visit)
		}
		return
	}
	y, ok := meet(walls, chosen, n)
	if !ok {
		return
	}
	for _, w := range walls {
		sum := 0.0
		for i, v := range y {
			sum += w[i] * v
		}
		if sum > w[n]+1e-9 {
			return
		}
	}
	visit(y)
}

// meet solves the equations of n walls by elimination.
func meet(walls [][]float64, chosen []int, n int) ([]float64, bool) {
	m := make([][]float64, n)
	for i, c := range chosen {
		m[i] = append([]float64(nil), walls[c]...)
	}
	for col := range n {
		top := col
		for i := col + 1; i < n; i++ {
			if math.Abs(m[i][col]) > math.Abs(m[top][col]) {
				top = i
			}
		}
		if math.Abs(m[top][col]) < 1e-9 {
			return nil, false
		}
		m[col], m[top] = m[top], m[col]
		for i := range n {
			if i == col {
				continue
			}
			f := m[i][col] / m[col][col]
			for j := col; j <= n; j++ {
				m[i][j] -= f * m[col][j]
			}
		}
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = m[i][n] / m[i][i]
	}
	return y, true
}
