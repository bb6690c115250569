package state

import "time"

// Sooner returns the earlier of two instants; zero is never.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ZeroOrOne returns 0 for false and 1 for true.
func ZeroOrOne(b bool) int {
	if b {
		return 1
	}
	return 0
}
