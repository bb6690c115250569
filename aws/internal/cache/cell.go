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
	// Now gives the time by which answers age and pauses pass.
	Now func() time.Time
	// Refresh is how long an answer is good for, from when it was there.
	Refresh time.Duration
	// RefreshOf, if not nil, says so for an answer in place of Refresh.
	RefreshOf func(answer T) time.Duration
	// Pause is how long to wait after so many failures in a row, the last of which
	// is err, from the end of that. Nil goes by retry.Next, with a minute for
	// failures that it would give up on; it is never longer than Refresh.
	Pause func(failures int, err error) time.Duration
	// Bound is how long one asking may take, by the clock of the machine, before it
	// counts as a failure. Default two minutes.
	Bound time.Duration
	// Spare says that callers can do without an answer.
	Spare bool
	// Patience is how long callers wait all the same for a question that they could
	// go on without: for the first answer if Spare, and for another in place of one
	// that is due. It begins with the asking, by the clock of the machine. Zero is
	// not at all.
	Patience time.Duration
	// Asking runs what is asked. Nil is one of the cell's own.
	Asking *Asking
}

// defaultBound is enough for a minute of throttling to pass.
const defaultBound = 2 * time.Minute

// Cell keeps the last good answer to a question. Create it with NewCell.
type Cell[T any] struct {
	set Settings[T]

	mu       sync.Mutex
	known    bool // there is an answer
	answer   T
	at       time.Time // of the answer
	used     bool      // since it was given
	dropped  bool      // ask again, however new it is
	drops    int
	failures int       // since the answer
	err      error     // of the last one
	tried    time.Time // when asking ended last

	ask  func(context.Context) (T, error)
	busy chan struct{} // closed when the asking under way has ended
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
//  2. If the answer is due, the last failure is not too recent and nobody is asking,
//     ask is called beside the caller, in a goroutine of Settings.Asking. Its context
//     has the values of ctx and not its end, so it may be called for longer than Get:
//     until it returns, and its context ends after Settings.Bound.
//  3. An answer is returned at once, due or not; with Settings.Patience that long
//     after it was asked again. It is Stale if asking failed since.
//  4. Without one, the last failure is returned at once, with how long to wait.
//  5. Without either, the caller waits: until there is one of them, or ctx is done;
//     if Settings.Spare, no longer than Settings.Patience.
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

// Renew begins to ask if the answer is due and somebody has used it since it was
// last renewed so, or that failed, and returns what waits for the end of what is being asked. The
// error of that is the one that ctx has, or else why there is no newer answer.
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

// renew begins to ask if it is time to and nobody does, and reports whether it did.
// c.mu is held.
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
			if r := recover(); r != nil { // a caller could not, in another goroutine
				err = fmt.Errorf("panic: %v", r)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if !errors.Is(ctx.Err(), context.Canceled) { // by Close, which says nothing about AWS
				c.learn(answer, now, err)
				// What was dropped meanwhile may be older than the reason to drop it.
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

// learn records what came of a question that was asked at the instant at. c.mu is
// held.
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

// due reports whether to ask. A clock that went back says nothing about the age of
// an answer, so then it is asked again.
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
	delay, giveUp := retry.Next(c.failures, c.err, c.set.Name)
	if giveUp {
		// A right may be granted, a mistake put right: look again, but not often.
		delay = time.Minute
	}
	return min(delay, max(c.set.Refresh, time.Second))
}

// last returns what is known, or why nothing is. c.mu is held.
func (c *Cell[T]) last() (T, Reading, error) {
	if c.known {
		return c.answer, Reading{At: c.at, Stale: c.failures > 0, Err: c.err}, nil
	}
	return c.answer, Reading{}, c.missing()
}

// missing is why there is no answer: the last failure, with the time until the next
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

// Answer returns the answer there is, without asking: the zero value if there is
// none.
func (c *Cell[T]) Answer() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer
}

// Drop has the next Get ask, whatever the age of the answer. The answer is kept
// until there is another; that somebody is asking now does not count.
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
		h.Next = c.tried.Add(c.pause())
	case c.dropped:
		h.Next = c.at
	case c.known:
		h.Next = c.tried.Add(c.refresh())
	}
	return h
}
