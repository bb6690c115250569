package launch

import (
	"maps"
	"slices"
	"strings"
)

// cover chooses the first instance types, and replaces the last of them by later ones if that meets
// more of the minimums.
func (w *work) cover(names []string, by map[string][]*candidate) map[string]bool {
	in, out := slices.Clone(names[:w.Limit]), names[w.Limit:]
	var all []*candidate
	for _, name := range in {
		all = append(all, by[name]...)
	}
	t := w.tally(all)
	add := func(name string, n int) {
		for _, c := range by[name] {
			t.add(c, n)
		}
	}
	needed := 0
	for _, m := range w.minimums {
		needed += m.need
	}
	// Each replacement meets more than before, so the loop ends.
	for improved := true; improved && w.met(t) < needed; {
		improved = false
		for _, name := range out {
			if slices.Contains(in, name) {
				continue
			}
			before := w.met(t)
			add(name, 1)
			if w.met(t) == before {
				add(name, -1)
				continue
			}
			victim := -1
			for i := len(in) - 1; i >= 0 && victim < 0; i-- {
				add(in[i], -1)
				if w.met(t) > before {
					victim = i
				} else {
					add(in[i], 1)
				}
			}
			if victim < 0 {
				add(name, -1)
				continue
			}
			in[victim], improved = name, true
		}
	}
	if w.met(t) < needed {
		if found := w.search(names, by); found != nil {
			return found
		}
	}
	chosen := make(map[string]bool, len(in))
	for _, name := range in {
		chosen[name] = true
	}
	return chosen
}

// searchSteps bounds a search, which is exponential at worst. A search whose minimums leave some
// room takes far fewer steps.
const searchSteps = 20_000

// search looks for a set of instance types that meets all minimums within the limit, and fills it
// up with the first types. It returns nil if there is no such set, or if it runs out of steps.
func (w *work) search(names []string, by map[string][]*candidate) map[string]bool {
	s := &search{w: w, by: by, t: w.tally(nil), chosen: map[string]bool{}, most: make([]int, len(w.minimums))}
	// Of types with the same values only the first is tried, because the others add nothing.
	seen := map[string]bool{}
	for _, name := range names {
		one := w.tally(by[name])
		var signature []string
		for i := range one {
			s.most[i] = max(s.most[i], len(one[i]))
			signature = append(signature, slices.Sorted(maps.Keys(one[i]))...)
			signature = append(signature, "") // separates the minimums
		}
		if text := strings.Join(signature, "\n"); !seen[text] {
			seen[text] = true
			s.names = append(s.names, name)
		}
	}
	if !s.from(0) {
		return nil
	}
	for _, name := range names {
		if len(s.chosen) < w.Limit {
			s.chosen[name] = true
		}
	}
	return s.chosen
}

type search struct {
	w      *work
	names  []string
	by     map[string][]*candidate
	t      tally
	chosen map[string]bool
	most   []int // values that one type adds to each minimum, at the most
	steps  int
}

// from extends the chosen types until all minimums hold. It branches on the minimum that lacks most
// values, because each answer must have a type that adds to it.
func (s *search) from(depth int) bool {
	lacking, worst := 0, -1
	for i, m := range s.w.minimums {
		lack := m.need - len(s.t[i])
		if lack > (s.w.Limit-depth)*s.most[i] {
			return false
		}
		if lack > lacking {
			lacking, worst = lack, i
		}
	}
	if worst < 0 {
		return true
	}
	for _, name := range s.names {
		if s.steps++; s.steps > searchSteps {
			return false
		}
		if s.chosen[name] || !s.adds(name, worst) {
			continue
		}
		s.choose(name, 1)
		if s.from(depth + 1) {
			return true
		}
		s.choose(name, -1)
	}
	return false
}

// adds reports whether a type has a value for the minimum that the chosen types lack.
func (s *search) adds(name string, minimum int) bool {
	for _, c := range s.by[name] {
		for _, v := range c.values[minimum] {
			if s.t[minimum][v] == 0 {
				return true
			}
		}
	}
	return false
}

func (s *search) choose(name string, n int) {
	for _, c := range s.by[name] {
		s.t.add(c, n)
	}
	if n > 0 {
		s.chosen[name] = true
	} else {
		delete(s.chosen, name)
	}
}
