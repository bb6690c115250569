package pack

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// buy packs what is left into new nodes of one tier.
func (s *solver) buy(t *tier, out *Result) error {
	before := slices.Clone(s.left)
	q := s.quote(t, s.left)
	if !s.p.NoBound || s.steps+1 < s.maxSteps { // with the first pattern the steps are up: nothing looks at the bound
		q.bound = max(q.bound, s.fineBound(t, s.left))
	}
	start := s.save()
	picks := s.polish(t, s.rounds(t, q), q)
	picks, bound := s.improve(t, q, start, picks)
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if len(picks) == 0 {
		return nil
	}
	out.Bound += s.boundOf(t, before, bound)
	picks = merged(picks)
	for i := range picks {
		out.New = append(out.New, s.launch(t, &picks[i]))
		if len(s.p.Stocks) > 0 {
			s.sold = append(s.sold, sale{t, picks[i]})
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
	return max(s.quote(t, placed).bound, s.fineBound(t, placed))
}

// merged joins the picks of equal patterns, which were bought in portions.
func merged(picks []pick) []pick {
	out := picks[:0:0]
	of := map[int][]int{} // by candidate: where its picks are
	for _, p := range picks {
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

// improve generates patterns where the picks are far above the bound. It
// returns the cheaper picks and the better bound. Among many classes picks that are
// dearer as they are hardly ever become cheaper by polishing.
func (s *solver) improve(t *tier, q quote, start state, picks []pick) ([]pick, float64) {
	if len(picks) == 0 || !s.complete(t) || s.steps >= s.maxSteps || !s.generates(t, start.left) ||
		costOf(t, picks) < q.bound*(1+generateGap) {
		return picks, q.bound
	}
	end := s.save()
	s.restore(start)
	other, bound := s.generate(t, q, picks)
	q.bound = max(q.bound, bound)
	if len(other) > 0 && s.complete(t) {
		if len(s.left) <= fewClasses || costOf(t, other) < costOf(t, picks) {
			other = s.polish(t, other, q)
		}
		if costOf(t, other) < costOf(t, picks) {
			return other, q.bound
		}
	}
	s.restore(end)
	return picks, q.bound
}

// launch works out all the options of a pick. In a pool with limits an option
// that would take more of them than was set aside is left out, so that every
// launch that the plan allows stays within the limits.
func (s *solver) launch(t *tier, p *pick) Launch {
	c := &t.candidates[p.candidate]
	set := s.options(c.pool, c.stock, p.shares, p.trait).Clone()
	s.keepFlexible(c, set)
	s.keepWithin(c, set, p.uses)
	return Launch{
		Pool:    c.pool,
		Copies:  p.copies,
		Shares:  p.shares,
		Options: set,
		Trait:   p.trait,
		Price:   s.p.Options[first(set)].Price,
		Stock:   c.stock,
		Relaxed: s.relaxed(c.pool, set, p.trait),
	}
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
