package cover

// row is one constraint: the demand of a group for a resource.
type row struct {
	group, resource int // group is an index in part.groups
	demand          float64
	least           float64 // amount to cover at least, so that no level is zero
}

// tableau is the state of a revised simplex with an explicit inverse of the basis. Columns are
// priced when needed and never stored: each supply stands for as many columns as there are ways to
// assign its resources to groups.
//
// If the sets of groups hardly overlap, a step changes few duals. So what depends on the duals is
// kept by set and updated.
type tableau struct {
	*part
	rows    []row
	rowOf   []int       // by group and resource; -1 if there is no row
	paid    []float64   // by group and resource: the dual of its row, 0 if there is none
	inverse [][]float64 // nil until the first step, because the first basis is diagonal
	level   []float64   // by basic column
	cost    []float64   // by basic column
	amount  []float64   // by basic column, in its row; used before the first step
	supply  []int       // by basic column: its supply, or surplus
	dual    []float64   // by row
	steps   int

	setsOf [][]int // by group: the sets that contain it
	blocks []block // by set

	direction []float64 // scratch space
	changed   []int     // scratch space: where a step changes the duals
}

// hair is the share of a row's first demand that stays covered when its demand drops to zero. Steps
// over levels of zero would gain nothing and could cycle.
const hair = 1e-7

// surplus stands for a column that gives away the excess of one row.
const surplus = -1

// newTableau starts from a diagonal basis: each row is covered alone, by the cheapest supply for
// it.
func newTableau(in *part) *tableau {
	t := &tableau{part: in, rowOf: make([]int, len(in.groups)*in.dims), paid: make([]float64, len(in.groups)*in.dims)}
	cheapest := in.cheapest()
	n := 0
	for i := range t.rowOf {
		t.rowOf[i] = -1
		if in.demand[in.groups[i/in.dims]][i%in.dims] > 0 && cheapest[i] != noOffer {
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

// cheapest returns the cheapest offer by group and resource.
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

// price finds the highest ratio of value to price of any supply, and the block of that supply. The
// block is -1 if no supply is worth more than it costs; then the basis is optimal.
//
// A supply leaves unused what no row pays for, so no columns are needed that give surplus away:
// while a dual is negative, some supply of the basis is worth more than its price, because it need
// not serve that row.
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

// bound returns the Farley bound of the current duals. Divided by the highest ratio of value to
// price among the supplies, they are feasible, so their objective is a bound whatever rounding did
// to the tableau.
func (t *tableau) bound(ratio float64) float64 {
	sum := 0.0
	for i, r := range t.rows {
		sum += float64(max(t.dual[i], 0) * r.demand)
	}
	// The factor keeps rounding from lifting the result above the true bound.
	return sum / max(ratio, 1) * (1 - 1e-9)
}

// store converts the duals to prices at which no supply is worth more than its price.
func (t *tableau) store(prices [][]float64, ratio float64) {
	for i, r := range t.rows {
		if r.demand == 0 {
			continue
		}
		prices[t.groups[r.group]][r.resource] = max(t.dual[i], 0) / max(ratio, 1)
	}
}
