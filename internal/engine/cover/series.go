package cover

const (
	// nearby is the least ratio between the values of two consecutive demands, in either direction,
	// for which the second starts from the first.
	nearby = 0.5
	// farthest is the number of steps after which a series starts anew, so that rounding errors do
	// not accumulate.
	farthest = 2000
)

// Series covers demands one after the other, each starting where the last one ended: for similar
// demands that takes a few steps instead of hundreds. It must not be used by several goroutines at
// a time.
type Series struct {
	market   *Market
	tableaus []*tableau
	asked    []bool // by group and resource: there is a row, or no supply has the resource
}

// Series returns a new Series.
func (m *Market) Series() *Series { return &Series{market: m} }

// Cover is Market.Cover. If several covers are cheapest, or maxPivots are not enough, it may find a
// different one.
func (s *Series) Cover(demand [][]float64, maxPivots int) Solution {
	out := s.market.solution(demand)
	out.Pivots = -s.steps()
	if !s.reaches(demand) {
		s.begin(demand)
		out.Pivots = 0
	}
	for _, t := range s.tableaus {
		t.solve(maxPivots, &out)
	}
	out.Pivots += s.steps()
	return out
}

// steps returns the number of steps since the series started.
func (s *Series) steps() int {
	sum := 0
	for _, t := range s.tableaus {
		sum += t.steps
	}
	return sum
}

// begin starts anew with a demand.
func (s *Series) begin(demand [][]float64) {
	s.tableaus, s.asked = s.tableaus[:0], s.asked[:0]
	for _, wants := range demand {
		for _, want := range wants {
			s.asked = append(s.asked, want > 0)
		}
	}
	for _, part := range s.market.split(demand) {
		s.tableaus = append(s.tableaus, newTableau(part))
	}
}

// reaches moves the tableaus on to a demand. It returns false if the series must start anew.
func (s *Series) reaches(demand [][]float64) bool {
	if len(s.tableaus) == 0 || s.steps() > farthest {
		return false
	}
	asked := s.asked
	for _, wants := range demand {
		for r, want := range wants {
			if want > 0 && !asked[r] {
				return false
			}
		}
		asked = asked[len(wants):]
	}
	for _, t := range s.tableaus {
		if !t.isNear(demand) || !t.rebase() {
			return false
		}
	}
	return true
}
