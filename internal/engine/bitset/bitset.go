// Package bitset holds fixed-size sets of small integers as machine words.
package bitset

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// Set is a set of integers in [0, n), for the n that it was made with. Sets may be combined only if
// they were made with the same n.
type Set []uint64

// New returns an empty set for integers in [0, n).
func New(n int) Set { return make(Set, (n+63)/64) }

// Full returns the set of all integers in [0, n).
func Full(n int) Set {
	out := New(n)
	out.AddRange(0, n)
	return out
}

// Of returns a set of one integer, for integers in [0, n).
func Of(n, i int) Set {
	out := New(n)
	out.Add(i)
	return out
}

// Window returns the part of the set that holds [lo, hi), as a set of integers minus Base(lo). It
// shares memory with s. It consists of whole words, so it may hold a few integers below lo and
// above hi.
func (s Set) Window(lo, hi int) Set { return s[lo>>6 : (hi+63)>>6] }

// Base returns the integer that is number 0 in a Window that begins with lo.
func Base(lo int) int { return lo &^ 63 }

// NewWindow returns an empty set of the size of a Window of [lo, hi).
func NewWindow(lo, hi int) Set { return make(Set, (hi+63)>>6-lo>>6) }

// Add puts i into the set.
func (s Set) Add(i int) { s[i>>6] |= 1 << (i & 63) }

// Remove takes i out of the set.
func (s Set) Remove(i int) { s[i>>6] &^= 1 << (i & 63) }

// Has says whether i is in the set.
func (s Set) Has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

// Clone returns a copy that shares nothing with s.
func (s Set) Clone() Set { return append(make(Set, 0, len(s)), s...) }

// Both returns a new set of the integers that are in s and in t.
func (s Set) Both(t Set) Set {
	out := s.Clone()
	out.And(t)
	return out
}

// Without returns a new set of the integers that are in s and not in t.
func (s Set) Without(t Set) Set {
	out := s.Clone()
	out.AndNot(t)
	return out
}

// AddRange puts [lo, hi) into the set.
func (s Set) AddRange(lo, hi int) {
	for i := lo; i < hi; {
		if i&63 == 0 && hi-i >= 64 {
			s[i>>6] = ^uint64(0)
			i += 64
			continue
		}
		s.Add(i)
		i++
	}
}

// And removes from s what is not in t.
func (s Set) And(t Set) {
	for i := range s {
		s[i] &= t[i]
	}
}

// Or adds to s what is in t.
func (s Set) Or(t Set) {
	for i := range s {
		s[i] |= t[i]
	}
}

// AndNot removes from s what is in t.
func (s Set) AndNot(t Set) {
	for i := range s {
		s[i] &^= t[i]
	}
}

// AndWindow removes from s the integers of [lo, hi) that are not in t, a Window of [lo, hi).
func (s Set) AndWindow(lo, hi int, t Set) {
	for i, keep := range t {
		if i == 0 {
			keep |= 1<<(lo&63) - 1
		}
		if i == len(t)-1 && hi&63 != 0 {
			keep |= ^uint64(0) << (hi & 63)
		}
		s[lo>>6+i] &= keep
	}
}

// Empty says whether the set has no members.
func (s Set) Empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// First returns the least member, -1 if the set is empty.
func (s Set) First() int {
	for i, word := range s {
		if word != 0 {
			return i<<6 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// Len counts the members.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// SubsetOf says whether every member is in t.
func (s Set) SubsetOf(t Set) bool {
	for i, w := range s {
		if w&^t[i] != 0 {
			return false
		}
	}
	return true
}

// Overlaps says whether s and t have a member in common.
func (s Set) Overlaps(t Set) bool {
	for i, w := range s {
		if w&t[i] != 0 {
			return true
		}
	}
	return false
}

// Equal says whether s and t have the same members.
func (s Set) Equal(t Set) bool {
	for i, w := range s {
		if w != t[i] {
			return false
		}
	}
	return true
}

// All yields the members in ascending order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for w != 0 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
				w &= w - 1
			}
		}
	}
}

// Key returns the members as a string for use in maps. Sets made with one n have equal keys if and
// only if they are equal. The key is short if the members are few and close to each other. A key
// may be a prefix of another.
func (s Set) Key() string {
	n := 0
	for _, w := range s {
		if w != 0 {
			n++
		}
	}
	return string(s.AppendKey(make([]byte, 0, n*9)))
}

// AppendKey appends the key of a set to b.
func (s Set) AppendKey(b []byte) []byte {
	last := 0
	for i, w := range s {
		if w != 0 {
			b = binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, uint64(i-last)), w)
			last = i
		}
	}
	return b
}

// Index numbers sets that are made with one n: equal sets have equal numbers, in the order in which they
// come. The zero value has none. It is not safe for concurrent use.
type Index struct {
	known map[string]int32
	key   []byte // of the last set
}

// Of returns the number of a set, and whether the set is new.
func (x *Index) Of(s Set) (number int32, fresh bool) {
	x.key = s.AppendKey(x.key[:0])
	if number, known := x.known[string(x.key)]; known {
		return number, false
	}
	if x.known == nil {
		x.known = map[string]int32{}
	}
	number = int32(len(x.known))
	x.known[string(x.key)] = number
	return number, true
}

// Len returns how many sets have a number.
func (x *Index) Len() int { return len(x.known) }

// Holders returns a function that gives, for each integer in [first, last), the set of those
// indexes in sets whose set contains the integer.
func Holders(sets []Set, first, last int) func(i int) Set {
	words := len(New(len(sets)))
	flat := make([]uint64, words*(last-first))
	of := func(i int) Set { return flat[(i-first)*words : (i-first+1)*words] }
	for n, set := range sets {
		for i := range set.All() {
			of(i).Add(n)
		}
	}
	return of
}
