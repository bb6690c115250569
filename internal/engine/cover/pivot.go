package cover

import "math"

// pivot brings the best supply of a block into the basis, its resources assigned to the rows that
// pay most. It returns false if that is impossible, which only rounding can cause.
func (t *tableau) pivot(in int) bool {
	if t.inverse == nil {
		t.invert()
	}
	clear(t.direction)
	block := &t.blocks[in]
	supply := &t.supplies[block.supply]
	for r, j := range block.best {
		if j < 0 {
			continue
		}
		amount := supply.Amount[r]
		for i := range t.direction {
			t.direction[i] += float64(amount * t.inverse[i][j])
		}
	}
	leave, step := -1, math.Inf(1)
	for i, d := range t.direction {
		if d > 1e-12 && t.level[i]/d < step {
			leave, step = i, t.level[i]/d
		}
	}
	if leave < 0 {
		return false
	}
	t.exchange(leave, step)
	for i, level := range t.level {
		t.level[i] = max(level, 0) // negative values come from rounding
	}
	t.cost[leave] = supply.Price
	t.supply[leave] = block.supply
	t.moveDuals(leave, worth(block.dual, supply.Amount)-supply.Price)
	return true
}

// invert computes the inverse of the diagonal starting basis.
func (t *tableau) invert() {
	m := len(t.rows)
	cells := make([]float64, m*m)
	t.inverse = make([][]float64, m)
	for i := range t.inverse {
		t.inverse[i] = cells[i*m : (i+1)*m]
		t.inverse[i][i] = 1 / t.amount[i]
	}
}

// exchange replaces basic column leave by the column in direction.
func (t *tableau) exchange(leave int, step float64) {
	out := t.inverse[leave]
	t.changed = t.changed[:0]
	for j := range out {
		if out[j] != 0 {
			out[j] /= t.direction[leave]
			t.changed = append(t.changed, j)
		}
	}
	for i, d := range t.direction {
		if i == leave || d == 0 {
			continue
		}
		in := t.inverse[i]
		for _, j := range t.changed {
			in[j] -= float64(d * out[j])
		}
		t.level[i] -= float64(step * d)
	}
	t.level[leave] = step
}

// afresh is the number of steps after which the duals are recomputed, so that rounding errors do
// not accumulate.
const afresh = 50

// moveDuals updates the duals after an exchange: it lowers those of the changed rows until the
// supply that entered is worth exactly its price.
func (t *tableau) moveDuals(came int, excess float64) {
	t.steps++
	if t.steps%afresh == 0 {
		t.computeDuals()
		return
	}
	for _, j := range t.changed {
		t.dual[j] -= float64(excess * t.inverse[came][j])
		t.touch(j)
	}
}

// touch records that the dual of a row has changed.
func (t *tableau) touch(row int) {
	at := &t.rows[row]
	t.paid[at.group*t.dims+at.resource] = t.dual[row]
	for _, s := range t.setsOf[at.group] {
		t.blocks[s].stale = true
	}
}

// computeDuals sets the duals to the costs of the basis times its inverse.
func (t *tableau) computeDuals() {
	clear(t.dual)
	for i, c := range t.cost {
		for j, v := range t.inverse[i] {
			t.dual[j] += float64(c * v)
		}
	}
	for row := range t.rows {
		t.touch(row)
	}
}
