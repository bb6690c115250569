// Package chance generates pseudo-random numbers from a seed: it has the SplitMix64 generator and
// its finaliser.
package chance

// Stream is a stream of numbers. Two with the same seed and name have the same.
type Stream struct{ state uint64 }

// New returns the stream of a seed that has a name, which is a number: Hash makes one
// of a text. Each thing that has to do with chance has a stream of its own, so that
// what befalls one does not depend on which others there are.
func New(seed, name uint64) Stream { return Stream{state: Mix(seed) ^ name} }

// golden is 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// At returns what the nth call of Next will return, from 1.
func (s Stream) At(n uint64) uint64 { return Mix(s.state + n*golden) }

// Next returns the next 64 bits.
func (s *Stream) Next() uint64 {
	s.state += golden
	return Mix(s.state)
}

// Mix maps similar numbers to dissimilar ones. It is the finaliser of SplitMix64.
func Mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Hash spreads texts evenly over the 64-bit numbers: FNV-1a with the finaliser, without
// which texts that differ in the last letter only would lie side by side.
func Hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return Mix(h)
}
