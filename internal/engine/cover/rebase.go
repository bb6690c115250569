package cover

// isNear sets another demand of the rows, and says whether its value at the current duals is close
// to that of the demand before.
func (t *tableau) isNear(demand [][]float64) bool {
	before, after := 0.0, 0.0
	for i := range t.rows {
		r := &t.rows[i]
		before += float64(t.dual[i] * r.demand)
		r.demand = demand[t.groups[r.group]][r.resource]
		after += float64(t.dual[i] * r.demand)
	}
	return after >= before*nearby && before >= after*nearby
}

// rebase makes the basis a cover of the new demand. It returns false if rounding prevents that.
//
// Every supply of the basis is still worth its price, but its level may be negative. Each such
// column is replaced by the surplus of the row for which that costs least. This is a dual simplex
// over the columns of the basis and the surpluses. It ends, because supplies of the basis reach
// every row.
func (t *tableau) rebase() bool {
	if t.inverse == nil {
		for i := range t.rows {
			t.level[i] = t.rows[i].covered() / t.amount[i]
		}
		return true
	}
	most := 0.0
	for i, row := range t.inverse {
		t.level[i] = 0
		for j, v := range row {
			t.level[i] += float64(v * t.rows[j].covered())
		}
		most = max(most, t.level[i])
	}
	for range 4 * len(t.rows) {
		leave := t.lowest()
		if t.level[leave] >= -1e-9*most {
			for i, level := range t.level {
				t.level[i] = max(level, 0)
			}
			return true
		}
		if !t.giveWay(leave) {
			return false
		}
	}
	return false
}

// covered returns the amount that a row must get.
func (r *row) covered() float64 { return max(r.demand, r.least) }

// lowest returns the basic column with the lowest level.
func (t *tableau) lowest() int {
	low := 0
	for i, level := range t.level {
		if level < t.level[low] {
			low = i
		}
	}
	return low
}

// giveWay replaces a basic column of negative level by the surplus of a row.
func (t *tableau) giveWay(leave int) bool {
	enter, least := -1, 0.0
	for j, v := range t.inverse[leave] {
		if v <= 1e-12 {
			continue
		}
		if ratio := max(t.dual[j], 0) / v; enter < 0 || ratio < least {
			enter, least = j, ratio
		}
	}
	if enter < 0 {
		return false
	}
	for i, row := range t.inverse {
		t.direction[i] = -row[enter]
	}
	excess := -t.dual[enter]
	t.exchange(leave, t.level[leave]/t.direction[leave])
	t.cost[leave], t.supply[leave] = 0, surplus
	t.moveDuals(leave, excess)
	return true
}
