package cover

// block is the supplies that serve one set of groups. They are priced together:
// a resource of theirs goes to the row that pays most for it, whichever supply it
// is of.
type block struct {
	resources []int     // that some row of the set demands, ascending
	rows      []int     // the rows of the set, resource by resource
	ends      []int     // by resource: the end of its rows
	best      []int     // by resource: the dearest row, -1 if none pays
	dual      []float64 // by resource: what that pays

	supplies []int     // of the block, indices into part.supplies
	amounts  []float64 // of each supply, resource by resource
	prices   []float64 // by supply
	stale    bool      // a dual has changed since the block was priced
}

// newBlocks makes the blocks of a part, given which row is of which group and
// resource.
func newBlocks(in *part, rowOf [][]int) []block {
	out := make([]block, len(in.serves))
	members := make([]int, len(out))
	for _, s := range in.set {
		members[s]++
	}
	dims := in.dims()
	ints, floats := make([]int, 3*dims*len(out)), make([]float64, dims*len(out))
	for s, groups := range in.serves {
		b := &out[s]
		b.stale = true
		b.rows = make([]int, 0, dims*len(groups))
		b.resources, b.ends, b.best = ints[:0:dims], ints[dims:dims:2*dims], ints[2*dims:2*dims:3*dims]
		ints = ints[3*dims:]
		for r := range dims {
			before := len(b.rows)
			for _, g := range groups {
				if i := rowOf[g][r]; i >= 0 {
					b.rows = append(b.rows, i)
				}
			}
			if len(b.rows) > before {
				b.resources = append(b.resources, r)
				b.ends = append(b.ends, len(b.rows))
			}
		}
		n := len(b.resources)
		b.best, b.dual, floats = b.best[:n], floats[:n:n], floats[n:]
		b.supplies = make([]int, 0, members[s])
		b.prices, b.amounts = make([]float64, 0, members[s]), make([]float64, 0, members[s]*n)
	}
	for i, s := range in.set {
		b, supply := &out[s], in.at(i)
		b.supplies = append(b.supplies, i)
		b.prices = append(b.prices, supply.Price)
		for _, r := range b.resources {
			b.amounts = append(b.amounts, supply.Amount[r])
		}
	}
	return out
}

// appraise works out who pays most at the given duals, and by supply what it is
// worth over its price.
func (b *block) appraise(duals, ratio []float64) {
	b.stale = false
	from := 0
	for k, end := range b.ends {
		b.best[k], b.dual[k] = -1, 0
		for _, i := range b.rows[from:end] {
			if duals[i] > b.dual[k] {
				b.best[k], b.dual[k] = i, duals[i]
			}
		}
		from = end
	}
	n := len(b.dual)
	for k, i := range b.supplies {
		ratio[i] = worth(b.dual, b.amounts[k*n:(k+1)*n]) / b.prices[k]
	}
}

// value is what a supply of the block fetches.
func (b *block) value(supply *Supply) float64 {
	sum := 0.0
	for k, d := range b.dual {
		sum += float64(d * supply.Amount[b.resources[k]])
	}
	return sum
}

// worth is what amounts fetch at some duals.
func worth(duals, amounts []float64) float64 {
	sum := 0.0
	for k, d := range duals {
		sum += float64(d * amounts[k])
	}
	return sum
}
