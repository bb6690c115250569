package cover

// row is one constraint: the demand of a group for a resource.
type row struct {
	group, resource int // the group as an index into part.groups
	demand          float64
	least           float64 // what is covered at least, so that no level is zero
}

// tableau is the state of a revised simplex with an explicit inverse of the
// basis. Columns are priced when needed and never stored: each supply stands
// for as many columns as there are ways to hand its resources to groups.
//
// Where the sets of groups hardly overlap, a step changes few duals. So what
// follows from the duals is kept, by set, and only brought up to date.
type tableau struct {
	*part
	rows    []row
	rowOf   []int       // by group and resource; -1 where there is no row
	paid    []float64   // by group and resource: the dual of its row, 0 where there is none
	inverse [][]float64 // nil until the first step: it starts as a diagonal
	level   []float64   // of each basic column
	cost    []float64   // of each basic column
	amount  []float64   // of each basic column, in its row; before the first step
	supply  []int       // of each basic column, or surplus
	dual    []float64   // of each row
	steps   int

	setsOf [][]int // by group: the sets that hold it
	blocks []block // by set

	direction []float64 // scratch
	changed   []int     // scratch: where a step changes the duals
}

// hair is how much of what a row demanded at first is covered when it demands nothing
// any more. Steps over levels of zero would gain nothing, and might go in circles.
const hair = 1e-7

// surplus stands for a column that gives away what one row has too much of.
const surplus = -1

// newTableau starts from a diagonal basis: each row is covered alone, by the
// supply that is cheapest for it.
func newTableau(in *part) *tableau {
	t := &tableau{part: in, rowOf: make([]int, len(in.groups)*in.dims), paid: make([]float64, len(in.groups)*in.dims)}
	cheapest := in.cheapest()
	n := 0
	for i := range t.rowOf {
		t.rowOf[i] = -1
		if in.demand[in.groups[i/in.dims]][i%in.dims] > 0 && cheapest[i] != nobody {
			t.rowOf[i] = n
			n++
		}
	}
	t.rows, t.supply = make([]row, 0, n), make([]int, 0, n)
	t.level, t.cost, t.amount, t.dual = make([]float64, 0, n), make([]float64, 0, n), make([]float64, 0, n), make([]float64, 0, n)
	for i := range t.rowOf {
		if t.rowOf[i] < 0 {
			continue
		}
		g, r, o := i/in.dims, i%in.dims, &cheapest[i]
		demand := in.demand[in.groups[g]][r]
		t.rows = append(t.rows, row{g, r, demand, demand * hair})
		t.level = append(t.level, demand/o.amount)
		t.cost = append(t.cost, in.supplies[o.supply].Price)
		t.amount = append(t.amount, o.amount)
		t.supply = append(t.supply, o.supply)
		t.dual = append(t.dual, o.unit)
		t.paid[i] = o.unit
	}
	t.direction = make([]float64, len(t.rows))
	t.setsOf = make([][]int, len(in.groups))
	for s, groups := range in.serves {
		for _, g := range groups {
			t.setsOf[g] = append(t.setsOf[g], s)
		}
	}
	t.blocks = newBlocks(in)
	return t
}

// cheapest finds the offer for each group and resource.
func (in *part) cheapest() []offer {
	out := noOffers(len(in.groups) * in.dims)
	here := make([]offer, in.dims)
	for s, groups := range in.serves {
		copy(here, in.goods[s][0].cheapest)
		for _, g := range in.goods[s][1:] {
			for r, o := range g.cheapest {
				here[r] = here[r].or(o)
			}
		}
		for _, g := range groups {
			for r, o := range here {
				if i := g*in.dims + r; o.unit < out[i].unit {
					out[i] = o
				}
			}
		}
	}
	return out
}

// price finds the block of the supply with the highest ratio of value to price, and
// that ratio. The block is -1 if no supply is worth more than it costs: then the
// basis is optimal.
//
// A supply leaves unused what no row pays for, so there is no need for columns
// that give surplus away: while a dual is negative, some supply of the basis is
// worth more than its price, as it need not serve that row.
func (t *tableau) price() (in int, ratio float64) {
	in = -1
	for s := range t.blocks {
		b := &t.blocks[s]
		if b.stale {
			b.appraise(t)
		}
		if b.ratio > ratio || b.ratio == ratio && in >= 0 && b.supply < t.blocks[in].supply {
			in, ratio = s, b.ratio
		}
	}
	const tolerance = 1e-7
	if ratio <= 1+tolerance {
		in = -1
	}
	return in, ratio
}

// bound is the Farley bound of the present duals: divided by the worst ratio
// of value to price among the supplies they are feasible, hence their
// objective is a bound whatever rounding did to the tableau.
func (t *tableau) bound(ratio float64) float64 {
	sum := 0.0
	for i, r := range t.rows {
		sum += float64(max(t.dual[i], 0) * r.demand)
	}
	// A hair is taken off so that rounding never lifts it over the truth.
	return sum / max(ratio, 1) * (1 - 1e-9)
}

// store writes the duals down as prices that no supply can undercut.
func (t *tableau) store(prices [][]float64, ratio float64) {
	for i, r := range t.rows {
		if r.demand == 0 {
			continue
		}
		prices[t.groups[r.group]][r.resource] = max(t.dual[i], 0) / max(ratio, 1)
	}
}
