package requirements

import (
	"iter"
	"slices"
	"sort"
	"strings"
)

// Set is a conjunction of requirements, at most one for each key, sorted by key in byte order. It
// does not restrict labels whose keys it does not name; Compatible says how such labels are
// treated.
//
// A Set is immutable and may be shared between goroutines and copied freely.
// The zero value is empty and admits everything.
//
// Compare with Equal, not with ==.
type Set struct {
	reqs []Requirement // sorted by key, keys differ; never written after construction
}

// NewSet returns the conjunction of the requirements. Those with the same key
// are intersected.
func NewSet(reqs ...Requirement) Set {
	if len(reqs) == 0 {
		return Set{}
	}
	sorted := slices.Clone(reqs)
	slices.SortStableFunc(sorted, func(a, b Requirement) int { return strings.Compare(a.key, b.key) })
	out := sorted[:1]
	for _, r := range sorted[1:] {
		if last := &out[len(out)-1]; last.key == r.key {
			*last = last.Intersect(r)
		} else {
			out = append(out, r)
		}
	}
	return Set{reqs: slices.Clip(out)}
}

// Get returns the requirement on a key. Without one it returns false and a
// requirement that admits every state of that key.
func (s Set) Get(key string) (Requirement, bool) {
	near := s.reqs
	if len(near) > few {
		i := sort.Search(len(near), func(i int) bool { return near[i].key >= key })
		near = near[i:min(i+1, len(near))]
	}
	for i := range near {
		if near[i].key == key {
			return near[i], true
		}
	}
	return NotIn(key), false
}

// few is the largest number of keys that are compared one by one. Most unequal keys have different
// lengths, whereas an ordered search compares their common beginnings.
const few = 32

// All iterates over the requirements in the order of their keys.
func (s Set) All() iter.Seq[Requirement] { return slices.Values(s.reqs) }

// Len returns the number of keys that the Set has a requirement on.
func (s Set) Len() int { return len(s.reqs) }

// With returns a Set with the requirements added, each intersected with the one
// on the same key if there is one.
func (s Set) With(reqs ...Requirement) Set { return s.Intersect(NewSet(reqs...)) }

// Without returns a Set without the requirements on the keys given. Keys that
// the Set does not name are ignored.
func (s Set) Without(keys ...string) Set {
	drop := func(r Requirement) bool { return slices.Contains(keys, r.key) }
	if !slices.ContainsFunc(s.reqs, drop) {
		return s
	}
	return Set{reqs: slices.DeleteFunc(slices.Clone(s.reqs), drop)}
}

// Intersect returns the conjunction of both. It is commutative, associative and
// idempotent, and the empty Set changes nothing. A key with requirements that
// contradict each other stays, as Impossible.
func (s Set) Intersect(t Set) Set {
	switch {
	case len(t.reqs) == 0:
		return s
	case len(s.reqs) == 0:
		return t
	case s.repeats(t):
		return s
	}
	a, b := s.reqs, t.reqs
	out := make([]Requirement, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0].key, b[0].key) {
		case -1:
			out, a = append(out, a[0]), a[1:]
		case 1:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0].Intersect(b[0])), a[1:], b[1:]
		}
	}
	return Set{reqs: append(append(out, a...), b...)}
}

// repeats reports whether s has each requirement of t as it is.
func (s Set) repeats(t Set) bool {
	a := s.reqs
	for i := range t.reqs {
		for len(a) > 0 && a[0].key < t.reqs[i].key {
			a = a[1:]
		}
		if len(a) == 0 || !a[0].Equal(t.reqs[i]) {
			return false
		}
	}
	return true
}

// Impossible reports whether some requirement is Impossible, so that no labels
// match.
func (s Set) Impossible() bool {
	return slices.ContainsFunc(s.reqs, Requirement.Impossible)
}

// Equal reports whether both have Equal requirements on the same keys. It is so
// exactly when their Strings are equal.
func (s Set) Equal(t Set) bool {
	if len(s.reqs) > 0 && len(s.reqs) == len(t.reqs) && &s.reqs[0] == &t.reqs[0] {
		return true // both are copies of one Set
	}
	return slices.EqualFunc(s.reqs, t.reqs, Requirement.Equal)
}

// Matches reports whether labels satisfy every requirement. The labels are all
// there are: a key that is not among them is absent. Keys and values are
// compared as they stand; where aliases matter, use FromLabels and Compatible.
func (s Set) Matches(labels map[string]string) bool {
	for i := range s.reqs {
		r := &s.reqs[i]
		value, present := labels[r.key]
		if present && !r.Has(value) || !present && !r.AllowsAbsent() {
			return false
		}
	}
	return true
}

// String writes the Set in the text form that Parse reads, in the order of the
// keys; the empty Set is the empty string. Equal Sets have equal strings, and
// others have different ones.
func (s Set) String() string {
	var buffer [512]byte
	return string(s.append(buffer[:0]))
}

// AppendText appends the text of String to b. The error is always nil; it is
// there for encoding.TextAppender.
func (s Set) AppendText(b []byte) ([]byte, error) { return s.append(b), nil }

// MarshalText returns the text of String. The error is always nil; it is there
// for encoding.TextMarshaler.
func (s Set) MarshalText() ([]byte, error) { return s.append([]byte{}), nil }

// UnmarshalText replaces the Set by the one that Parse reads. If Parse fails,
// it returns that error and leaves the Set alone.
func (s *Set) UnmarshalText(text []byte) error {
	t, err := Parse(string(text))
	if err != nil {
		return err
	}
	*s = t
	return nil
}

func (s Set) append(b []byte) []byte {
	for i, r := range s.reqs {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = r.append(b)
	}
	return b
}
