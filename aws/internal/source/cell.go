package source

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
)

// Reading says how good an answer is.
type Reading struct {
	// At is when the question was asked that gave the answer.
	At time.Time
	// Stale says that the answer was to be renewed, and could not be.
	Stale bool
	// Err is why, an *cloudprovider.Error; nil unless Stale.
	Err error
}

// Settings are how a Cell behaves. Name and Now are required.
type Settings[T any] struct {
	// Name is what is asked for, in a few words, as in "instance types".
	Name string
	// Now gives the time.
	Now func() time.Time
	// Refresh is how long an answer is good for.
	Refresh time.Duration
	// RefreshOf, if not nil, says so for an answer in place of Refresh.
	RefreshOf func(answer T) time.Duration
	// Pause is how long to wait after so many failures in a row, the last of which
	// is err. Nil goes by retry.Default, with a minute for failures that it would
	// give up on; it is never longer than Refresh.
	Pause func(failures int, err error) time.Duration
	// Spare says that callers can do without an answer.
	Spare bool
}

// Cell keeps the last good answer to a question. Create it with NewCell.
type Cell[T any] struct {
	set Settings[T]

	mu       sync.Mutex
	known    bool // there is an answer
	answer   T
	at       time.Time // of the answer
	dropped  bool      // ask again, whatever at says
	failures int       // since the answer
	failed   time.Time // the last time
	err      error     // and why
	busy     chan struct{}
	drops    int
}

// NewCell returns a cell without an answer.
func NewCell[T any](set Settings[T]) *Cell[T] { return &Cell[T]{set: set} }

// Get returns the answer. In this order:
//
//  1. If ctx is done, the error is that of ctx.
//  2. An answer that is not due is returned.
//  3. If asking failed not long ago, the answer before that is returned, with a
//     Reading that is Stale; if there is none, the error of that time, with how
//     long to wait.
//  4. If somebody else is asking, the answer there is is returned; if there is
//     none, the caller waits for him.
//  5. Otherwise the caller asks. On success his answer is returned. On failure it
//     is as in 3. If his ctx ends meanwhile, the error is that of ctx, and it only
//     counts as a failure if he waited to his deadline and there is an answer to
//     fall back on, or Settings.Spare.
//
// An error other than that of ctx is an *cloudprovider.Error, as api.Wrap makes it.
func (c *Cell[T]) Get(ctx context.Context, ask func(context.Context) (T, error)) (T, Reading, error) {
	for {
		if ctx.Err() != nil {
			var none T
			return none, Reading{}, ctx.Err()
		}
		c.mu.Lock()
		now := c.set.Now()
		if !c.due(now) || c.known && c.busy != nil {
			defer c.mu.Unlock()
			return c.last(now)
		}
		if busy := c.busy; busy != nil {
			c.mu.Unlock()
			select {
			case <-busy:
			case <-ctx.Done():
			}
			continue
		}
		c.busy = make(chan struct{})
		drops := c.drops
		c.mu.Unlock()
		if err := c.ask(ctx, now, drops, ask); err != nil {
			var none T
			return none, Reading{}, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.last(now)
	}
}

// ask asks and records what came of it. Its error is that of ctx.
func (c *Cell[T]) ask(ctx context.Context, now time.Time, drops int, ask func(context.Context) (T, error)) error {
	// Also if ask panics, the next one must be able to.
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.busy)
		c.busy = nil
	}()
	answer, err := ask(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		// One who gives up says nothing about AWS. But if all wait to their
		// deadlines in vain, the next ones should get the last answer at once.
		ended := ctx.Err()
		if ended == nil || (c.known || c.set.Spare) && errors.Is(ended, context.DeadlineExceeded) {
			c.failures++
			c.failed, c.err = now, api.Wrap("Read", c.set.Name, err)
		}
		return ended
	}
	c.known, c.answer, c.at = true, answer, now
	c.failures, c.failed, c.err = 0, time.Time{}, nil
	// What was dropped meanwhile may be older than the reason to drop it.
	c.dropped = c.drops != drops
	return nil
}

// due reports whether to ask. A clock that went back says nothing about the age of
// an answer, so then it is asked again.
func (c *Cell[T]) due(now time.Time) bool {
	if c.failures > 0 {
		return now.Before(c.failed) || !now.Before(c.failed.Add(c.pause()))
	}
	return !c.known || c.dropped || now.Before(c.at) || !now.Before(c.at.Add(c.refresh()))
}

func (c *Cell[T]) refresh() time.Duration {
	if c.set.RefreshOf != nil && c.known {
		return c.set.RefreshOf(c.answer)
	}
	return c.set.Refresh
}

func (c *Cell[T]) pause() time.Duration {
	if c.set.Pause != nil {
		return c.set.Pause(c.failures, c.err)
	}
	delay, giveUp := retry.Default().For(c.set.Name).Next(c.failures, c.err)
	if giveUp {
		// A right may be granted, a mistake put right: look again, but not often.
		delay = time.Minute
	}
	return min(delay, max(c.set.Refresh, time.Second))
}

// last returns what is known at the instant now.
func (c *Cell[T]) last(now time.Time) (T, Reading, error) {
	if c.known {
		return c.answer, Reading{At: c.at, Stale: c.failures > 0, Err: c.err}, nil
	}
	return c.answer, Reading{}, c.waiting(now)
}

// peek returns the answer there is, without asking.
func (c *Cell[T]) peek() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer
}

// waiting is the last failure, with the time until the next attempt.
func (c *Cell[T]) waiting(now time.Time) error {
	var e *cloudprovider.Error
	if !errors.As(c.err, &e) || e == nil {
		return c.err
	}
	later := *e
	later.RetryAfter = max(e.RetryAfter, c.failed.Add(c.pause()).Sub(now), 0)
	return &later
}

// Drop has the next Get ask, whatever the age of the answer. The answer is kept for
// the case that asking fails; that somebody is asking now does not count.
func (c *Cell[T]) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped = true
	c.drops++
}

// Health is how a question is.
type Health struct {
	// Name is what is asked for.
	Name string
	// At is when there was an answer last. Zero if there never was.
	At time.Time
	// Failures is how often asking failed since, and Err why it did last. Zero and
	// nil if it did not.
	Failures int
	Err      error
	// Next is when it will be asked again, if somebody wants to know. Zero if it was
	// never asked.
	Next time.Time
}

// Health returns how the question is.
func (c *Cell[T]) Health() Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := Health{Name: c.set.Name, At: c.at, Failures: c.failures, Err: c.err}
	switch {
	case c.failures > 0:
		h.Next = c.failed.Add(c.pause())
	case c.dropped:
		h.Next = c.at
	case c.known:
		h.Next = c.at.Add(c.refresh())
	}
	return h
}
