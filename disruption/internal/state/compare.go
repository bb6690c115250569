package state

import "time"

// Sooner returns the earliest of some instants; zero is never.
func Sooner(instants ...time.Time) (first time.Time) {
	for _, at := range instants {
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}

// ZeroOrOne returns 0 for false and 1 for true.
func ZeroOrOne(b bool) int {
	if b {
		return 1
	}
	return 0
}
