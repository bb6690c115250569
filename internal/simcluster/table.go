package simcluster

import (
	"maps"
	"slices"
)

// Table holds objects by name, as an API server does for one kind, and lists
// them in the order of their names. Objects in it are replaced and not written
// to, so a list that was returned earlier stays valid.
type Table[T comparable] struct {
	byName map[string]T
	list   []T // in the order of names; nil if it has to be made anew
	writes int // how often the table was changed
}

// Get returns an object, and whether it is there.
func (t *Table[T]) Get(name string) (T, bool) {
	object, ok := t.byName[name]
	return object, ok
}

// Put stores an object. The one that is there already is no change.
func (t *Table[T]) Put(name string, object T) {
	if have, ok := t.byName[name]; ok && have == object {
		return
	}
	if t.byName == nil {
		t.byName = map[string]T{}
	}
	t.byName[name] = object
	t.list, t.writes = nil, t.writes+1
}

// Remove forgets an object.
func (t *Table[T]) Remove(name string) {
	delete(t.byName, name)
	t.list, t.writes = nil, t.writes+1
}

// All lists the objects. The list is read-only.
func (t *Table[T]) All() []T {
	if t.list == nil {
		t.list = make([]T, 0, len(t.byName))
		for _, name := range slices.Sorted(maps.Keys(t.byName)) {
			t.list = append(t.list, t.byName[name])
		}
	}
	return t.list
}
