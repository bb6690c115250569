package pack

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// buy packs what is left into new nodes of one tier.
func (s *solver) buy(t *tier, out *Result) error {
	before := slices.Clone(s.left)
	q := s.duals(t, s.left)
	if !s.p.NoBound || s.steps+1 < s.maxSteps { // with the first pattern the steps are up: nothing looks at the bound
		q.bound = max(q.bound, s.fineBound(t, s.left))
	}
	start := s.save()
	purchases := s.destroyAndRepair(t, s.rounds(t, q), q)
	purchases, bound := s.improve(t, q, start, purchases)
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if len(purchases) == 0 {
		return nil
	}
	out.Bound += s.boundOf(t, before, bound)
	purchases = merged(purchases)
	for i := range purchases {
		out.New = append(out.New, s.launch(t, &purchases[i]))
		if len(s.p.Reservations) > 0 {
			s.sold = append(s.sold, tierPurchase{t, purchases[i]})
		}
	}
	return nil
}

// boundOf is the bound of what was bought since the given counts were left. bound
// is that of all of it.
func (s *solver) boundOf(t *tier, before []int, bound float64) float64 {
	switch {
	case s.p.NoBound:
		return 0
	case s.p.Fee > 0:
		return s.boundWithoutFee(t, before)
	case s.complete(t):
		return bound
	}
	placed := before
	for c := range placed {
		placed[c] -= s.left[c]
	}
	return max(s.duals(t, placed).bound, s.fineBound(t, placed))
}

// merged joins the purchases of equal patterns, which were bought in portions.
func merged(purchases []purchase) []purchase {
	out := purchases[:0:0]
	of := map[int][]int{} // by candidate: where its purchases are
	for _, p := range purchases {
		same := of[p.candidate]
		i := slices.IndexFunc(same, func(i int) bool { return out[i].trait == p.trait && slices.Equal(out[i].shares, p.shares) })
		if i < 0 {
			of[p.candidate] = append(same, len(out))
			out = append(out, p)
			continue
		}
		out[same[i]].copies += p.copies
	}
	return out
}

// fewClasses is how many classes at most are polished in no time.
const fewClasses = 10

// improve generates patterns where the purchases are far above the bound. It
// returns the cheaper purchases and the better bound. Among many classes purchases that are
// dearer as they are hardly ever become cheaper by polishing.
func (s *solver) improve(t *tier, q duals, start state, purchases []purchase) ([]purchase, float64) {
	if len(purchases) == 0 || !s.complete(t) || s.steps >= s.maxSteps || !s.generates(t, start.left) ||
		costOf(t, purchases) < q.bound*(1+generateGap) {
		return purchases, q.bound
	}
	end := s.save()
	s.restore(start)
	other, bound := s.generate(t, q, purchases)
	q.bound = max(q.bound, bound)
	if len(other) > 0 && s.complete(t) {
		if len(s.left) <= fewClasses || costOf(t, other) < costOf(t, purchases) {
			other = s.destroyAndRepair(t, other, q)
		}
		if costOf(t, other) < costOf(t, purchases) {
			return other, q.bound
		}
	}
	s.restore(end)
	return purchases, q.bound
}

// launch works out all the options of a purchase. In a pool with limits an option
// that would take more of them than was set aside is left out, so that every
// launch that the plan allows stays within the limits.
func (s *solver) launch(t *tier, p *purchase) Launch {
	c := &t.candidates[p.candidate]
	set := s.options(c.pool, c.reservation, p.shares, p.trait).Clone()
	s.keepFlexible(c, set)
	wide := wide(set, p.uses)
	s.keepWithin(c, set, p.uses)
	return Launch{
		Pool:        c.pool,
		Copies:      p.copies,
		Shares:      p.shares,
		Options:     set,
		Wide:        wide,
		Trait:       p.trait,
		Price:       s.p.Options[first(set)].Price,
		Reservation: c.reservation,
		Relaxed:     s.relaxed(c.pool, set, p.trait),
	}
}

// wide copies a set before keepWithin cuts it down.
func wide(set bitset.Set, uses []int64) bitset.Set {
	if uses == nil {
		return nil
	}
	return set.Clone()
}

// keepWithin removes the options that take more of the limits of their pool than
// was set aside.
func (s *solver) keepWithin(c *candidate, set bitset.Set, uses []int64) {
	if uses != nil {
		s.Packer.uses[c.pool].KeepWithin(set, uses, s.level)
	}
}

func sortShares(shares []Share) {
	slices.SortFunc(shares, func(x, y Share) int {
		return cmp.Or(cmp.Compare(x.Class, y.Class), cmp.Compare(x.Variant, y.Variant))
	})
}
