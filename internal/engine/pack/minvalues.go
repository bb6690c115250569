package pack

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// keepMinValues removes pods from a pattern until enough options are left for the MinValues of its
// pool. It removes nothing if candidate.safe is set.
func (s *solver) keepMinValues(t *tier, i int, p *pattern, value []float64) {
	c := &t.candidates[i]
	pool := &s.p.Pools[c.pool]
	flexible := s.isFlexible(c)
	if !flexible && (pool.MinValues == nil || c.safe && p.trait == 0 && s.p.Flexible == nil && len(s.p.Reservations) == 0) || s.enough(c, p.shares, p.trait) {
		return
	}
	whole := slices.Clone(p.shares)
	slices.SortStableFunc(whole, func(x, y Share) int { return s.compareSize(y.Class, x.Class) })
	p.shares, p.value, p.trait = p.shares[:0], 0, 0
	for _, sh := range whole {
		trait, ok := s.filler.traits.join(&c.bin, p.trait, s.p.Classes[sh.Class].Variants[sh.Variant].Trait)
		if !ok {
			continue
		}
		if n := s.mostEnough(c, p.shares, sh, trait); n > 0 {
			sh.Count = n
			p.shares = append(p.shares, sh)
			p.trait = trait
			p.value += float64(value[sh.Class] * float64(n))
		}
	}
	sortShares(p.shares)
}

// mostEnough returns the largest number of pods of a share that, together with the pods of the other
// shares, still leaves enough options.
func (s *solver) mostEnough(c *candidate, shares []Share, sh Share, trait int32) int {
	trial := append(slices.Clone(shares), sh)
	last := &trial[len(trial)-1]
	low, high := 0, sh.Count
	for low < high {
		last.Count = (low + high + 1) / 2
		if s.enough(c, trial, trait) {
			low = last.Count
		} else {
			high = last.Count - 1
		}
	}
	return low
}

// enough says whether the options that hold a pattern satisfy the MinValues of the pool.
func (s *solver) enough(c *candidate, shares []Share, trait int32) bool {
	set := s.options(c.pool, c.reservation, shares, trait)
	s.keepFlexible(c, set)
	p := &s.p.Pools[c.pool]
	for i := range p.MinValues {
		if p.MinValues[i].Distinct(p.First, set, s.values(c.pool, i, trait)) < s.needed(c.pool, i, shares) {
			return false
		}
	}
	if s.isFlexible(c) && s.p.Flexible.kinds(set) < s.neededKinds(c.pool, shares) {
		return false
	}
	return !set.Empty()
}

// needed returns the number of values that a MinValue requires of a node with the given shares.
// With BestEffort it is at most the number of values that any one of the pods would allow on a node
// of its own.
func (s *solver) needed(pool, i int, shares []Share) int {
	p := &s.p.Pools[pool]
	need := p.MinValues[i].Need
	if !p.BestEffort {
		return need
	}
	for _, sh := range shares {
		key := possibleKey{pool, i, sh.Class, sh.Variant}
		n, ok := s.possible[key]
		if !ok {
			variant := &s.p.Classes[sh.Class].Variants[sh.Variant]
			here := bitset.New(len(s.p.Options))
			here.AddRange(p.First, p.Last)
			here.And(variant.Options)
			n = p.MinValues[i].Distinct(p.First, here, s.values(pool, i, variant.Trait))
			s.possible[key] = n
		}
		need = min(need, n)
	}
	return need
}

// values returns the values of a MinValue that a trait allows; nil means all. A trait is what pods
// require of labels that options leave open.
func (s *solver) values(pool, minValue int, trait int32) bitset.Set {
	if trait == 0 {
		return nil
	}
	return s.p.Traits.Values(pool, minValue, trait)
}

// possibleKey names a MinValue of a pool and a variant of a class.
type possibleKey struct{ pool, minValue, class, variant int }

// relaxed says whether the options have fewer values than some MinValue of the pool states.
func (s *solver) relaxed(pool int, set bitset.Set, trait int32) bool {
	p := &s.p.Pools[pool]
	for i := range p.MinValues {
		if p.MinValues[i].Distinct(p.First, set, s.values(pool, i, trait)) < p.MinValues[i].Need {
			return true
		}
	}
	return false
}

// uses returns what one node of a pattern counts against each limit of its pool: the use of its
// target option. If MinValues require more options, it is the largest use among the cheapest options
// that together satisfy MinValues.
func (s *solver) uses(t *tier, i int, p *pattern) []int64 {
	c := &t.candidates[i]
	pool := &s.p.Pools[c.pool]
	if pool.Limits == nil {
		return nil
	}
	out := slices.Clone(pool.Uses[c.option-pool.First])
	if pool.MinValues == nil {
		return out
	}
	set := s.options(c.pool, c.reservation, p.shares, p.trait)
	s.keepFlexible(c, set)
	chosen := bitset.New(len(s.p.Options))
	chosen.Add(c.option)
	for m := range pool.MinValues {
		mv := &pool.MinValues[m]
		need := s.needed(c.pool, m, p.shares)
		allowed := s.values(c.pool, m, p.trait)
		have := mv.Distinct(pool.First, chosen, allowed)
		for o := range set.All() {
			if have >= need {
				break
			}
			if chosen.Has(o) {
				continue
			}
			chosen.Add(o)
			if now := mv.Distinct(pool.First, chosen, allowed); now > have {
				have = now
				for r, use := range pool.Uses[o-pool.First] {
					out[r] = max(out[r], use)
				}
			} else {
				chosen.Remove(o)
			}
		}
	}
	return out
}

// compareSize orders classes by their largest share of any resource, ascending, then by index.
func (s *solver) compareSize(x, y int) int {
	a, b := s.size[x], s.size[y]
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return y - x
}
