package karpenter

import (
	"time"

	"k8s.io/utils/clock"
)

// turnClock is the clock of the cluster, which stands still within a turn. A caller of After is
// blocked until a later turn.
type turnClock struct {
	clock.Clock
	now     func() time.Time
	blocked chan waiter
}

// waiter is a goroutine that waits for an instant.
type waiter struct {
	at   time.Time
	wake chan time.Time
}

// Now returns the time of the cluster.
func (c *turnClock) Now() time.Time { return c.now() }

// Since returns the time passed since an instant.
func (c *turnClock) Since(t time.Time) time.Duration { return c.now().Sub(t) }

// Sleep returns at once. Controllers sleep until caches catch up with their writes, and these
// caches are always up to date.
func (c *turnClock) Sleep(time.Duration) {}

// After reports to the turn that its caller is blocked.
func (c *turnClock) After(d time.Duration) <-chan time.Time {
	w := waiter{c.now().Add(d), make(chan time.Time, 1)}
	c.blocked <- w
	return w.wake
}
