package cover

const (
	// nearby is how much of what was demanded before, or the other way round, a
	// demand has to be worth to be reached from there.
	nearby = 0.5
	// farthest is after how many steps a series begins anew, so that rounding does
	// not pile up.
	farthest = 2000
)

// Series covers demands one after the other, each from where the last one ended: where
// they are alike, that takes a few steps instead of hundreds. It is for one goroutine.
type Series struct {
	market   *Market
	tableaus []*tableau
	asked    []bool // by group and resource: there is a row, or nobody sells it
}

// Series begins one.
func (m *Market) Series() *Series { return &Series{market: m} }

// Cover is Market.Cover. Where several covers are cheapest, or maxPivots are not
// enough, it may find another one.
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

// steps is how many there were since the series began.
func (s *Series) steps() int {
	sum := 0
	for _, t := range s.tableaus {
		sum += t.steps
	}
	return sum
}

// begin starts anew.
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

// reaches moves on to a demand, and is false if the series has to begin anew for it.
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
