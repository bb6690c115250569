package resources

import (
	"cmp"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// List is an immutable set of resource amounts, sorted by resource name. The
// unit of each amount follows from the name; see the package comment. The zero
// value is the empty list and is ready to use.
//
// A List is a small header over shared memory: copy it freely. Two lists are
// compared with Equal, not ==.
type List struct {
	// entries are sorted by name without duplicates, and nil when empty so
	// that equal lists are also deeply equal.
	entries []entry
}

type entry struct {
	name   corev1.ResourceName
	amount int64
}

// New returns the list of the given amounts, zeros included. It copies the map.
// A nil or empty map gives the empty list.
func New(amounts map[corev1.ResourceName]int64) List {
	if len(amounts) == 0 {
		return List{}
	}
	entries := make([]entry, 0, len(amounts))
	for name, amount := range amounts {
		entries = append(entries, entry{name, amount})
	}
	return sorted(entries)
}

// sorted takes ownership of entries, whose names are distinct.
func sorted(entries []entry) List {
	if len(entries) == 0 {
		return List{}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return List{entries}
}

// Get returns the amount of name, and 0 when name is absent.
func (l List) Get(name corev1.ResourceName) int64 {
	amount, _ := l.Lookup(name)
	return amount
}

// Lookup returns the amount of name and whether name is listed. It tells a
// listed zero from an absent name.
func (l List) Lookup(name corev1.ResourceName) (amount int64, listed bool) {
	// Lists hold a handful of entries, for which a scan beats a binary search.
	for i := range l.entries {
		if l.entries[i].name == name {
			return l.entries[i].amount, true
		}
	}
	return 0, false
}

// All yields every listed name with its amount, sorted by name.
func (l List) All() iter.Seq2[corev1.ResourceName, int64] {
	return func(yield func(corev1.ResourceName, int64) bool) {
		for _, e := range l.entries {
			if !yield(e.name, e.amount) {
				return
			}
		}
	}
}

// Len returns the number of listed names, zeros included.
func (l List) Len() int { return len(l.entries) }

// With returns a copy of l in which name is listed with amount n.
func (l List) With(name corev1.ResourceName, n int64) List {
	i, found := slices.BinarySearchFunc(l.entries, name, func(e entry, name corev1.ResourceName) int {
		return cmp.Compare(e.name, name)
	})
	entries := make([]entry, 0, len(l.entries)+1)
	entries = append(entries, l.entries[:i]...)
	entries = append(entries, entry{name, n})
	if found {
		i++
	}
	return List{append(entries, l.entries[i:]...)}
}

// Without returns a copy of l in which none of names is listed.
func (l List) Without(names ...corev1.ResourceName) List {
	var entries []entry
	for _, e := range l.entries {
		if !slices.Contains(names, e.name) {
			entries = append(entries, e)
		}
	}
	return List{entries}
}

// Equal reports whether l and m list the same names with the same amounts. A
// listed zero differs from an absent name.
func (l List) Equal(m List) bool {
	return slices.Equal(l.entries, m.entries)
}

// Negative returns the names whose amount is below zero, sorted, or nil.
func (l List) Negative() []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, e := range l.entries {
		if e.amount < 0 {
			names = append(names, e.name)
		}
	}
	return names
}
