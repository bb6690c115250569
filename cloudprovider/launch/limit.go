package launch

import (
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// minimum is the minValues of a requirement.
type minimum struct {
	requirements.Requirement
	need int
}

// minimums returns the minimums of a set, sorted by key.
func minimums(s requirements.Set) []minimum {
	var all []minimum
	for r := range s.All() {
		if n := r.MinValues(); n > 0 {
			all = append(all, minimum{r, n})
		}
	}
	return all
}

// valuesOf returns the values of an option that count for each minimum.
func (w *work) valuesOf(o cloudprovider.LaunchOption) [][]string {
	if len(w.minimums) == 0 {
		return nil
	}
	out := make([][]string, len(w.minimums))
	labels := o.Requirements()
	for i, m := range w.minimums {
		// Only explicit values count.
		r, _ := labels.Get(m.Key())
		values, _ := r.Values()
		for _, v := range values {
			if m.Has(v) {
				out[i] = append(out[i], v)
			}
		}
	}
	return out
}

// tally counts the options that have a value, by minimum and value.
type tally []map[string]int

func (w *work) tally(candidates []*candidate) tally {
	t := make(tally, len(w.minimums))
	for i := range t {
		t[i] = map[string]int{}
	}
	for _, c := range candidates {
		t.add(c, 1)
	}
	return t
}

func (t tally) add(c *candidate, n int) {
	for i, values := range c.values {
		for _, v := range values {
			if t[i][v] += n; t[i][v] == 0 {
				delete(t[i], v)
			}
		}
	}
}

// met returns how many values count towards the minimums, for each at most as many as needed.
func (w *work) met(t tally) int {
	sum := 0
	for i, m := range w.minimums {
		sum += min(len(t[i]), m.need)
	}
	return sum
}

// unmet returns the minimums for which candidates have too few values.
func (w *work) unmet(candidates []*candidate) []Unmet {
	var out []Unmet
	t := w.tally(candidates)
	for i, m := range w.minimums {
		if have := len(t[i]); have < m.need {
			out = append(out, Unmet{Key: m.Key(), Need: m.need, Have: have})
		}
	}
	return out
}

// fails reports whether a minimum that held before does not hold after. If a call takes one
// capacity type, it also reports the loss of the last capacity type for which all minimums hold.
func (w *work) fails(before, after []*candidate) bool {
	if len(w.minimums) == 0 {
		return false
	}
	b, a := w.tally(before), w.tally(after)
	for i, m := range w.minimums {
		if len(b[i]) >= m.need && len(a[i]) < m.need {
			return true
		}
	}
	return w.OneCapacityType && w.someTypeHolds(before) && !w.someTypeHolds(after)
}

// someTypeHolds reports whether all minimums hold for the options of one
// capacity type.
func (w *work) someTypeHolds(candidates []*candidate) bool {
	for _, of := range byCapacityType(candidates) {
		if len(w.unmet(of)) == 0 {
			return true
		}
	}
	return false
}

func byCapacityType(candidates []*candidate) map[string][]*candidate {
	by := map[string][]*candidate{}
	for _, c := range candidates {
		by[c.key.CapacityType] = append(by[c.key.CapacityType], c)
	}
	return by
}

// limit cuts the list to Limit instance types.
func (w *work) limit() {
	var names []string
	by := map[string][]*candidate{}
	for _, c := range w.left {
		if by[c.key.InstanceType] == nil {
			names = append(names, c.key.InstanceType)
		}
		by[c.key.InstanceType] = append(by[c.key.InstanceType], c)
	}
	if len(names) <= w.Limit {
		return
	}
	chosen := w.cover(names, by)
	var kept []*candidate
	for _, c := range w.left {
		if chosen[c.key.InstanceType] {
			kept = append(kept, c)
			continue
		}
		w.drop(c, BeyondLimit, "beyond the %d instance types of one call, of %d", w.Limit, len(names))
	}
	w.left = kept
}
