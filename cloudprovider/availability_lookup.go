package cloudprovider

import (
	"slices"
	"time"
)

// Unavailable reports whether a mark covers the offering now, and which. Of
// several it returns the one that ends last; of those that end together, the
// first by Scope.
func (a *Availability) Unavailable(key OfferingKey) (Mark, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance()
	return a.covering(key)
}

func (a *Availability) covering(key OfferingKey) (best Mark, found bool) {
	if !a.concerned(key.InstanceType) {
		return Mark{}, false
	}
	for f := range fieldsEnd {
		if a.inUse[f] == 0 {
			continue
		}
		m, marked := a.marks[key.only(f)]
		if !marked {
			continue
		}
		c := m.Until.Compare(best.Until)
		if !found || c > 0 || c == 0 && m.Scope.Compare(best.Scope) < 0 {
			best, found = m.Mark, true
		}
	}
	return best, found
}

// concerned reports whether any mark could cover an offering of the type.
func (a *Availability) concerned(instanceType string) bool {
	return a.types[""] > 0 || a.types[instanceType] > 0
}

// Apply returns types with every offering that is marked now set to not
// Available. The input is not modified: types with such offerings are replaced
// by copies, the others are shared with the input. The slice is the caller's
// and has the order of the input.
func (a *Availability) Apply(types []*InstanceType) []*InstanceType {
	applied := slices.Clone(types)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance()
	if len(a.queue) == 0 {
		return applied
	}
	for i, t := range types {
		if t != nil && a.concerned(t.Name) {
			applied[i] = a.apply(t)
		}
	}
	return applied
}

func (a *Availability) apply(t *InstanceType) *InstanceType {
	result := t
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if !o.Available {
			continue
		}
		if _, marked := a.covering(o.Key(t.Name)); !marked {
			continue
		}
		if result == t {
			result = t.Clone()
		}
		result.Offerings[i].Available = false
	}
	return result
}

// Sequence returns a number that grows whenever the set of marked scopes
// changes: by a new mark, by one that ends, and by one that is removed or
// dropped. While it stays the same, so does what Apply and Unavailable say is
// unavailable; that a mark is prolonged does not count. Keep the result of
// Apply with the number read before it, and apply anew when the number differs.
func (a *Availability) Sequence() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance()
	return a.sequence
}

// NextEnd returns when the next mark ends, which is when answers next change of
// themselves. It reports false if nothing is marked.
func (a *Availability) NextEnd() (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance()
	if len(a.queue) == 0 {
		return time.Time{}, false
	}
	return a.queue[0].Until, true
}

// Marks returns all marks now in force, sorted by scope: what to show to a
// person who asks why something is not launched.
func (a *Availability) Marks() []Mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance()
	marks := make([]Mark, 0, len(a.queue))
	for _, m := range a.queue {
		marks = append(marks, m.Mark)
	}
	slices.SortFunc(marks, func(a, b Mark) int { return a.Scope.Compare(b.Scope) })
	return marks
}
