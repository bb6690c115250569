package cover

import "math"

// row is one constraint: the demand of a group for a resource.
type row struct {
	group, resource int // the group as an index into part.groups
	demand          float64
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
	rowOf   [][]int     // by group and resource; -1 where there is no row
	inverse [][]float64 // nil until the first step: it starts as a diagonal
	level   []float64   // of each basic column
	cost    []float64   // of each basic column
	amount  []float64   // of each basic column, in its row; before the first step
	supply  []int       // of each basic column, an index into part.supplies
	dual    []float64   // of each row
	steps   int

	setsOf [][]int   // by group: the sets that hold it
	blocks []block   // by set
	ratio  []float64 // by supply: value over price

	direction []float64 // scratch
	changed   []int     // scratch: where a step changes the duals
}

// newTableau starts from a diagonal basis: each row is covered alone, by the
// supply that is cheapest for it.
func newTableau(in *part) *tableau {
	t := &tableau{part: in}
	cheapest := in.cheapest()
	for g, offers := range cheapest {
		t.rowOf = append(t.rowOf, make([]int, len(offers)))
		for r, o := range offers {
			t.rowOf[g][r] = -1
			demand := in.p.Demand[in.groups[g]][r]
			if demand <= 0 || math.IsInf(o.unit, 1) {
				continue
			}
			t.rowOf[g][r] = len(t.rows)
			t.rows = append(t.rows, row{g, r, demand})
			t.level = append(t.level, demand/o.amount)
			t.cost = append(t.cost, in.at(o.supply).Price)
			t.amount = append(t.amount, o.amount)
			t.supply = append(t.supply, o.supply)
			t.dual = append(t.dual, o.unit)
		}
	}
	t.direction = make([]float64, len(t.rows))
	t.setsOf = make([][]int, len(in.groups))
	for s, groups := range in.serves {
		for _, g := range groups {
			t.setsOf[g] = append(t.setsOf[g], s)
		}
	}
	t.blocks = newBlocks(in, t.rowOf)
	t.ratio = make([]float64, len(in.supplies))
	return t
}

// offer is the cheapest way to cover one row alone.
type offer struct {
	unit, amount float64
	supply       int // index into part.supplies
}

// cheapest finds the offer for each group and resource; its unit is infinite
// where nobody sells the resource to the group.
func (in *part) cheapest() [][]offer {
	bySet := noOffers(len(in.serves), in.dims())
	for i, s := range in.set {
		supply := in.at(i)
		for r, a := range supply.Amount {
			if a > 0 && supply.Price/a < bySet[s][r].unit {
				bySet[s][r] = offer{supply.Price / a, a, i}
			}
		}
	}
	byGroup := noOffers(len(in.groups), in.dims())
	for s, groups := range in.serves {
		for _, g := range groups {
			for r, o := range bySet[s] {
				if o.unit < byGroup[g][r].unit {
					byGroup[g][r] = o
				}
			}
		}
	}
	return byGroup
}

func noOffers(n, dims int) [][]offer {
	out := make([][]offer, n)
	for i := range out {
		out[i] = make([]offer, dims)
		for r := range out[i] {
			out[i][r].unit = math.Inf(1)
		}
	}
	return out
}

// price finds the supply with the highest ratio of value to price, and that
// ratio. The supply is -1 if none is worth more than it costs: then the basis
// is optimal.
//
// A supply leaves unused what no row pays for, so there is no need for columns
// that give surplus away: while a dual is negative, some supply of the basis is
// worth more than its price, as it need not serve that row.
func (t *tableau) price() (enter int, ratio float64) {
	for s := range t.blocks {
		if b := &t.blocks[s]; b.stale {
			b.appraise(t.dual, t.ratio)
		}
	}
	enter = -1
	for i, r := range t.ratio {
		if r > ratio {
			enter, ratio = i, r
		}
	}
	const tolerance = 1e-7
	if ratio <= 1+tolerance {
		enter = -1
	}
	return enter, ratio
}

// bound is the Farley bound of the present duals: divided by the worst ratio
// of value to price among the supplies they are feasible, hence their
// objective is a bound whatever rounding did to the tableau.
func (t *tableau) bound(ratio float64) float64 {
	sum := 0.0
	for i, r := range t.rows {
		sum += float64(math.Max(t.dual[i], 0) * r.demand)
	}
	// A hair is taken off so that rounding never lifts it over the truth.
	return sum / math.Max(ratio, 1) * (1 - 1e-9)
}

// store writes the duals down as prices that no supply can undercut.
func (t *tableau) store(prices [][]float64, ratio float64) {
	for i, r := range t.rows {
		prices[t.groups[r.group]][r.resource] = math.Max(t.dual[i], 0) / math.Max(ratio, 1)
	}
}
