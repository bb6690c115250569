package volume

import (
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// simplify writes a disjunction of Sets with fewer of them. Those that differ in
// one label only become one that lists the values of both, and one that asks
// nothing of that label takes in the others. The result admits the same labels,
// is sorted by its text, and is nil if it admits all. The Sets must differ.
func simplify(sets []requirements.Set) []requirements.Set {
	for {
		before := len(sets)
		for _, key := range keysOf(sets) {
			sets = mergeAlong(key, sets)
		}
		if len(sets) == before {
			break
		}
	}
	if slices.ContainsFunc(sets, func(s requirements.Set) bool { return s.Len() == 0 }) {
		return nil
	}
	slices.SortFunc(sets, func(a, b requirements.Set) int { return strings.Compare(a.String(), b.String()) })
	return sets
}

// keysOf lists the keys that any of the Sets names, sorted.
func keysOf(sets []requirements.Set) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range sets {
		for r := range s.All() {
			if !seen[r.Key()] {
				seen[r.Key()] = true
				out = append(out, r.Key())
			}
		}
	}
	slices.Sort(out)
	return out
}

// mergeAlong merges Sets that differ in one label only.
func mergeAlong(key string, sets []requirements.Set) []requirements.Set {
	type family struct {
		rest   requirements.Set
		free   bool     // one asks nothing of the label
		values []string // of those that list values
		others []requirements.Set
	}
	var families []*family
	by := map[string]*family{}
	for _, s := range sets {
		rest := s.Without(key)
		text := rest.String()
		f := by[text]
		if f == nil {
			f = &family{rest: rest}
			by[text] = f
			families = append(families, f)
		}
		r, named := s.Get(key)
		values, finite := r.Values()
		switch {
		case !named:
			f.free = true
		case finite && len(values) > 0 && !r.AllowsAbsent():
			f.values = append(f.values, values...)
		default:
			f.others = append(f.others, s)
		}
	}
	var out []requirements.Set
	for _, f := range families {
		if f.free {
			out = append(out, f.rest)
			continue
		}
		if len(f.values) > 0 {
			out = append(out, f.rest.With(requirements.In(key, f.values...)))
		}
		out = append(out, f.others...)
	}
	return out
}
