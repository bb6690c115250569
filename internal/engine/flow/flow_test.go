package flow_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/flow"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// TestAssignIsOptimal compares with all ways to assign tiny problems.
func TestAssignIsOptimal(t *testing.T) {
	exchanged, seeds := 0, testlong.Seeds(5000, 20_000)
	for seed := range uint64(seeds) {
		p := tiny(seed)
		got := flow.Assign(p)
		check(t, p, got, seed)
		want := best(p, 0, append([]int(nil), p.Room...))
		require.Equal(t, want, worth(p, got), "seed %d: %+v gives %v", seed, p, got)
		if want != worth(p, greedy(p)) {
			exchanged++
		}
	}
	require.Greater(t, exchanged, seeds/20, "problems that taking the best pair first gets wrong")
}

// result is what an assignment is worth, in the order of importance.
type result [3]float64

func (r result) less(o result) bool {
	for i := range r {
		if r[i] != o[i] {
			return r[i] < o[i]
		}
	}
	return false
}

// worth adds up what things gain, exactly: all gains are small integers.
func worth(p *flow.Problem, got [][]int) result {
	var out result
	for r := range got {
		for c, n := range got[r] {
			if n > 0 {
				out = add(out, p, r, c, n)
			}
		}
	}
	return out
}

func add(to result, p *flow.Problem, row, column, n int) result {
	switch p.Claim[row] {
	case flow.Needs:
		to[0] += float64(n)
	case flow.Wants:
		to[1] += float64(n)
	}
	to[2] += float64(n) * p.Gain[row][column]
	return to
}

// check holds an assignment against the problem.
func check(t *testing.T, p *flow.Problem, got [][]int, seed uint64) {
	t.Helper()
	used := make([]int, len(p.Room))
	for r, row := range got {
		sum := 0
		for c, n := range row {
			require.GreaterOrEqual(t, n, 0, "seed %d", seed)
			require.False(t, n > 0 && math.IsNaN(p.Gain[r][c]), "seed %d: row %d is in column %d", seed, r, c)
			used[c] += n
			sum += n
		}
		require.LessOrEqual(t, sum, p.Supply[r], "seed %d", seed)
	}
	for c, n := range used {
		require.LessOrEqual(t, n, p.Room[c], "seed %d", seed)
	}
}

// best tries every column, and none, for every thing.
func best(p *flow.Problem, thing int, room []int) result {
	row := 0
	for row < len(p.Supply) && thing >= p.Supply[row] {
		thing -= p.Supply[row]
		row++
	}
	if row == len(p.Supply) {
		return result{}
	}
	rest := *p
	rest.Supply = append([]int(nil), p.Supply...)
	clear(rest.Supply[:row])
	rest.Supply[row] -= thing + 1
	out := best(&rest, 0, room)
	for c := range room {
		if room[c] > 0 && !math.IsNaN(p.Gain[row][c]) {
			room[c]--
			if with := add(best(&rest, 0, room), p, row, c, 1); out.less(with) {
				out = with
			}
			room[c]++
		}
	}
	return out
}

// greedy takes the most important, then the best pair again and again.
func greedy(p *flow.Problem) [][]int {
	room, left := append([]int(nil), p.Room...), append([]int(nil), p.Supply...)
	out := make([][]int, len(left))
	for r := range out {
		out[r] = make([]int, len(room))
	}
	for {
		row, column, top := -1, -1, result{}
		for r := range left {
			for c := range room {
				if one := add(result{}, p, r, c, 1); left[r] > 0 && room[c] > 0 && top.less(one) {
					row, column, top = r, c, one
				}
			}
		}
		if row < 0 {
			return out
		}
		out[row][column]++
		left[row]--
		room[column]--
	}
}

// tiny makes up a problem of a few things.
func tiny(seed uint64) *flow.Problem {
	state := seed
	below := func(n int) int {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return int((z ^ z>>31) % uint64(n))
	}
	p := &flow.Problem{}
	for range below(3) + 1 {
		p.Room = append(p.Room, below(3))
	}
	for range below(4) + 1 {
		p.Supply = append(p.Supply, below(3))
		p.Claim = append(p.Claim, []flow.Claim{flow.None, flow.None, flow.Wants, flow.Needs}[below(4)])
		var row []float64
		for range p.Room {
			switch below(4) {
			case 0:
				row = append(row, math.NaN())
			default:
				row = append(row, float64(below(12)-2))
			}
		}
		p.Gain = append(p.Gain, row)
	}
	return p
}

// TestAssignLarge: thousands of rows and a hundred columns are no trouble, and
// no exchange of two things is left that gains.
func TestAssignLarge(t *testing.T) {
	const rows, columns = 1000, 60
	p := &flow.Problem{}
	for c := range columns {
		p.Room = append(p.Room, 1+c%7*3)
	}
	for r := range rows {
		p.Supply = append(p.Supply, 1+r%5)
		p.Claim = append(p.Claim, flow.None)
		row := make([]float64, columns)
		for c := range row {
			row[c] = float64((r*7919+c*104729)%1000 + 1)
		}
		p.Gain = append(p.Gain, row)
	}
	got := flow.Assign(p)
	check(t, p, got, 0)
	for r := range rows {
		for c := range columns {
			for other := range rows {
				if got[r][c] > 0 && got[other][c] == 0 && sum(got[other]) < p.Supply[other] {
					require.LessOrEqual(t, p.Gain[other][c], p.Gain[r][c])
				}
			}
		}
	}
}

func sum(list []int) int {
	out := 0
	for _, n := range list {
		out += n
	}
	return out
}
