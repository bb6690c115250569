package pack

import (
	"cmp"
	"slices"
)

// polish takes back the nodes that give least for their money and buys again
// for their pods, starting from each of several candidates, and keeps what is
// cheaper. The loss of a greedy run sits in its last few nodes, so that is
// where it looks; a plan of many nodes has little to gain.
func (s *solver) polish(t *tier, picks []pick, q quote) []pick {
	if len(picks) == 0 {
		return picks
	}
	limit := min(s.maxSteps, s.steps+max(polishWork/len(s.left), polishSteps))
	for again := true; again; {
		again = false
		for _, size := range ruinSizes {
			if s.steps >= limit || s.ctx.Err() != nil || costOf(t, picks) < q.bound*(1+goodEnough) {
				return picks
			}
			if better := s.rebuild(t, picks, q, size, limit); better != nil {
				picks = better
				again = true
			}
		}
	}
	return picks
}

const (
	// polishSteps is how many patterns are built at least for polishing a tier,
	// and polishWork how many there are for one class: with few classes they
	// are made in no time.
	polishSteps = 250
	polishWork  = 75_000
	// goodEnough is the gap to the bound below which polishing stops.
	goodEnough = 0.0075
)

// ruinSizes are the numbers of nodes taken back at a time, and starts the
// number of candidates tried as the first of the new ones.
var ruinSizes = [...]int{2, 3, 4, 6, 9}

const starts = 6

// rebuild takes back the worst nodes and returns the picks with better ones in
// their place, or nil if none are cheaper. It tries no more once the steps reach
// the limit.
func (s *solver) rebuild(t *tier, picks []pick, q quote, size, limit int) []pick {
	kept, taken := ruin(t, picks, q, size)
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
	fresh := s.quote(t, s.left)
	bestCost := old * (1 - 1e-9)
	var best []pick
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

// ruin splits off the given number of nodes that give least for their money.
func ruin(t *tier, picks []pick, q quote, size int) (kept, taken []pick) {
	order := make([]int, len(picks))
	worth := make([]float64, len(picks))
	for i := range picks {
		order[i] = i
		worth[i] = worthOf(picks[i].shares, q.value) / t.candidates[picks[i].candidate].price
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(worth[x], worth[y]) })
	take := make([]int, len(picks))
	for _, i := range order {
		take[i] = min(size, picks[i].copies)
		size -= take[i]
	}
	for i, p := range picks {
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

// firsts returns the candidates with the best fills of what is left.
func (s *solver) firsts(t *tier, q quote) []int {
	prospects := make([]prospect, len(t.candidates))
	s.ceilings(t, prospects, q)
	var out []int
	for len(out) < starts {
		i := s.best(prospects)
		if i < 0 {
			break
		}
		if !prospects[i].looked {
			s.look(t, i, &prospects[i], q)
			continue
		}
		out = append(out, i)
		prospects[i].dead = true
	}
	return out
}

// greedyFrom is greedy with the first node given.
func (s *solver) greedyFrom(t *tier, q quote, first int) []pick {
	var p prospect
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
	picks := []pick{{candidate: first, pattern: p.pattern, copies: 1, uses: uses}}
	if s.complete(t) {
		return picks
	}
	return append(picks, s.greedy(t, s.quote(t, s.left))...)
}

func costOf(t *tier, picks []pick) float64 {
	sum := 0.0
	for i := range picks {
		sum += float64(t.candidates[picks[i].candidate].price * float64(picks[i].copies))
	}
	return sum
}
