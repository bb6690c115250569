package cover

// Maximize makes the steps of a primal simplex on a dense tableau: a row for each constraint,
// with what it allows in the last column, and below them what one more of each column would
// lose. Its basis starts with the slacks, and at returns a row. Gains below a billionth of
// scale are none. It stops after ten steps for each row, at the optimum or not.
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
