package pack_test

// splitmix is a small source of numbers, the same on every machine and in
// every release of Go.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// intn returns a number in [0, n).
func (s *splitmix) intn(n int) int { return int(s.next() % uint64(n)) }

// between returns a number in [low, high].
func (s *splitmix) between(low, high int) int { return low + s.intn(high-low+1) }

// float returns a number in [0, 1).
func (s *splitmix) float() float64 { return float64(s.next()>>11) / (1 << 53) }

// chance is true n times out of a hundred.
func (s *splitmix) chance(n int) bool { return s.intn(100) < n }

func purchaseOf[T any](s *splitmix, v []T) T { return v[s.intn(len(v))] }
