package cloudprovider

import (
	"slices"
	"time"
)

// Unavailable reports whether a mark covers the offering now, and which. Of
// several it returns the one that ends last; of those that end together, the
// first by Scope.
//
// It takes no lock unless a mark has just ended or another goroutine is changing
// marks at the same time, and reads the clock only if a mark covers the offering.
func (a *Availability) Unavailable(key OfferingKey) (Mark, bool) {
	version := a.marks.version.Load()
	m := a.marks.covering(key)
	if !a.marks.settled(version) {
		return a.unavailable(key)
	}
	if m == nil {
		return Mark{}, false
	}
	if !m.Until.After(a.now()) {
		return a.unavailable(key)
	}
	return m.Mark, true
}

// unavailable is Unavailable under the lock. Marks that have ended are removed,
// so that a clock that steps back does not revive them.
func (a *Availability) unavailable(key OfferingKey) (Mark, bool) {
	a.lock()
	defer a.unlock()
	a.advance()
	if m := a.marks.covering(key); m != nil {
		return m.Mark, true
	}
	return Mark{}, false
}

// Apply returns types with every offering that is marked now set to not
// Available. The input is not modified: types with such offerings are replaced
// by copies, the others are shared with the input, and so is what copies hold
// beside their offerings. The slice is the caller's and has the order of the
// input.
func (a *Availability) Apply(types []*InstanceType) []*InstanceType {
	a.lock()
	defer a.unlock()
	a.advance()
	if len(a.queue) == 0 {
		return slices.Clone(types)
	}
	return withUnavailable(types, a.concerned, func(k OfferingKey) bool { return a.marks.covering(k) != nil })
}

// concerned reports whether any mark could cover an offering of the type.
func (a *Availability) concerned(t *InstanceType) bool {
	return a.types[""] > 0 || a.types[t.Name] > 0
}

// Sequence returns a number that grows whenever the set of marked scopes
// changes: by a new mark, by one that ends, and by one that is removed or
// dropped. While it stays the same, so does what Apply and Unavailable say is
// unavailable; that a mark is prolonged does not count. Keep the result of
// Apply with the number read before it, and apply anew when the number differs.
func (a *Availability) Sequence() uint64 {
	a.lock()
	defer a.unlock()
	a.advance()
	return a.sequence
}

// NextEnd returns when the next mark ends, which is when answers next change of
// themselves. It reports false if nothing is marked.
func (a *Availability) NextEnd() (time.Time, bool) {
	a.lock()
	defer a.unlock()
	a.advance()
	if len(a.queue) == 0 {
		return time.Time{}, false
	}
	return a.queue[0].Until, true
}

// Marks returns all marks now in force, sorted by scope: what to show to a
// person who asks why something is not launched.
func (a *Availability) Marks() []Mark {
	a.lock()
	defer a.unlock()
	a.advance()
	marks := make([]Mark, 0, len(a.queue))
	for _, m := range a.queue {
		marks = append(marks, m.Mark)
	}
	slices.SortFunc(marks, func(a, b Mark) int { return a.Scope.Compare(b.Scope) })
	return marks
}
