package judge

import "math"

// programme is a linear programme: maximize gain·x subject to rows·x <= limits and x >= 0. No limit
// is negative, so that x = 0 is feasible.
type programme struct {
	gain   []float64
	rows   [][]float64
	limits []float64
}

const (
	// tiny is the absolute value below which a number counts as zero; the numbers are near one.
	tiny = 1e-11
	// maxPivots ends a search that cycles in spite of the perturbation.
	maxPivots = 50_000
)

// solve returns the x with the greatest gain, by the simplex method on a dense tableau. Limits are
// increased a little, each by a different amount, which prevents cycling; x is then off by about as
// much. If the method does not finish, solve returns the x reached so far. The programme is
// overwritten. The rows must bound all gains.
func (p *programme) solve() []float64 {
	const nudge = 1e-10
	for i := range p.limits {
		p.limits[i] += nudge * (1 + float64(i%97)/97)
	}
	// outside has the variable of each column, and basis the variable of each row. Variables are
	// numbered: first x, then the slack of each row.
	columns := len(p.gain)
	outside, basis := make([]int, columns), make([]int, len(p.rows))
	for c := range outside {
		outside[c] = c
	}
	for r := range basis {
		basis[r] = columns + r
	}
	for range maxPivots {
		c := p.entering()
		if c < 0 {
			break
		}
		r := p.leaving(c)
		if r < 0 {
			break
		}
		p.pivot(r, c)
		outside[c], basis[r] = basis[r], outside[c]
	}
	x := make([]float64, columns)
	for r, variable := range basis {
		if variable < columns {
			x[variable] = p.limits[r]
		}
	}
	return x
}

// entering returns the column with the greatest gain per unit, or -1 if no column gains.
func (p *programme) entering() int {
	best := -1
	for c, gain := range p.gain {
		if gain > tiny && (best < 0 || gain > p.gain[best]) {
			best = c
		}
	}
	return best
}

// leaving returns the row that limits the column first. Among equal rows the one with the largest
// coefficient is the most stable numerically.
func (p *programme) leaving(c int) int {
	best, least := -1, math.Inf(1)
	for r, row := range p.rows {
		if row[c] <= tiny {
			continue
		}
		step := p.limits[r] / row[c]
		if step < least || step == least && row[c] > p.rows[best][c] {
			best, least = r, step
		}
	}
	return best
}

// pivot exchanges the variables of a row and a column.
func (p *programme) pivot(r, c int) {
	row := p.rows[r]
	by := 1 / row[c]
	for i := range row {
		row[i] *= by
	}
	row[c] = by
	p.limits[r] *= by
	for i, other := range p.rows {
		if factor := other[c]; i != r && factor != 0 {
			subtract(other, row, factor, c)
			p.limits[i] = max(0, p.limits[i]-factor*p.limits[r])
		}
	}
	subtract(p.gain, row, p.gain[c], c)
}

// subtract takes factor times a row off another row. Column c now stands for the variable that
// left, so its old value is replaced.
func subtract(from, row []float64, factor float64, c int) {
	from[c] = 0
	for i, v := range row {
		from[i] -= factor * v
	}
}
