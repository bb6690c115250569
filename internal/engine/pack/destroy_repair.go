package pack

import (
	"cmp"
	"slices"
)

// destroyAndRepair removes the nodes with the lowest worth for their price and buys again for their
// pods, starting from each of several candidates, and keeps a cheaper result. A greedy run wastes
// most on its last few nodes, so a plan of many nodes has little to gain.
func (s *solver) destroyAndRepair(t *tier, purchases []purchase, q duals) []purchase {
	if len(purchases) == 0 {
		return purchases
	}
	limit := min(s.maxSteps, s.steps+max(destroyAndRepairWork/len(s.left), destroyAndRepairSteps))
	for again := true; again; {
		again = false
		for _, size := range destroySizes {
			if s.steps >= limit || s.ctx.Err() != nil || s.near(costOf(t, purchases), &q, goodEnough) {
				return purchases
			}
			if better := s.repair(t, purchases, q, size, limit); better != nil {
				purchases = better
				again = true
			}
		}
	}
	return purchases
}

const (
	// destroyAndRepairSteps is the least number of patterns built to polish a tier, and
	// destroyAndRepairWork that number times the classes: with few classes a pattern takes almost
	// no time.
	destroyAndRepairSteps = 250
	destroyAndRepairWork  = 75_000
	// goodEnough is the gap to the bound, as a share of the cost of the plan, below which polishing
	// stops.
	goodEnough = 0.0075
)

// destroySizes are the numbers of nodes removed at a time, and starts the number of candidates
// tried as the first of the new nodes.
var destroySizes = [...]int{2, 3, 4, 6, 9}

const starts = 6

// repair removes the worst nodes and returns the purchases with better ones in their place, nil if
// none are cheaper. It stops trying once the steps reach limit.
func (s *solver) repair(t *tier, purchases []purchase, q duals, size, limit int) []purchase {
	kept, taken := destroy(t, purchases, q, size)
	if len(taken) == 0 {
		return nil
	}
	before := s.save()
	old := costOf(t, taken)
	for i := range taken {
		p := &taken[i]
		s.remove(p.shares, -p.copies)
		s.spend(&t.candidates[p.candidate], p.uses, -p.copies)
	}
	freed := s.save()
	fresh := s.duals(t, s.left)
	bestCost := old * (1 - 1e-9)
	var best []purchase
	end := before
	for _, first := range s.firsts(t, fresh) {
		if s.steps >= limit {
			break
		}
		s.restore(freed)
		again := s.greedyFrom(t, fresh, first)
		if c := costOf(t, again); c < bestCost && s.complete(t) {
			best, bestCost, end = again, c, s.save()
		}
	}
	s.restore(end)
	if best == nil {
		return nil
	}
	return append(kept, best...)
}

// destroy splits off the given number of nodes with the lowest worth for their price.
func destroy(t *tier, purchases []purchase, q duals, size int) (kept, taken []purchase) {
	order := make([]int, len(purchases))
	worth := make([]float64, len(purchases))
	for i := range purchases {
		order[i] = i
		worth[i] = worthOf(purchases[i].shares, q.value) / t.candidates[purchases[i].candidate].price
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(worth[x], worth[y]) })
	take := make([]int, len(purchases))
	for _, i := range order {
		take[i] = min(size, purchases[i].copies)
		size -= take[i]
	}
	for i, p := range purchases {
		if n := take[i]; n > 0 {
			one := p
			one.copies = n
			taken = append(taken, one)
		}
		if p.copies -= take[i]; p.copies > 0 {
			kept = append(kept, p)
		}
	}
	return kept, taken
}

// firsts returns the candidates with the best fills of the pods left.
func (s *solver) firsts(t *tier, q duals) []int {
	candidateFills := s.unfilled(t)
	s.ceilings(t, candidateFills, q)
	var out []int
	for len(out) < starts {
		i := s.best(candidateFills)
		if i < 0 {
			break
		}
		if !candidateFills[i].looked {
			s.look(t, i, &candidateFills[i], q)
			continue
		}
		out = append(out, i)
		candidateFills[i].dead = true
	}
	return out
}

// greedyFrom is greedy with the first node given.
func (s *solver) greedyFrom(t *tier, q duals, first int) []purchase {
	var p candidateFill
	s.look(t, first, &p, q)
	if p.dead {
		return nil
	}
	first = p.as
	uses := s.uses(t, first, &p.pattern)
	if s.affordable(&t.candidates[first], uses) == 0 {
		return nil
	}
	s.remove(p.shares, 1)
	s.spend(&t.candidates[first], uses, 1)
	purchases := []purchase{{candidate: first, pattern: p.pattern, copies: 1, uses: uses}}
	if s.complete(t) {
		return purchases
	}
	return append(purchases, s.greedy(t, s.duals(t, s.left))...)
}
