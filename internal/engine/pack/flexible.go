package pack

import "github.com/dovetail-sdk/dovetail/internal/engine/bitset"

// isFlexible says whether nodes of a candidate must have several kinds of options.
func (s *solver) isFlexible(c *candidate) bool {
	return s.p.Flexible != nil && s.p.Flexible.Options.Has(c.option)
}

// kinds returns the number of different kinds among the options of a set; Flexible defines the
// kinds.
func (f *Flexible) kinds(set bitset.Set) int {
	seen := bitset.New(f.Count)
	for o := range set.All() {
		if f.Options.Has(o) {
			seen.Add(int(f.Kinds[o]))
		}
	}
	return seen.Len()
}

// neededKinds returns how many kinds of options a node with the given shares must have: Need, or
// fewer if it has pods that can use no options outside Flexible and have fewer kinds to choose
// from.
func (s *solver) neededKinds(pool int, shares []Share) int {
	f := s.p.Flexible
	p := &s.p.Pools[pool]
	need := f.Need
	for _, sh := range shares {
		key := possibleKey{pool, flexibleKey, sh.Class, sh.Variant}
		n, ok := s.possible[key]
		if !ok {
			here := bitset.New(len(s.p.Options))
			here.AddRange(p.First, p.Last)
			all := s.p.Classes[sh.Class].Variants[sh.Variant].Options
			here.And(all)
			n = f.Need
			switch {
			case s.p.Classes[sh.Class].Content:
				n = 0
			case all.SubsetOf(f.Options):
				n = min(n, f.kinds(here))
			}
			s.possible[key] = n
		}
		need = min(need, n)
	}
	return need
}

// flexibleKey represents Flexible among the MinValues of a pool.
const flexibleKey = -1

// keepFlexible removes the options that count for Flexible from a node if too few kinds of them are
// left. The node can do without them, because it was bought as another option.
func (s *solver) keepFlexible(c *candidate, set bitset.Set) {
	if s.p.Flexible == nil || s.isFlexible(c) || s.p.Flexible.kinds(set) >= s.p.Flexible.Need {
		return
	}
	set.AndNot(s.p.Flexible.Options)
}
