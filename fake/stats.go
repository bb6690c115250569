package fake

import (
	"time"
)

// Stats are counts of what happened in a Cloud. Launched less Terminated is the
// number of machines that there are.
type Stats struct {
	// Launched and Terminated count machines, Interrupted those that the cloud
	// announced to take away.
	Launched, Terminated, Interrupted int
	// Refused counts the Creates that found nothing in stock, Throttled the
	// calls that a rate limit turned away, Rebooted restarts.
	Refused, Throttled, Rebooted int
	// Hours is how many hours machines existed so far, all of them together.
	Hours float64
	// Cost is what they cost, in USD: each from when it was launched until it
	// was gone, or now, at the price of the moment when it was launched.
	Cost float64
}

// ledger is Stats in the making. The sums are kept in whole numbers, so that
// they do not depend on the order.
type ledger struct {
	Stats
	nanos, millis int64 // of Cost in 1e-9 USD, of Hours in milliseconds
}

// Stats returns the counts so far.
func (c *Cloud) Stats() Stats {
	c.enter()
	defer c.mu.Unlock()
	s := c.stats
	for _, m := range c.machines {
		if m.gone.IsZero() {
			s.count(m, c.now)
		}
	}
	s.Cost = float64(s.nanos) / nanos
	s.Hours = float64(s.millis) / float64(time.Hour/time.Millisecond)
	return s.Stats
}

// count adds the life of a machine.
func (s *ledger) count(m *machine, until time.Time) {
	lived := until.Sub(m.instance.CreatedAt)
	s.millis += int64(lived / time.Millisecond)
	s.nanos += mulDiv(toNanos(m.instance.Price), int64(lived), int64(time.Hour))
}
