package pack

import "slices"

// finish is a way to end a greedy run early: one node that takes all pods left.
type finish struct {
	purchases []purchase
	cost      float64
	end       state
}

// closeWithOneBin finds the cheapest candidate that takes all pods left of a tier, and stores it in
// best if that gives the cheapest end so far.
func (s *solver) closeWithOneBin(t *tier, q duals, purchases []purchase, cost float64, best *finish) {
	if !s.sumLeft(t) || !s.togetherLeft(t) {
		return
	}
	for i := range t.candidates {
		c := &t.candidates[i]
		if best.purchases != nil && cost+c.price >= best.cost {
			return // candidates are sorted by price
		}
		if !fits(s.sum, c.capacity) || !s.wanted.SubsetOf(t.admits[c.serves]) {
			continue
		}
		var p candidateFill
		s.look(t, i, &p, q)
		var uses []int64
		ends := s.takesAll(t, p.shares)
		if ends {
			uses = s.uses(t, i, &p.pattern)
			ends = s.affordable(c, uses) > 0
		}
		if !ends {
			s.sumLeft(t)
			continue
		}
		best.cost = cost + c.price
		best.purchases = append(slices.Clone(purchases), purchase{candidate: i, pattern: p.pattern, copies: 1, uses: uses})
		best.end = s.save()
		for _, sh := range p.shares {
			best.end.left[sh.Class] -= sh.Count
		}
		for r, use := range uses {
			best.end.limits[c.pool][r] -= use
		}
		if c.reservation != 0 {
			best.end.reservations[c.reservation-1]--
		}
		return
	}
}

// sumLeft sums the requests of the pods left of a tier and collects their groups. It returns false
// if no pods are left or no candidate is large enough.
func (s *solver) sumLeft(t *tier) bool {
	clear(s.sum)
	s.wanted = append(s.wanted[:0], t.nobody...)
	some := false
	for c, n := range s.left {
		if n == 0 || t.groupOf[c] < 0 {
			continue
		}
		some = true
		s.wanted.Add(int(t.groupOf[c]))
		for r, want := range s.p.Classes[c].Request {
			if want > 0 && int64(n) > (t.largest[r]-s.sum[r])/want {
				return false
			}
			s.sum[r] += want * int64(n)
		}
	}
	return some
}

// togetherLeft says whether the rules allow all pods left of a tier on one new node. This check
// avoids filling every candidate in vain where a workload separates its pods.
func (s *solver) togetherLeft(t *tier) bool {
	if len(s.p.Rules) == 0 {
		return true
	}
	tally := s.filler.tally
	tally.begin(nil)
	for c, n := range s.left {
		if n == 0 || t.groupOf[c] < 0 {
			continue
		}
		if tally.most(c, n) < n {
			return false
		}
		tally.add(s.p.Classes[c].Memberships, n)
	}
	return true
}

// takesAll says whether shares contain all pods left of a tier.
func (s *solver) takesAll(t *tier, shares []Share) bool {
	taken := 0
	for _, sh := range shares {
		taken += sh.Count
	}
	left := 0
	for class, n := range s.left {
		if t.groupOf[class] >= 0 {
			left += n
		}
	}
	return taken == left
}
