package disruption

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Bounds of the search through all sets.
const (
	exhaustiveLimit = 6      // candidates
	exhaustiveLooks = 31_500 // tries, over the number of nodes: each reads all of them
)

// exhaust tries the sets of the candidates, takes the one that saves the most for
// what it disturbs, and goes on with what is left.
func (s *search) exhaust(ctx context.Context) error {
	for {
		open := s.open()
		if len(open) == 0 {
			return nil
		}
		s.e = newEstimate(s.w, s.e)
		best, most, err := s.bestSet(ctx, open)
		if err != nil {
			return err
		}
		if !s.spent() {
			fits, _, err := s.exactFits(ctx, open, most)
			if err != nil {
				return err
			}
			if len(fits) > 0 {
				best = fits
			}
		}
		if len(best) == 0 {
			return nil
		}
		for _, pt := range best {
			s.accept(pt)
			for _, m := range pt.targets {
				s.quota.take(m)
			}
		}
	}
}

// choice is a set of candidates.
type choice struct {
	set     []*member
	most    float64 // that it can gain: what its nodes cost less their evictions
	promise float64 // what it gains by the estimate
}

// bestSet tries sets and returns what is worth doing of the one that gains the most,
// and how much. First come the nodes by themselves, then the sets that promise the
// most by the estimate; those are left out that cannot gain more than the best so
// far, and all that are left once as many were tried as the size of the cluster lets.
func (s *search) bestSet(ctx context.Context, open []*member) (best []*part, most float64, err error) {
	tries := max(2*len(open), exhaustiveLooks/len(s.f.members))
	for _, c := range s.choices(open) {
		if s.spent() || tries == 0 {
			break
		}
		if len(c.set) > 1 && c.most <= most+priceSlack || !s.allowed(c.set) {
			continue
		}
		tries--
		parts, err := s.ask(ctx, c.set)
		if err != nil {
			return nil, 0, err
		}
		if good, gain := worthDoing(parts, s.evictionWeight()); gain > most+priceSlack {
			best, most = good, gain
		}
		for _, pt := range parts {
			if pt.verdict.bad() && len(c.set) == 1 {
				s.remember(pt)
			}
		}
	}
	return best, most, nil
}

// choices lists the sets of some nodes in the order in which they are tried.
func (s *search) choices(open []*member) []choice {
	var out []choice
	for set := uint(1); set < 1<<len(open); set++ {
		c := choice{}
		evictions := 0.0
		for i, m := range open {
			if set&(1<<i) == 0 {
				continue
			}
			price, _ := m.price()
			units := s.evictionWeight() * (oneEviction + m.cost).float()
			c.set, c.most, evictions = append(c.set, m), c.most+max(price-units, 0), evictions+units
		}
		if c.promise = math.Inf(1); len(c.set) > 1 {
			c.promise = s.outcome(c.set).Saving() - evictions
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b choice) int {
		return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(len(a.set), len(b.set)))
	})
	return out
}
