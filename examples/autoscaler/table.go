package main

import (
	"maps"
	"slices"
)

// table holds objects by name, as an API server does for one kind, and lists
// them in the order of their names. Objects in it are replaced and not written
// to, so whoever took a list keeps what it saw.
type table[T comparable] struct {
	byName map[string]T
	list   []T // in the order of names; nil if it has to be made anew
	writes int // how often the table was changed
}

func (t *table[T]) get(name string) (T, bool) {
	object, ok := t.byName[name]
	return object, ok
}

// put stores an object. The one that is there already is no change.
func (t *table[T]) put(name string, object T) {
	if have, ok := t.byName[name]; ok && have == object {
		return
	}
	if t.byName == nil {
		t.byName = map[string]T{}
	}
	t.byName[name] = object
	t.list, t.writes = nil, t.writes+1
}

func (t *table[T]) remove(name string) {
	delete(t.byName, name)
	t.list, t.writes = nil, t.writes+1
}

// all lists the objects. The list is read-only.
func (t *table[T]) all() []T {
	if t.list == nil {
		t.list = make([]T, 0, len(t.byName))
		for _, name := range slices.Sorted(maps.Keys(t.byName)) {
			t.list = append(t.list, t.byName[name])
		}
	}
	return t.list
}
