package disruption

import "maps"

// stand is what parts do to a spread.
type stand struct {
	counts map[string]int // by domain, before any of them
	least  int
	limit  int // least and the skew that is allowed
	skew   int
	fewest int // domains that there must be

	arrive, depart map[string]int
	owners         map[string]int // pods with the spread that are bound anew
	closed         bool           // actions that are decided already leave no choice
	sole           *tally         // after the only part that may change the counts, nil if there is none
}

// tally is how many pods there may be in each domain, and how few in the least of them.
type tally struct {
	most map[string]int
	low  int
}

// effect is what one part does to a spread.
type effect struct {
	arrive, depart map[string]int
	unsure         map[string]int // arrivals that may be in another domain
	owners         map[string]int
}

// judge reports whether a part may do to a spread what it does, beside the others. If
// it is to be the only one that changes it, the counts after it are returned.
func (s *stand) judge(e *effect) (sole *tally, ok bool) {
	if s.closed {
		return nil, false
	}
	if len(e.arrive)+len(e.depart) == 0 {
		return nil, s.welcomes(tally{s.counts, s.least}, e.owners) && (s.sole == nil || s.welcomes(*s.sole, e.owners))
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
	sole = &tally{after, least(certain, s.fewest)}
	return sole, s.welcomes(*sole, e.owners) && s.welcomes(*sole, s.owners)
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
	return s.welcomes(tally{s.counts, s.least}, e.owners)
}

// welcomes reports whether pods with the spread may come back to domains with such
// counts.
func (s *stand) welcomes(counts tally, domains map[string]int) bool {
	for value := range domains { // each by itself: the order does not matter
		if count, found := counts.most[value]; found && count-counts.low > s.skew {
			return false
		}
	}
	return true
}

// add counts a part in.
func (s *stand) add(e *effect, sole *tally) {
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

// least is the count of the domain with the fewest pods; none where there are fewer
// domains than there must be.
func least(counts map[string]int, fewest int) int {
	if len(counts) < fewest {
		return 0
	}
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
