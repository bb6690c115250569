package fake

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/internal/chance"
)

// Now returns the cloud's time: that of Options.Now, moved on by every Advance and by the
// delays of faults. It never goes back, even if Options.Now does.
func (c *Cloud) Now() time.Time {
	c.enter()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the cloud's clock on by d and runs all events that are due by then, in the order of
// time; events of one instant in the order in which they were scheduled. It returns the events of
// that time. A d below zero counts as zero.
func (c *Cloud) Advance(d time.Duration) []Event {
	c.enter()
	defer c.mu.Unlock()
	before := len(c.events)
	c.pass(d)
	return slices.Clone(c.events[before:])
}

// enter locks the cloud and brings it up to the present. The clock is read outside of the lock,
// because it may ask the cloud for something.
func (c *Cloud) enter() {
	now := c.clock()
	c.mu.Lock()
	c.base = later(c.base, now)
	c.catchUp(c.base.Add(c.advanced))
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// pass lets time pass.
func (c *Cloud) pass(d time.Duration) {
	if d <= 0 {
		return
	}
	if c.advanced > math.MaxInt64-d {
		d = math.MaxInt64 - c.advanced // 292 years; the clock stops there
	}
	c.advanced += d
	c.catchUp(c.base.Add(c.advanced))
}

// catchUp runs all events that are due by an instant.
func (c *Cloud) catchUp(to time.Time) {
	for len(c.due) > 0 && !c.due[0].at.After(to) {
		next := c.due[0]
		c.due = slices.Delete(c.due, 0, 1)
		c.now = later(c.now, next.at)
		next.do()
	}
	c.now = later(c.now, to)
}

// after schedules do for d from now; with a zero d it runs at once. The machine may have changed by
// then, so do must check it.
func (c *Cloud) after(d time.Duration, do func()) {
	if d <= 0 {
		do()
		return
	}
	at := c.now.Add(d)
	i, _ := slices.BinarySearchFunc(c.due, at, func(a appointment, at time.Time) int {
		return cmp.Or(a.at.Compare(at), -1) // earlier appointments for the same instant come first
	})
	c.due = slices.Insert(c.due, i, appointment{at, do})
}

// appointment is a scheduled event.
type appointment struct {
	at time.Time
	do func()
}

// dice is a random stream that depends on a seed and some names: the random events of one machine
// depend neither on other machines nor on the order of calls.
type dice struct{ chance.Stream }

func newDice(seed uint64, names ...string) *dice {
	return &dice{chance.New(seed, chance.Hash(strings.Join(names, "\x00")))}
}

// in draws a random duration from a span.
func (d *dice) in(s Span) time.Duration {
	if s.Max <= s.Min {
		return s.Min
	}
	n, _ := bits.Mul64(d.Next(), uint64((s.Max-s.Min)/time.Millisecond)+1)
	return s.Min + time.Duration(n)*time.Millisecond
}

// maxWait bounds random durations: a longer one would never be reached.
const maxWait = 100 * 365 * 24 * time.Hour

// exponential draws an exponentially distributed duration with the given mean, rounded up to whole
// seconds. It uses von Neumann's method, which only compares numbers, because the logarithm of
// package math may differ in the last bit between machines.
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
