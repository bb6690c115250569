package state

import "time"

// Sooner is the earlier of two instants, of which zero is never.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ZeroOrOne is one for true, to compare by.
func ZeroOrOne(b bool) int {
	if b {
		return 1
	}
	return 0
}
