package judge

import "math"

// programme is a linear programme: the greatest gain·x with rows·x <= limits
// and x >= 0. No limit is below zero, so that x = 0 is a start.
type programme struct {
	gain   []float64
	rows   [][]float64
	limits []float64
}

const (
	// tiny is what counts as zero among numbers near one.
	tiny = 1e-11
	// maxPivots ends a search that goes in circles in spite of all.
	maxPivots = 50_000
)

// solve returns the x with the greatest gain, by the simplex method on a dense
// tableau. Limits of zero are moved a little, each by another amount, which
// keeps the method from going in circles; x is then off by about as little. An
// x that the method has not finished with is returned as it is. The programme
// is used up. All gains must be bounded by the rows.
func (p *programme) solve() []float64 {
	const nudge = 1e-10
	for i := range p.limits {
		p.limits[i] += nudge * (1 + float64(i%97)/97)
	}
	// outside says which variable each column stands for, basis each row:
	// those of x from 0, then the slack of each row.
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

// entering is the column that gains most by the unit.
func (p *programme) entering() int {
	best := -1
	for c, gain := range p.gain {
		if gain > tiny && (best < 0 || gain > p.gain[best]) {
			best = c
		}
	}
	return best
}

// leaving is the row that stops the column first. Of equal ones that with the
// largest coefficient is kindest to the numbers.
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

// subtract takes factor times a row off another one; of column c, which now
// stands for the variable that left, nothing was there before.
func subtract(from, row []float64, factor float64, c int) {
	from[c] = 0
	for i, v := range row {
		from[i] -= factor * v
	}
}
