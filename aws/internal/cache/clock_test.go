package cache_test

import (
	"sync"
	"time"

	"github.com/aws/smithy-go"
)

// noon is the initial time of a clock.
var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// clock stands still until it is moved. It is safe for concurrent use.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: noon} }

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to an instant, which may be earlier.
func (c *clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Add moves the clock on.
func (c *clock) Add(d time.Duration) { c.Set(c.Now().Add(d)) }

// throttled is an error of AWS as its clients return it.
func throttled() error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeThings",
		Err: &smithy.GenericAPIError{Code: "RequestLimitExceeded", Message: "Request limit exceeded."}}
}
