package fake

import (
	"math/bits"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/internal/chance"
)

// dice is a stream of chance that a seed and some names decide: what befalls one
// machine does not depend on which others there are, nor on the order of calls.
type dice struct{ chance.Stream }

func newDice(seed uint64, names ...string) *dice {
	return &dice{chance.New(seed, chance.Hash(strings.Join(names, "\x00")))}
}

// below returns a number from 0 to n-1; n is above zero.
func (d *dice) below(n uint64) uint64 {
	high, _ := bits.Mul64(d.Next(), n)
	return high
}

// in returns a duration of the span, a number of whole milliseconds above its
// lower end, all of them equally likely. Finer ones only make logs hard to read.
func (d *dice) in(s Span) time.Duration {
	if s.Max <= s.Min {
		return s.Min
	}
	return s.Min + time.Duration(d.below(uint64((s.Max-s.Min)/time.Millisecond)+1))*time.Millisecond
}

// maxWait bounds what chance may ask to wait: above it an event is as good as
// never, and sums stay far from the end of the range.
const maxWait = 100 * 365 * 24 * time.Hour

// exponential returns how long something takes to happen that happens at any
// moment with the same likelihood, and after mean on average, rounded up to
// whole seconds. It is von
// Neumann's method, which compares numbers and takes no logarithm: those of
// package math may differ in the last bit from machine to machine.
func (d *dice) exponential(mean time.Duration) time.Duration {
	for whole := time.Duration(0); ; whole += mean {
		if mean > maxWait || whole > maxWait {
			return maxWait
		}
		first := d.Next()
		falling := 1
		for last := first; ; falling++ {
			n := d.Next()
			if n >= last {
				break
			}
			last = n
		}
		if falling%2 == 1 {
			part, _ := bits.Mul64(first, uint64(mean))
			exact := min(whole+time.Duration(part), maxWait)
			return (exact/time.Second + 1) * time.Second
		}
	}
}
