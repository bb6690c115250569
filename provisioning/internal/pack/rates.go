package pack

// rate finds what each resource of a node is worth if pods may be cut in
// pieces: the duals of the fractional knapsack. They make the sharpest ceiling
// of their kind, and the best measure of how well a pod uses the node.
//
// It is a primal simplex on a dense tableau with a row for each resource, whose
// basis starts with the slacks. Any rates above zero give a valid ceiling, so
// that it may stop early.
func (k *knapsack) rate(capacity []int64) {
	rows, columns := len(capacity), len(k.items)
	width := columns + rows + 1
	k.plane = append(k.plane[:0], make([]float64, (rows+1)*width)...)
	at := func(i int) []float64 { return k.plane[i*width : (i+1)*width] }
	gains := at(rows)
	highest := 0.0
	for j := range k.items {
		for r, want := range k.items[j].request {
			if capacity[r] > 0 {
				at(r)[j] = float64(want) / float64(capacity[r])
			}
		}
		gains[j] = -k.items[j].worth
		highest = max(highest, k.items[j].worth)
	}
	for r := range rows {
		at(r)[columns+r] = 1
		if capacity[r] > 0 {
			at(r)[width-1] = 1
		}
	}
	for range 10 * (rows + 1) {
		enter := lowestGain(gains[:width-1], highest)
		if enter < 0 {
			break
		}
		leave := -1
		for i := range rows {
			row := at(i)
			if row[enter] > 1e-12 && (leave < 0 || row[width-1]*at(leave)[enter] < at(leave)[width-1]*row[enter]) {
				leave = i
			}
		}
		if leave < 0 {
			break
		}
		eliminate(at, rows, leave, enter)
	}
	for r := range rows {
		// A floor keeps every pod's charge above zero.
		k.rates[r] = max(gains[columns+r], 1e-6*highest) / float64(max(capacity[r], 1))
	}
}

func lowestGain(gains []float64, scale float64) int {
	low := -1
	for j, g := range gains {
		if g < -1e-9*scale && (low < 0 || g < gains[low]) {
			low = j
		}
	}
	return low
}

// eliminate makes column enter a unit vector with its one in row leave.
func eliminate(at func(int) []float64, rows, leave, enter int) {
	pivot := at(leave)
	by := pivot[enter]
	for j := range pivot {
		pivot[j] /= by
	}
	for i := 0; i <= rows; i++ {
		row := at(i)
		if i == leave || row[enter] == 0 {
			continue
		}
		by := row[enter]
		for j, v := range pivot {
			row[j] -= float64(by * v)
		}
	}
}
