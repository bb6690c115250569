package cover

// block is the supplies that serve one set of groups. They are priced together: each resource of a
// supply goes to the row that pays most for it, whichever supply it is.
type block struct {
	groups []int   // the set
	goods  []goods // what is sold to the set

	stale  bool      // a dual has changed since the block was priced
	best   []int     // by resource: the row that pays most, -1 if no row pays
	dual   []float64 // by resource: what that row pays
	paying []int     // resources for which some row pays
	ratio  float64   // the highest value / price of a supply
	supply int       // the first supply with that ratio
}

// newBlocks returns the blocks of a part.
func newBlocks(in *part) []block {
	out := make([]block, len(in.serves))
	best, paying, dual := make([]int, in.dims*len(out)), make([]int, in.dims*len(out)), make([]float64, in.dims*len(out))
	for s := range out {
		from, to := s*in.dims, (s+1)*in.dims
		out[s] = block{groups: in.serves[s], goods: in.goods[s], stale: true, best: best[from:to], dual: dual[from:to], paying: paying[from:from:to]}
	}
	return out
}

// appraise finds the rows that pay most at the current duals, and the supply with the highest ratio
// of value to price.
func (b *block) appraise(t *tableau) {
	b.stale = false
	dual, best := b.dual, b.best[:len(b.dual)]
	for r := range dual {
		best[r], dual[r] = -1, 0
	}
	for _, g := range b.groups {
		paid, rowOf := t.paid[g*t.dims:][:len(dual)], t.rowOf[g*t.dims:][:len(dual)]
		for r, d := range paid {
			if d > dual[r] {
				best[r], dual[r] = rowOf[r], d
			}
		}
	}
	b.paying = b.paying[:0]
	for r, d := range dual {
		if d > 0 {
			b.paying = append(b.paying, r)
		}
	}
	b.findBest()
}

// findBest finds the supply with the highest ratio of value to price.
func (b *block) findBest() {
	b.ratio, b.supply = 0, -1
	n, dual, paying := len(b.dual), b.dual, b.paying
	least := 0.0 // a supply with less value for its price has a lower ratio, so it is skipped without a division
	for i := range b.goods {
		g := &b.goods[i]
		supplies := g.supplies[:len(g.prices)]
		for k, price := range g.prices {
			// Few resources are scarce at a time; no row pays for the others.
			amounts, sum := g.amounts[k*n:][:len(dual)], 0.0
			for _, r := range paying {
				sum += float64(dual[r] * amounts[r])
			}
			if sum < least*price {
				continue
			}
			if ratio := sum / price; ratio > b.ratio || ratio == b.ratio && int(supplies[k]) < b.supply {
				b.ratio, b.supply = ratio, int(supplies[k])
				least = ratio * (1 - 1e-9)
			}
		}
	}
}

// worth returns the value of amounts at some duals.
func worth(duals, amounts []float64) float64 {
	sum := 0.0
	for k, d := range duals {
		sum += float64(d * amounts[k])
	}
	return sum
}
