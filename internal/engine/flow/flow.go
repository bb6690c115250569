package flow

import (
	"math"
	"slices"
)

// Problem is a supply of things, the room of places, and the gain of each assignment.
type Problem struct {
	// Supply is, by row, the number of things; not negative.
	Supply []int
	// Room is, by column, the number of things that it can take; not negative.
	Room []int
	// Gain is, by row and column, the gain of one thing there. NaN means that it may not go there.
	// A thing that goes nowhere gains nothing.
	Gain [][]float64
	// Claim is, by row, how strongly its things require a column, whatever the gain: a row with a
	// higher claim takes precedence over all rows with a lower one. Nil means None for all rows.
	Claim []Claim
}

// Claim is how strongly the things of a row require a column.
type Claim int

const (
	// None assigns a thing only where it gains something.
	None Claim = iota
	// Wants assigns a thing even at a loss.
	Wants
	// Needs is as Wants, and takes precedence over it.
	Needs
)

// Assign returns, by row and column, how many things go there. It assigns as many things as
// possible of the rows that need a column, then of those that want one, and among all ways to do
// that chooses the one with the highest gain. Equal problems give equal answers; of equally good
// answers it tends to prefer earlier rows and columns.
//
// Gains are precise to about twelve digits of the greatest gain.
//
// It inserts the rows one by one. Each insertion follows the path of exchanges with the highest
// gain, and moves as many things at a time as the path has room for. A path takes O(columns^3) at
// worst and O(columns^2) as a rule, plus O(things assigned to its columns x columns) to prepare the
// next. There are at most as many paths as things, and usually about as many as rows and columns.
func Assign(p *Problem) [][]int {
	s := newSearch(p)
	for row, n := range p.Supply {
		for n > 0 {
			n -= s.insert(row, n)
		}
	}
	return s.flow
}

// nowhere is a gain below all others.
const nowhere = math.MinInt64

// penalties are, by claim, the loss of a thing that goes nowhere. Each is larger than all gains
// along a path together with the smaller penalties.
var penalties = [...]int64{None: 0, Wants: -1 << 51, Needs: -1 << 53}

// search is the state of one call of Assign.
type search struct {
	p       *Problem
	columns int
	gain    [][]int64 // as in the problem, as integers; the last column means to go nowhere
	flow    [][]int
	room    []int
	on      [][]int // by column: the rows that have things there

	// By two columns: the highest gain of moving one thing from the first to the second, and the
	// row of that thing.
	exchange [][]int64
	mover    [][]int

	reached []int64 // by column: the gain of the best path there
	before  []int   // by column: the column before it on that path, -1 if it is the first
}

func newSearch(p *Problem) *search {
	n := len(p.Room)
	s := &search{
		p: p, columns: n, room: slices.Clone(p.Room), flow: table[int](len(p.Supply), n), on: make([][]int, n),
		exchange: table[int64](n, n+1), mover: table[int](n, n+1), reached: make([]int64, n+1), before: make([]int, n+1),
	}
	most := 0.0
	for _, row := range p.Gain {
		for _, gain := range row {
			if size := math.Abs(gain); size > most && !math.IsInf(gain, 0) {
				most = size
			}
		}
	}
	// A path has at most one gain and one loss for each column.
	scale := float64(int64(1)<<49) / float64(n+1)
	scale = min(scale, 1<<40)
	s.gain = table[int64](len(p.Supply), n+1)
	for r, row := range p.Gain {
		s.gain[r][n] = s.nothing(r)
		for c, gain := range row {
			s.gain[r][c] = nowhere
			switch {
			case math.IsNaN(gain) || math.IsInf(gain, 0) || p.Room[c] == 0:
			case most == 0:
				s.gain[r][c] = 0
			default:
				s.gain[r][c] = int64(math.Round(gain / most * scale))
			}
		}
	}
	for c := range n {
		s.prepare(c)
	}
	return s
}

// nothing returns the gain of a thing of a row when it goes nowhere: zero, or a penalty.
func (s *search) nothing(row int) int64 {
	if s.p.Claim == nil {
		return penalties[None]
	}
	return penalties[s.p.Claim[row]]
}

// insert assigns up to n things of a row along one path, and returns how many.
func (s *search) insert(row, n int) int {
	s.explore(row)
	end, best := s.columns, s.reached[s.columns]
	for c, gain := range s.reached[:s.columns] {
		if s.room[c] > 0 && gain > best {
			end, best = c, gain
		}
	}
	// Find how many things can move along the path, and move them.
	if end < s.columns {
		n = min(n, s.room[end])
	}
	for c := end; s.before[c] >= 0; c = s.before[c] {
		n = min(n, s.flow[s.mover[s.before[c]][c]][s.before[c]])
	}
	if end < s.columns {
		s.room[end] -= n
	}
	var touched []int
	for c := end; c >= 0; c = s.before[c] {
		r := row
		if from := s.before[c]; from >= 0 {
			r = s.mover[from][c]
			s.add(r, from, -n)
		}
		s.add(r, c, n)
		touched = append(touched, c)
	}
	for _, c := range touched {
		if c < s.columns {
			s.prepare(c)
		}
	}
	return n
}

// explore finds the best path from a row to each column: the thing goes to a full column, from
// which another thing moves on to the next column.
func (s *search) explore(row int) {
	copy(s.reached, s.gain[row])
	for c := range s.before {
		s.before[c] = -1
	}
	// Because no cycle has a gain, no best path is longer.
	for again, pass := true, 0; again && pass <= s.columns; pass++ {
		again = false
		for from := range s.columns {
			if s.reached[from] == nowhere || s.room[from] > 0 {
				continue
			}
			for to, gain := range s.exchange[from] {
				if gain != nowhere && s.reached[from]+gain > s.reached[to] {
					s.reached[to], s.before[to] = s.reached[from]+gain, from
					again = true
				}
			}
		}
	}
}

// add assigns n more things of a row to a column, or fewer if n is negative.
func (s *search) add(row, column, n int) {
	if column == s.columns {
		return
	}
	f := &s.flow[row][column]
	if *f == 0 {
		s.on[column] = append(s.on[column], row)
	}
	if *f += n; *f == 0 {
		i := slices.Index(s.on[column], row)
		s.on[column] = slices.Delete(s.on[column], i, i+1)
	}
}

// prepare computes the best exchanges from a column to all others.
func (s *search) prepare(from int) {
	for to := range s.exchange[from] {
		s.exchange[from][to], s.mover[from][to] = nowhere, -1
	}
	for _, row := range s.on[from] {
		for to, gain := range s.gain[row] {
			if to == from || gain == nowhere {
				continue
			}
			if more := gain - s.gain[row][from]; s.mover[from][to] < 0 || more > s.exchange[from][to] {
				s.exchange[from][to], s.mover[from][to] = more, row
			}
		}
	}
}

// table returns a zeroed rows x columns slice of slices.
func table[T any](rows, columns int) [][]T {
	out, all := make([][]T, rows), make([]T, rows*columns)
	for i := range out {
		out[i] = all[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return out
}
