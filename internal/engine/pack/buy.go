package pack

import (
	"slices"
)

// buy packs the pods left into new nodes of one tier.
func (s *solver) buy(t *tier, out *Result) error {
	before := slices.Clone(s.left)
	q := s.duals(t, s.left)
	if !s.p.NoBound || s.steps+1 < s.maxSteps { // otherwise the first pattern uses up the steps, and the bound is not used
		q.bound = max(q.bound, s.fineBound(t, s.left))
		q.bound = max(q.bound, s.componentsBound(t, s.left, q.bound))
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

// boundOf returns a lower bound on the cost of what was bought since the counts left were before.
// bound is a lower bound on the cost of all of before.
func (s *solver) boundOf(t *tier, before []int, bound float64) float64 {
	placed := before
	for c := range placed {
		placed[c] -= s.left[c]
	}
	switch {
	case s.p.NoBound:
		return 0
	case s.p.Fee > 0:
		return s.boundWithoutFee(t, placed)
	case s.complete(t):
		return bound
	}
	bound = max(s.duals(t, placed).bound, s.fineBound(t, placed))
	return max(bound, s.componentsBound(t, placed, bound))
}

// fewClasses is the largest number of classes for which polishing takes almost no time.
const fewClasses = 10

// improve generates patterns if the purchases are far above the bound, measured by the cost of the
// whole plan. It returns the cheaper purchases and the better bound. With many classes, it polishes
// generated purchases only if they are cheaper already, because polishing hardly ever makes up the
// difference.
func (s *solver) improve(t *tier, q duals, start state, purchases []purchase) ([]purchase, float64) {
	if len(purchases) == 0 || !s.complete(t) || s.steps >= s.maxSteps || !s.generates(t, start.left) ||
		s.near(costOf(t, purchases), &q, generateGap) {
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
