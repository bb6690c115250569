package pack

import "math"

// master is the linear program over whole patterns: buy fractions of patterns so that every class
// is served at the lowest cost. Its duals give the true cost of a pod of each class, pods being
// whole; its solution says which patterns to buy and how often. Patterns are added while it is
// solved (column generation).
type master struct {
	classes []int // by row
	rowOf   []int // by class, -1 if it has no row
	demand  []float64
	columns []column

	inverse [][]float64
	level   []float64 // by row: level of the basic column
	basic   []int     // by row: the basic column, -1 for a surplus
	dual    []float64 // by row
	scratch []float64
	changed []int // scratch space: where a step changes the duals
}

// column is a pattern of a candidate that can be bought.
type column struct {
	candidate int
	price     float64
	pattern
}

// newMaster returns a master with a row for each class that a tier serves and that has pods left.
func newMaster(t *tier, left []int) *master {
	m := &master{rowOf: make([]int, len(left))}
	for c, n := range left {
		m.rowOf[c] = -1
		if n > 0 && t.groupOf[c] >= 0 {
			m.rowOf[c] = len(m.classes)
			m.classes = append(m.classes, c)
			m.demand = append(m.demand, float64(n))
		}
	}
	rows := len(m.classes)
	m.inverse = make([][]float64, rows)
	for i := range m.inverse {
		m.inverse[i] = make([]float64, rows)
	}
	m.level = make([]float64, rows)
	m.basic = make([]int, rows)
	m.dual = make([]float64, rows)
	m.scratch = make([]float64, rows)
	return m
}

// start sets the first basis: for each row, a pattern of its class alone. These columns must have
// been added in the order of rows.
//
// Each demand is raised by a tolerance of its own. Many classes have just one pod, and with equal
// demands the simplex would make steps that gain nothing, and could cycle.
func (m *master) start() {
	for i, c := range m.classes {
		n := float64(m.columns[i].count(c))
		m.inverse[i][i] = 1 / n
		tolerance := 1e-7 * float64(i+1) / float64(len(m.classes))
		m.level[i] = m.demand[i] * (1 + tolerance) / n
		m.basic[i] = i
	}
}

func (p *pattern) count(class int) int {
	n := 0
	for _, s := range p.shares {
		if s.Class == class {
			n += s.Count
		}
	}
	return n
}

// solve brings columns into the basis until none gains, or the given number of steps is used up.
func (m *master) solve(steps int) {
	m.price()
	for i := range steps {
		enter := m.bestColumn()
		if enter < -1 || !m.pivot(enter) {
			return
		}
		if i%afresh == afresh-1 {
			m.price()
		}
	}
}

// afresh is the number of steps after which the duals are recomputed, so that rounding errors do
// not accumulate.
const afresh = 50

// price computes the duals.
func (m *master) price() {
	clear(m.dual)
	for i, column := range m.basic {
		if column < 0 {
			continue
		}
		cost := m.columns[column].price
		for j, v := range m.inverse[i] {
			m.dual[j] += float64(cost * v)
		}
	}
}

// cost returns the cost of the current fractions.
func (m *master) cost() float64 {
	sum := 0.0
	for i, column := range m.basic {
		if column >= 0 {
			sum += float64(m.columns[column].price * m.level[i])
		}
	}
	return sum
}

// worth returns the worth of a pattern at the duals.
func (m *master) worth(shares []Share) float64 {
	sum := 0.0
	for _, s := range shares {
		if i := m.rowOf[s.Class]; i >= 0 {
			sum += float64(m.dual[i] * float64(s.Count))
		}
	}
	return sum
}

// bestColumn returns the column with the highest gain, -1 for a surplus, or -2 if no column gains.
func (m *master) bestColumn() int {
	const tolerance = 1e-7
	best, ratio := -2, 1+tolerance
	for i := range m.columns {
		if r := m.worth(m.columns[i].shares) / m.columns[i].price; r > ratio {
			best, ratio = i, r
		}
	}
	if best >= 0 {
		return best
	}
	for i, d := range m.dual {
		if d*m.demand[i] < -tolerance {
			return -1
		}
	}
	return -2
}

// pivot brings in a column, or for -1 the surplus of the row with the lowest dual. It returns false
// if rounding has made the basis invalid.
func (m *master) pivot(enter int) bool {
	direction := m.scratch
	clear(direction)
	excess := 0.0 // worth of the column minus its price
	if enter >= 0 {
		excess = m.worth(m.columns[enter].shares) - m.columns[enter].price
		for _, s := range m.columns[enter].shares {
			j := m.rowOf[s.Class]
			if j < 0 {
				continue
			}
			for i := range direction {
				direction[i] += float64(float64(s.Count) * m.inverse[i][j])
			}
		}
	} else {
		j := m.lowest()
		excess = -m.dual[j]
		for i := range direction {
			direction[i] = -m.inverse[i][j]
		}
	}
	leave, step := -1, math.Inf(1)
	for i, d := range direction {
		if d > 1e-10 && m.level[i]/d < step {
			leave, step = i, m.level[i]/d
		}
	}
	if leave < 0 {
		return false
	}
	m.exchange(leave, step)
	m.basic[leave] = enter
	for _, j := range m.changed {
		m.dual[j] -= float64(excess * m.inverse[leave][j])
	}
	return true
}

func (m *master) lowest() int {
	low := 0
	for i := range m.dual {
		if m.dual[i]*m.demand[i] < m.dual[low]*m.demand[low] {
			low = i
		}
	}
	return low
}

func (m *master) exchange(leave int, step float64) {
	out := m.inverse[leave]
	pivot := m.scratch[leave]
	m.changed = m.changed[:0]
	for j := range out {
		if out[j] != 0 {
			out[j] /= pivot
			m.changed = append(m.changed, j)
		}
	}
	for i, d := range m.scratch {
		if i == leave || d == 0 {
			continue
		}
		in := m.inverse[i]
		for _, j := range m.changed {
			in[j] -= float64(d * out[j])
		}
		m.level[i] = math.Max(m.level[i]-float64(step*d), 0)
	}
	m.level[leave] = step
}
