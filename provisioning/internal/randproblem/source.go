package randproblem

// source is a splitmix64 generator: a counter and a mixing function, good
// enough to draw problems from and short enough to be here. Package math/rand
// does not promise the same numbers for ever.
type source struct{ state uint64 }

func (s *source) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws a number from 0 to n-1; it returns 0 if n is not positive. The remainder is slightly
// biased, which does not matter for small n.
func (s *source) below(n int) int {
	if n <= 0 {
		return 0
	}
	return int(s.next() % uint64(n))
}

// between draws from low to high, both included.
func (s *source) between(low, high int) int { return low + s.below(high-low+1) }

// chance returns true in percent out of 100 draws.
func (s *source) chance(percent int) bool { return s.below(100) < percent }

// pick draws an element.
func pick[T any](s *source, from []T) T { return from[s.below(len(from))] }

// some draws a subset of at least the given size, in the order of from.
func some[T any](s *source, atLeast int, from []T) []T {
	size := s.between(min(atLeast, len(from)), len(from))
	left := len(from)
	var drawn []T
	for _, x := range from {
		if s.below(left) < size-len(drawn) {
			drawn = append(drawn, x)
		}
		left--
	}
	return drawn
}
