package pack

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// candidateFill is the best known pattern of a candidate.
type candidateFill struct {
	pattern
	as     int     // the candidate as which the pattern is bought
	score  float64 // worth / price of the pattern, or an upper bound
	looked bool    // filled since prices last changed
	dead   bool    // nothing fits, or limits exclude it
}

// greedy buys nodes in a tier until no pod left fits. Each time it buys the candidate whose best
// fill has the highest worth for its price.
//
// A candidate is filled only when it comes first: until then its score is an upper bound. The bound
// is at first the worth of the whole capacity, and later that of the last fill, because a fill
// loses worth as pods run out. A candidate that stays first after it is filled is the best.
//
// Dual prices are valid at the margin only: they say that two kinds of node are worth buying, not
// how many of each. So a pattern is used for a share of the pods left, and then prices are computed
// again.
func (s *solver) greedy(t *tier, q duals) []purchase {
	candidateFills := s.unfilled(t)
	s.ceilings(t, candidateFills, q)
	var purchases []purchase
	var rest finish
	spent, cost, tail := 0.0, 0.0, q.total*s.effort.tail
	s.closeWithOneBin(t, q, purchases, cost, &rest)
	for done := s.complete(t); !done && s.ctx.Err() == nil; {
		i := s.best(candidateFills)
		if i < 0 && !s.wake(candidateFills) {
			break
		}
		if i < 0 {
			continue
		}
		p := &candidateFills[i]
		copies := 0
		if p.looked {
			copies = s.copies(p.shares)
		}
		if copies == 0 {
			s.look(t, i, p, q)
			continue
		}
		as := p.as
		uses := s.uses(t, as, &p.pattern)
		copies = min(copies, s.affordable(&t.candidates[as], uses), s.portion(&p.pattern, q))
		if copies == 0 {
			p.dead = true
			continue
		}
		purchases = append(purchases, purchase{candidate: as, pattern: p.pattern, copies: copies, uses: uses})
		p.shares = slices.Clone(p.shares) // the purchase keeps the old slice
		s.remove(p.shares, copies)
		s.spend(&t.candidates[as], uses, copies)
		cost += float64(t.candidates[as].price * float64(copies))
		spent += float64(p.value * float64(copies))
		if spent > max(q.total*s.effort.repriceShare, tail) {
			spent = 0
			q = s.duals(t, s.left)
			s.ceilings(t, candidateFills, q)
		}
		if done = s.complete(t); !done {
			s.closeWithOneBin(t, q, purchases, cost, &rest)
		}
	}
	if rest.purchases != nil && (rest.cost < cost || !s.complete(t)) {
		s.restore(rest.end)
		return rest.purchases
	}
	return purchases
}

// unfilled returns the candidates of a tier without fills, reusing memory.
func (s *solver) unfilled(t *tier) []candidateFill {
	s.fills = slices.Grow(s.fills[:0], len(t.candidates))[:len(t.candidates)]
	for i := range s.fills {
		s.fills[i] = candidateFill{pattern: pattern{shares: s.fills[i].shares[:0]}}
	}
	return s.fills
}

// portionShare is the share of the worth left that one pattern may take at a time.
const portionShare = 0.16

// portion returns how many copies of a pattern take that share.
func (s *solver) portion(p *pattern, q duals) int {
	n := q.total * portionShare / p.value
	if !(n < math.MaxInt32) {
		return math.MaxInt32 // pods that request nothing are worth nothing
	}
	return max(1, int(n))
}

// ceilings sets the score of each candidate to the worth of its whole capacity.
func (s *solver) ceilings(t *tier, candidateFills []candidateFill, q duals) {
	for i := range candidateFills {
		supply := &t.supplies[i]
		worth := 0.0
		for r, price := range q.highest[supply.Serves] {
			worth += float64(price * supply.Amount[r])
		}
		candidateFills[i].looked = false
		candidateFills[i].score = min(worth, q.total) / t.candidates[i].price * s.highestMultiplier
	}
	s.rest(candidateFills)
}

// rest limits the search to the candidates with the highest scores.
func (s *solver) rest(candidateFills []candidateFill) {
	s.ranking = s.ranking[:0]
	for i := range candidateFills {
		if !candidateFills[i].dead {
			s.ranking = append(s.ranking, int32(i))
		}
	}
	most := min(s.effort.awake, len(s.ranking))
	s.awake = s.ranking[:most]
	if most == len(s.ranking) {
		return
	}
	likelier := func(x, y int32) bool {
		return candidateFills[x].score > candidateFills[y].score || candidateFills[x].score == candidateFills[y].score && x < y
	}
	// The awake candidates form a heap with the lowest score on top.
	for i := most/2 - 1; i >= 0; i-- {
		sink(s.awake, i, likelier)
	}
	for k, i := range s.ranking[most:] {
		if likelier(i, s.awake[0]) {
			s.ranking[most+k], s.awake[0] = s.awake[0], i
			sink(s.awake, 0, likelier)
		}
	}
	slices.Sort(s.awake)
}

// sink restores a heap in which only element i may be out of order. In the heap no element comes
// before its parent.
func sink(heap []int32, i int, before func(x, y int32) bool) {
	for {
		last := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if before(heap[last], heap[child]) {
				last = child
			}
		}
		if last == i {
			return
		}
		heap[i], heap[last] = heap[last], heap[i]
		i = last
	}
}

// wake replaces the awake candidates by the next ones, once all of them are dead. It says whether
// there are any.
func (s *solver) wake(candidateFills []candidateFill) bool {
	if len(s.awake) == len(s.ranking) {
		return false
	}
	s.rest(candidateFills)
	return len(s.awake) > 0
}

// look computes the best fill of a candidate from the pods left.
func (s *solver) look(t *tier, i int, p *candidateFill, q duals) {
	s.step()
	c := &t.candidates[i]
	d := s.detail(t, &q, c.serves)
	got := s.filler.fill(&c.bin, d.entries, s.left, worth{
		value:      q.value,
		multiplier: s.multiplier,
		target:     d.target,
		highest:    q.highest[c.serves],
	})
	p.shares = append(p.shares[:0], got.shares...)
	p.trait, p.value = got.trait, got.value
	s.keepMinValues(t, i, &p.pattern, q.value)
	corrected := 0.0
	for _, sh := range p.shares {
		corrected += float64(q.value[sh.Class] * float64(sh.Count) * s.multiplier[sh.Class])
	}
	p.as = s.cheapest(t, i, &p.pattern)
	p.score = corrected / t.candidates[p.as].price
	p.looked = true
	p.dead = len(p.shares) == 0
}

// cheapest returns the cheapest candidate as which a pattern of candidate i can be bought without
// leaving the options of i. Where rules separate pods, a pattern may leave most of a large node
// empty. Without rules only the last node of a plan is mostly empty, and treating it as cheap makes
// the other nodes worse.
func (s *solver) cheapest(t *tier, i int, p *pattern) int {
	c := &t.candidates[i]
	pool := &s.p.Pools[c.pool]
	if len(s.p.Rules) == 0 || s.p.Flexible != nil || len(p.shares) == 0 || pool.Limits != nil && pool.MinValues != nil {
		return i
	}
	sum := s.sumOf(p.shares)
	var set bitset.Set
	for j := range i {
		other := &t.candidates[j]
		if other.pool != c.pool || other.reservation != c.reservation || !fits(sum, other.capacity) {
			continue
		}
		if pool.Limits != nil && !fits(pool.Uses[other.option-pool.First], pool.Uses[c.option-pool.First]) {
			continue // limits may exclude it
		}
		if set == nil {
			set = s.options(c.pool, c.reservation, p.shares, p.trait)
		}
		if set.Has(other.option) {
			return j
		}
	}
	return i
}

// best returns the awake candidate with the highest score, the largest of equals, -1 if there is
// none.
func (s *solver) best(candidateFills []candidateFill) int {
	top := -1
	for _, i := range s.awake {
		p := &candidateFills[i]
		if p.dead {
			continue
		}
		if top < 0 || p.score > candidateFills[top].score*(1+1e-9) ||
			p.score > candidateFills[top].score*(1-1e-9) && p.value > candidateFills[top].value {
			top = int(i)
		}
	}
	return top
}
