package nodeclass_test

import (
	"sync"
	"time"
)

// Noon is the initial time of a Clock. It is later than the built-in prices.
var Noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// Clock stands still until it is moved. Create it with NewClock. It is safe for
// concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at Noon.
func NewClock() *Clock { return &Clock{now: Noon} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock; with a negative duration it goes back.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set has the clock show the time given.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}
