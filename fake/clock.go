package fake

import (
	"container/heap"
	"math"
	"slices"
	"time"
)

// Now returns the cloud's time: that of Options.Clock, moved on by every
// Advance and by the delays of faults. It never goes back, even if Options.Clock
// does.
func (c *Cloud) Now() time.Time {
	c.enter()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the cloud's clock on by d and lets everything happen that is due
// by then, in the order of time; of what is due at one instant, what was
// arranged first comes first. It returns what happened in that time. A d below
// zero counts as zero.
//
// It takes time for what happens and none for what does not: O(log n) for each
// event, n being the number of those arranged.
func (c *Cloud) Advance(d time.Duration) []Event {
	c.enter()
	defer c.mu.Unlock()
	before := len(c.events)
	c.pass(d)
	return slices.Clone(c.events[before:])
}

// enter locks the cloud and brings it up to the present. The clock is read
// outside of the lock, so that it may be one that asks the cloud for something.
func (c *Cloud) enter() {
	now := c.clock()
	c.mu.Lock()
	c.base = later(c.base, now)
	c.catchUp(c.base.Add(c.advanced))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pass lets time pass.
func (c *Cloud) pass(d time.Duration) {
	if d <= 0 {
		return
	}
	if c.advanced > math.MaxInt64-d {
		d = math.MaxInt64 - c.advanced // some 292 years; the clock stops there
	}
	c.advanced += d
	c.catchUp(c.base.Add(c.advanced))
}

// catchUp lets everything happen that is due by an instant.
func (c *Cloud) catchUp(to time.Time) {
	for len(c.due) > 0 && !c.due[0].at.After(to) {
		next := heap.Pop(&c.due).(appointment)
		c.now = later(c.now, next.at)
		next.do()
	}
	c.now = later(c.now, to)
}

// after arranges for something to happen once d has passed.
func (c *Cloud) after(d time.Duration, do func()) {
	c.arranged++
	heap.Push(&c.due, appointment{at: c.now.Add(max(d, 0)), number: c.arranged, do: do})
}

// appointment is something that is going to happen. Whatever it is about may
// have changed by then, so do looks first.
type appointment struct {
	at     time.Time
	number int // of those for one instant, the lower comes first
	do     func()
}

// agenda is a heap of appointments with the next one on top.
type agenda []appointment

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if c := a[i].at.Compare(a[j].at); c != 0 {
		return c < 0
	}
	return a[i].number < a[j].number
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

func (a *agenda) Push(x any) { *a = append(*a, x.(appointment)) }

func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = appointment{}
	*a = (*a)[:last]
	return x
}
