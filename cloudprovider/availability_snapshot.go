package cloudprovider

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// AvailabilitySnapshot is what an Availability knew at one instant, as a value:
// to decide on while the original moves on, to show, or to keep over a restart.
// It is read-only.
type AvailabilitySnapshot struct {
	// At is when it was taken.
	At time.Time
	// Marks are the marks in force, sorted by scope, one a scope.
	Marks []Mark
	// Refusals are the scopes remembered beyond their marks, sorted by scope,
	// one a scope.
	Refusals []Refusal
}

// Refusal is a scope that was refused and is remembered.
type Refusal struct {
	// Scope is what was refused.
	Scope Scope
	// Count is how many times in a row, one or more.
	Count int
	// Until is when it is forgotten, unless it is refused again.
	Until time.Time
}

// Snapshot returns what a knows now. Probes counted in a period that still runs
// are left out, so a restored Availability may let a few launches more through.
func (a *Availability) Snapshot() AvailabilitySnapshot {
	a.lock()
	defer a.unlock()
	s := AvailabilitySnapshot{At: a.advance()}
	for _, m := range a.queue {
		if r, found := a.past.records[m.Scope]; !found || !r.probing {
			s.Marks = append(s.Marks, m.Mark)
		}
	}
	for _, r := range a.past.queue {
		s.Refusals = append(s.Refusals, Refusal{Scope: r.scope, Count: r.count, Until: r.until})
	}
	slices.SortFunc(s.Marks, func(a, b Mark) int { return a.Scope.Compare(b.Scope) })
	slices.SortFunc(s.Refusals, func(a, b Refusal) int { return a.Scope.Compare(b.Scope) })
	return s
}

// Restore replaces what a knows by the snapshot, as after a restart. Marks and
// refusals whose time is up are left out, and so are refusals if the options
// have no use for them. The error lists every fault of the snapshot: a scope
// that is listed twice, a mark that ends before it begins, a count below one;
// a is as it was then.
func (a *Availability) Restore(s AvailabilitySnapshot) error {
	if err := s.validate(); err != nil {
		return err
	}
	a.lock()
	defer a.unlock()
	now := a.advance()
	a.clear()
	for _, m := range s.Marks {
		if m.Until.After(now) {
			a.insert(m)
		}
	}
	if a.opts.remembers() {
		for _, old := range s.Refusals {
			if old.Until.After(now) {
				r := a.past.add(old.Scope)
				r.count = old.Count
				a.past.rememberUntil(r, old.Until)
			}
		}
	}
	a.bound()
	return nil
}

func (s *AvailabilitySnapshot) validate() error {
	f := faults{prefix: "availability snapshot"}
	marked := make(map[Scope]bool, len(s.Marks))
	for i, m := range s.Marks {
		if marked[m.Scope] {
			f.add("marks[%d]: %s is listed twice; keep the mark that ends last", i, m.Scope)
		}
		marked[m.Scope] = true
		if m.Until.Before(m.Since) {
			f.add("marks[%d]: %s ends at %v, before it begins; swap since and until", i, m.Scope, m.Until.UTC().Format(time.RFC3339))
		}
	}
	remembered := make(map[Scope]bool, len(s.Refusals))
	for i, r := range s.Refusals {
		if remembered[r.Scope] {
			f.add("refusals[%d]: %s is listed twice; keep one", i, r.Scope)
		}
		remembered[r.Scope] = true
		if r.Count < 1 {
			f.add("refusals[%d]: %s: count: %d; use one or more, or leave it out", i, r.Scope, r.Count)
		}
	}
	return errors.Join(f.errs...)
}

// Unavailable reports whether a mark of the snapshot covers the offering at the
// instant now, and which. Of several it returns the one that Availability would
// return: the one that ends last, then the first by Scope.
func (s AvailabilitySnapshot) Unavailable(now time.Time, key OfferingKey) (best Mark, found bool) {
	for f := range fieldsEnd {
		scope := key.only(f)
		if scope.fields() != f {
			continue // the same scope as with fewer fields
		}
		i, marked := slices.BinarySearchFunc(s.Marks, scope, func(m Mark, t Scope) int { return m.Scope.Compare(t) })
		if !marked || !s.Marks[i].Until.After(now) {
			continue
		}
		m := s.Marks[i]
		if !found || cmp.Or(m.Until.Compare(best.Until), best.Scope.Compare(m.Scope)) > 0 {
			best, found = m, true
		}
	}
	return best, found
}

// Apply returns types with every offering that the snapshot marks at the
// instant now set to not Available. The input is not modified: types with such
// offerings are replaced by copies, the others are shared with the input, and so
// is what copies hold beside their offerings. The slice is the caller's and has
// the order of the input.
func (s AvailabilitySnapshot) Apply(now time.Time, types []*InstanceType) []*InstanceType {
	return withUnavailable(types, func(*InstanceType) bool { return len(s.Marks) > 0 }, func(k OfferingKey) bool {
		_, marked := s.Unavailable(now, k)
		return marked
	})
}

// String returns one line, as in "m5.large/zone-a/spot refused 3 times, remembered until 2026-01-02T15:04:05Z".
func (r Refusal) String() string {
	times := "times"
	if r.Count == 1 {
		times = "time"
	}
	return fmt.Sprintf("%s refused %d %s, remembered until %s", r.Scope, r.Count, times, r.Until.UTC().Format(time.RFC3339))
}
