package disruption

import "maps"

// stand is what parts do to a spread.
type stand struct {
	counts map[string]int // by domain, before any of them
	least  int
	limit  int // least and the skew that is allowed
	skew   int

	arrive, depart map[string]int
	owners         map[string]int // pods with the spread that are bound anew
	closed         bool           // actions that are decided already leave no choice
	sole           map[string]int // the counts after the only part that may change them, nil if there is none
}

// effect is what one part does to a spread.
type effect struct {
	arrive, depart map[string]int
	unsure         map[string]int // arrivals that may be in another domain
	owners         map[string]int
}

// judge reports whether a part may do to a spread what it does, beside the others. If
// it is to be the only one that changes it, the counts after it are returned.
func (s *stand) judge(e *effect) (sole map[string]int, ok bool) {
	if s.closed {
		return nil, false
	}
	if len(e.arrive)+len(e.depart) == 0 {
		return nil, s.welcomes(s.counts, e.owners) && (s.sole == nil || s.welcomes(s.sole, e.owners))
	}
	if s.sole != nil {
		return nil, false
	}
	if s.fits(e) {
		return nil, true
	}
	if len(s.arrive)+len(s.depart) > 0 {
		return nil, false
	}
	after := maps.Clone(s.counts)
	if after == nil {
		after = map[string]int{}
	}
	for value, n := range e.arrive { // each by itself: the order does not matter
		after[value] += n
	}
	for value, n := range e.depart {
		if _, eligible := after[value]; eligible {
			after[value] -= n
		}
	}
	certain := maps.Clone(after)
	for value, n := range e.unsure { // each by itself: the order does not matter
		certain[value] -= n
	}
	low := least(certain)
	for _, owners := range []map[string]int{e.owners, s.owners} {
		for value := range owners { // each by itself: the order does not matter
			if after[value]-low > s.skew {
				return nil, false
			}
		}
	}
	return after, true
}

// fits reports whether a part stays within what all may do together.
func (s *stand) fits(e *effect) bool {
	for value, n := range e.arrive { // each by itself: the order does not matter
		if count, found := s.counts[value]; !found || count+s.arrive[value]+n > s.limit {
			return false
		}
	}
	for value, n := range e.depart {
		if count, found := s.counts[value]; found && count-s.depart[value]-n < s.least {
			return false
		}
	}
	return s.welcomes(s.counts, e.owners)
}

// welcomes reports whether pods with the spread may come back to domains with such
// counts.
func (s *stand) welcomes(counts, domains map[string]int) bool {
	low := least(counts)
	for value := range domains { // each by itself: the order does not matter
		if count, found := counts[value]; found && count-low > s.skew {
			return false
		}
	}
	return true
}

// add counts a part in.
func (s *stand) add(e *effect, sole map[string]int) {
	for value, n := range e.arrive { // each by itself: the order does not matter
		more(&s.arrive, value, n)
	}
	for value, n := range e.depart {
		more(&s.depart, value, n)
	}
	for value, n := range e.owners {
		more(&s.owners, value, n)
	}
	if sole != nil {
		s.sole = sole
	}
}

func least(counts map[string]int) int {
	out, first := 0, true
	for _, n := range counts { // the order does not matter
		if first || n < out {
			out, first = n, false
		}
	}
	return out
}

// more adds to a count; the map is made when it is needed.
func more(counts *map[string]int, value string, n int) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[value] += n
}
