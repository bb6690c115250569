package requirements

import (
	"slices"
	"strings"
)

// The functions of this file work on sorted slices of strings without
// duplicates, which they never write to and may return as they are.

// sortedCopy returns the values sorted and without duplicates, and nil if there
// are none.
func sortedCopy(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

// contains reports whether v is among the values.
func contains(values []string, v string) bool {
	// Most lists are short. Comparing for equality looks at the lengths first,
	// and so is cheaper than the ordering a binary search needs.
	if len(values) <= 8 {
		for _, w := range values {
			if w == v {
				return true
			}
		}
		return false
	}
	_, found := slices.BinarySearch(values, v)
	return found
}

// shareValue reports whether a and b have a value in common.
func shareValue(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	// A few values against a catalog's hundreds: look each of them up.
	if len(b) > 8*len(a) {
		for _, v := range a {
			if contains(b, v) {
				return true
			}
		}
		return false
	}
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case -1:
			a = a[1:]
		case 1:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// common returns the values that are in both, and nil if none is.
func common(a, b []string) []string {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b) > 8*len(a) {
		return filter(a, func(v string) bool { return contains(b, v) })
	}
	return filter(a, func(v string) bool {
		for len(b) > 0 && b[0] < v {
			b = b[1:]
		}
		return len(b) > 0 && b[0] == v
	})
}

// filter returns the values that pass keep, and nil if none does. It calls keep
// once for each value, in order.
func filter(values []string, keep func(string) bool) []string {
	// As a rule all pass or none does, and then there is nothing to allocate.
	kept := 0
	for kept < len(values) && keep(values[kept]) {
		kept++
	}
	if kept == len(values) {
		return values
	}
	var out []string
	if kept > 0 {
		out = append(make([]string, 0, len(values)-1), values[:kept]...)
	}
	for i := kept + 1; i < len(values); i++ {
		if !keep(values[i]) {
			continue
		}
		if out == nil {
			out = make([]string, 0, len(values)-i)
		}
		out = append(out, values[i])
	}
	if len(out) < cap(out)/4 {
		return slices.Clone(out) // a few zones need not keep a catalog in memory
	}
	return out
}

// union returns the values of both.
func union(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case -1:
			out, a = append(out, a[0]), a[1:]
		case 1:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	out = append(append(out, a...), b...)
	return slices.Clip(out)
}
