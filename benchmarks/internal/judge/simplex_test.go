package judge

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// dot is the sum of the products.
func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestSolveByHand(t *testing.T) {
	for _, test := range []struct {
		name string
		p    programme
		want []float64
	}{
		{
			// A textbook: two machines, two products.
			name: "two products",
			p: programme{
				gain:   []float64{3, 5},
				rows:   [][]float64{{1, 0}, {0, 2}, {3, 2}},
				limits: []float64{4, 12, 18},
			},
			want: []float64{2, 6},
		},
		{
			name: "nothing gained",
			p:    programme{gain: []float64{-1, 0}, rows: [][]float64{{1, 1}}, limits: []float64{1}},
			want: []float64{0, 0},
		},
		{
			name: "held at nothing by limits of zero",
			p: programme{
				gain:   []float64{1, 1},
				rows:   [][]float64{{1, -1}, {-1, 1}, {1, 1}},
				limits: []float64{0, 0, 2},
			},
			want: []float64{1, 1},
		},
		{
			// Beale's example, in which the largest coefficient leads round in
			// circles unless something is done about it.
			name: "circles",
			p: programme{
				gain:   []float64{0.75, -150, 0.02, -6},
				rows:   [][]float64{{0.25, -60, -0.04, 9}, {0.5, -90, -0.02, 3}, {0, 0, 1, 0}},
				limits: []float64{0, 0, 1},
			},
			want: []float64{0.04, 0, 1, 0},
		},
	} {
		x := test.p.solve()
		for i := range test.want {
			require.InDelta(t, test.want[i], x[i], 1e-6, test.name)
		}
	}
}

// An x is best if it keeps the rows and no other choice of equally many rows to
// hold with equality does better. With two variables that can be tried out.
func TestSolveAgainstAllCorners(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		rows, limits := [][]float64{{1, 0}, {0, 1}}, []float64{10, 10} // bounded
		for range 1 + dice.IntN(5) {
			rows = append(rows, []float64{float64(dice.IntN(9) - 3), float64(dice.IntN(9) - 3)})
			limits = append(limits, float64(dice.IntN(20)))
		}
		gain := []float64{float64(dice.IntN(9) - 2), float64(dice.IntN(9) - 2)}
		want := bestCorner(gain, rows, limits)

		p := programme{gain: append([]float64{}, gain...), limits: append([]float64{}, limits...)}
		for _, row := range rows {
			p.rows = append(p.rows, append([]float64{}, row...))
		}
		x := p.solve()
		for i, row := range rows {
			require.LessOrEqual(t, dot(row, x), limits[i]+1e-6)
		}
		require.InDelta(t, want, dot(gain, x), 1e-6)
	}
}

// bestCorner tries all points in which two of the lines meet.
func bestCorner(gain []float64, rows [][]float64, limits []float64) float64 {
	lines := append([][]float64{{-1, 0}, {0, -1}}, rows...)
	at := append([]float64{0, 0}, limits...)
	best := 0.0
	for i := range lines {
		for j := range i {
			det := lines[i][0]*lines[j][1] - lines[i][1]*lines[j][0]
			if det == 0 {
				continue
			}
			x := []float64{
				(at[i]*lines[j][1] - lines[i][1]*at[j]) / det,
				(lines[i][0]*at[j] - at[i]*lines[j][0]) / det,
			}
			keeps := true
			for k := range lines {
				keeps = keeps && dot(lines[k], x) <= at[k]+1e-9
			}
			if keeps {
				best = max(best, dot(gain, x))
			}
		}
	}
	return best
}
