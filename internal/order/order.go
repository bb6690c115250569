// Package order compares flags and instants for sorting.
package order

import (
	"cmp"
	"time"
)

// Bools orders false before true.
func Bools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Instants orders instants, with the zero instant last.
func Instants(a, b time.Time) int { return cmp.Or(Bools(a.IsZero(), b.IsZero()), a.Compare(b)) }

// Sooner returns the earliest of some instants; zero is never.
func Sooner(instants ...time.Time) (first time.Time) {
	for _, at := range instants {
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}
