package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
)

// Reading says when an answer was given, and whether renewing it has failed.
type Reading struct {
	// At is when the question of this answer was asked.
	At time.Time
	// Stale says that the answer was due and renewing it failed.
	Stale bool
	// Err is the failure, an *cloudprovider.Error; nil unless Stale.
	Err error
}

// Settings configure a Cell. Name and Now are required.
type Settings[T any] struct {
	// Name is the subject of the question in a few words, as in "instance types".
	Name string
	// Now gives the time, for the age of answers and for pauses.
	Now func() time.Time
	// Refresh is how long after its arrival an answer is due.
	Refresh time.Duration
	// RefreshOf, if not nil, replaces Refresh, by answer.
	RefreshOf func(answer T) time.Duration
	// Pause is how long to wait from the end of the last failure, err, to the next attempt;
	// failures is the number of failures in a row. Nil means retry.Delay, and a minute for failures
	// that it gives up on, but never longer than Refresh.
	Pause func(failures int, err error) time.Duration
	// Bound is how long one question may take, by the machine's clock, before it counts as a
	// failure. Default two minutes.
	Bound time.Duration
	// Spare says that callers can go on without an answer.
	Spare bool
	// Patience is how long callers wait even if they could go on: for the first answer if Spare,
	// and for the renewal of an answer that is due. It begins with the question, by the machine's
	// clock. Zero means that they do not wait.
	Patience time.Duration
	// Asking runs the questions. Nil makes a new one.
	Asking *Asking
}

// defaultBound is enough to get over a minute of throttling.
const defaultBound = 2 * time.Minute

// Cell keeps the last good answer to a question. Create it with NewCell.
type Cell[T any] struct {
	set Settings[T]

	mu       sync.Mutex
	known    bool // there is an answer
	answer   T
	at       time.Time // when the answer's question was asked
	used     bool      // the answer was used since it arrived
	dropped  bool      // ask again, however new the answer is
	drops    int
	failures int       // number since the answer
	err      error     // of the last failure
	tried    time.Time // when the last question ended

	ask  func(context.Context) (T, error)
	busy chan struct{} // closed when the question under way has ended
	late chan struct{} // closed when its Patience is over; nil without any
}

// NewCell returns a cell without an answer.
func NewCell[T any](set Settings[T]) *Cell[T] {
	if set.Asking == nil {
		set.Asking = NewAsking()
	}
	set.Bound = cmp.Or(set.Bound, defaultBound)
	return &Cell[T]{set: set}
}

// Get returns the answer. In this order:
//
//  1. If ctx is done, the error is that of ctx.
//  2. If the answer is due, the pause after the last failure is over and no question is under way,
//     ask is called in a goroutine of Settings.Asking. Its context has the values of ctx but not
//     its cancellation, so it may outlive Get; its context ends after Settings.Bound.
//  3. An answer is returned at once, due or not. With Settings.Patience a renewal is waited for, at
//     most that long. The answer is Stale if a question has failed since.
//  4. Without an answer, the last failure is returned at once, with how long to wait.
//  5. Without either, the caller waits for an answer or a failure, or until ctx is done; if
//     Settings.Spare, no longer than Settings.Patience.
//
// An error other than that of ctx is an *cloudprovider.Error, as api.Wrap makes it.
// A panic of ask is a failure.
func (c *Cell[T]) Get(ctx context.Context, ask func(context.Context) (T, error)) (T, Reading, error) {
	var none T
	if ctx.Err() != nil {
		return none, Reading{}, ctx.Err()
	}
	c.mu.Lock()
	c.ask, c.used = ask, true
	c.renew(ctx)
	spare := c.known || c.set.Spare
	if busy, late := c.busy, c.late; busy != nil && c.failures == 0 && (!spare || late != nil) {
		if !spare {
			late = nil
		}
		c.mu.Unlock()
		select {
		case <-busy:
		case <-late:
		case <-ctx.Done():
			return none, Reading{}, ctx.Err()
		}
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	return c.last()
}

// Renew asks again if the answer is due and was used since the last Renew, or if that one failed.
// It returns a function that waits until the question under way has ended; its error is that of
// ctx, or why there is no newer answer.
func (c *Cell[T]) Renew(ctx context.Context) (wait func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if (c.used || c.failures > 0) && c.renew(ctx) {
		c.used = false
	}
	busy := c.busy
	return func() error {
		if busy != nil {
			select {
			case <-busy:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.err
	}
}

// renew asks if the answer is due and no question is under way, and reports whether it did. c.mu is
// held.
func (c *Cell[T]) renew(ctx context.Context) bool {
	now := c.set.Now()
	if c.busy != nil || !c.due(now) {
		return false
	}
	busy, drops, ask := make(chan struct{}), c.drops, c.ask
	if !c.set.Asking.Run(ctx, c.set.Bound, func(ctx context.Context) {
		var answer T
		err := errors.New("asking ended without an answer")
		defer func() {
			if r := recover(); r != nil { // a caller cannot recover it in this goroutine
				err = fmt.Errorf("panic: %v", r)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if !errors.Is(ctx.Err(), context.Canceled) { // by Close, which says nothing about AWS
				c.learn(answer, now, err)
				// An answer that was dropped while the question was under way may be outdated.
				c.dropped = c.dropped && (err != nil || c.drops != drops)
			}
			c.busy, c.late = nil, nil
			close(busy)
		}()
		answer, err = ask(ctx)
	}) {
		return false
	}
	c.busy = busy
	if c.set.Patience > 0 {
		late := make(chan struct{})
		time.AfterFunc(c.set.Patience, func() { close(late) })
		c.late = late
	}
	return true
}

// learn records the outcome of a question that was asked at the instant at. c.mu is held.
func (c *Cell[T]) learn(answer T, at time.Time, err error) {
	c.tried = c.set.Now()
	if err != nil {
		c.failures++
		c.err = api.Wrap("Read", c.set.Name, err)
		return
	}
	c.known, c.answer, c.at = true, answer, at
	c.failures, c.err = 0, nil
}

// due reports whether to ask. It is true if the clock went back, because the age of the answer is
// not known then.
func (c *Cell[T]) due(now time.Time) bool {
	if now.Before(c.tried) {
		return true
	}
	if c.failures > 0 {
		return !now.Before(c.tried.Add(c.pause()))
	}
	return !c.known || c.dropped || !now.Before(c.tried.Add(c.refresh()))
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
	delay, giveUp := retry.Delay(c.failures, c.err, c.set.Name)
	if giveUp {
		// A permission may be granted or a mistake corrected: ask again, but not often.
		delay = time.Minute
	}
	return min(delay, max(c.set.Refresh, time.Second))
}

// last returns the answer, or the error without one. c.mu is held.
func (c *Cell[T]) last() (T, Reading, error) {
	if c.known {
		return c.answer, Reading{At: c.at, Stale: c.failures > 0, Err: c.err}, nil
	}
	return c.answer, Reading{}, c.missing()
}

// missing returns the error without an answer: the last failure, with the time until the next
// attempt, a second or more. c.mu is held.
func (c *Cell[T]) missing() error {
	if c.failures == 0 {
		why := errors.New("there is no answer yet; ask again")
		if c.busy == nil {
			why = errors.New("nothing is asked any more after Close")
		}
		return &cloudprovider.Error{Op: "Read", Object: c.set.Name, Kind: cloudprovider.KindNotReady, Err: why}
	}
	var e *cloudprovider.Error
	if !errors.As(c.err, &e) || e == nil {
		return c.err
	}
	later := *e
	later.RetryAfter = max(e.RetryAfter, c.tried.Add(c.pause()).Sub(c.set.Now()), time.Second)
	return &later
}

// Answer returns the last answer without asking, or the zero value.
func (c *Cell[T]) Answer() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer
}

// Drop makes the next Get ask, whatever the age of the answer, even if a question is under way. The
// answer is kept until there is another.
func (c *Cell[T]) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped = true
	c.drops++
}

// Health is the state of a question.
type Health struct {
	// Name is the subject of the question.
	Name string
	// At is when there was an answer last. Zero if there never was.
	At time.Time
	// Failures counts the failures since At, and Err is the last one. Zero and nil if there was
	// none.
	Failures int
	Err      error
	// Next is the earliest time of the next question, which is asked only by a call of Get or
	// Renew. Zero if it was never asked.
	Next time.Time
}

// Health returns the state of the question.
func (c *Cell[T]) Health() Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := Health{Name: c.set.Name, At: c.at, Failures: c.failures, Err: c.err}
	switch {
	case c.failures > 0:
		h.Next = c.tried.Add(c.pause())
	case c.dropped:
		h.Next = c.at
	case c.known:
		h.Next = c.tried.Add(c.refresh())
	}
	return h
}
