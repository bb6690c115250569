package cover

// Maximize runs a primal simplex on a dense tableau. The tableau has a row for each constraint,
// with its right-hand side in the last column. The row after these has, by column, the negative
// gain of one more unit. at returns a row. The basis starts with the slacks. Gains below a
// billionth of scale count as zero. Maximize stops at the optimum, or after ten steps for each row.
func Maximize(at func(row int) []float64, rows int, scale float64) {
	gains := at(rows)
	width := len(gains)
	for range 10 * (rows + 1) {
		enter := lowestGain(gains[:width-1], scale)
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

// eliminate turns column enter into a unit vector with its one in row leave.
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
