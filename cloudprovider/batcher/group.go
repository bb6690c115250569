package batcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrClosed is the answer of Do after Close.
var ErrClosed = errors.New("batcher: group is closed")

// Outcome is the answer to one item: a result, or why there is none.
type Outcome[R any] struct {
	// Result is the answer. It is meant only if Err is nil.
	Result R
	// Err is why there is no answer.
	Err error
}

// Backend answers the items of one batch, which all have the key. The items are
// in the order in which their callers came, are at least one and at most
// MaxItems, and may be equal to each other; the slice is the backend's own.
//
// It returns one Outcome for each item, in the order of items, or an error that
// every caller of the batch gets. The context ends when all of them have left,
// or when Close gives up; it carries no values of theirs. Several calls may run
// at once, also with one key. A call whose callers have left may have its
// effect all the same, and its outcomes are dropped: what must not be lost, such
// as a machine that was launched, the backend records itself.
type Backend[K comparable, I, R any] func(ctx context.Context, key K, items []I) ([]Outcome[R], error)

// Group collects items into batches. Create it with New. It must not be copied.
type Group[K comparable, I, R any] struct {
	backend Backend[K, I, R]
	opts    Options

	mu      sync.Mutex
	open    map[K]*batch[K, I, R]        // take further items
	waiting []*batch[K, I, R]            // complete, for want of a place to run
	running map[*batch[K, I, R]]struct{} // in the backend
	opened  uint64                       // batches so far
	closed  bool
	drained chan struct{} // closed once closed and nothing is left to run
}

// New returns a Group in front of the backend. The error lists every option
// that is not valid, and a backend that is nil.
func New[K comparable, I, R any](backend Backend[K, I, R], opts Options) (*Group[K, I, R], error) {
	opts, err := opts.complete()
	if backend == nil {
		err = errors.Join(errors.New("batcher: backend: nil; pass the function that makes the call"), err)
	}
	if err != nil {
		return nil, err
	}
	return &Group[K, I, R]{
		backend: backend,
		opts:    opts,
		open:    make(map[K]*batch[K, I, R]),
		running: make(map[*batch[K, I, R]]struct{}),
		drained: make(chan struct{}),
	}, nil
}

// Do puts the item into the batch of its key, waits for the backend, and
// returns the item's answer. In order:
//
//  1. If ctx is done, the item is not given to anybody, and the error is that
//     of ctx.
//  2. After Close the error is ErrClosed.
//  3. If ctx ends while the caller waits, the error is that of ctx
//     (context.Cause). The item is taken out of the batch if the batch has not
//     gone; if it has, the item may have had its effect.
//  4. Otherwise it is the Outcome of the item. If the backend panicked, the
//     error is a *PanicError.
//
// An answer that is there when ctx ends is returned.
func (g *Group[K, I, R]) Do(ctx context.Context, key K, item I) (R, error) {
	var none R
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	b, c, err := g.join(key, item)
	if err != nil {
		return none, err
	}
	select {
	case <-c.answered:
	case <-ctx.Done():
		if g.leave(b, c) {
			return none, context.Cause(ctx)
		}
	}
	return c.outcome.Result, c.outcome.Err
}

// join adds an item to the open batch of its key.
func (g *Group[K, I, R]) join(key K, item I) (*batch[K, I, R], *caller[I, R], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, ErrClosed
	}
	b, found := g.open[key]
	if !found {
		g.opened++
		b = &batch[K, I, R]{key: key, number: g.opened}
		g.open[key] = b
		b.max = g.opts.AfterFunc(g.opts.Max, func() { g.due(b, 0) })
	}
	c := &caller[I, R]{item: item, answered: make(chan struct{})}
	b.callers = append(b.callers, c)
	b.live++
	if len(b.callers) >= g.opts.MaxItems {
		g.complete(b)
		return b, c, nil
	}
	if b.idle != nil {
		b.idle.Stop()
	}
	b.round++
	round := b.round
	b.idle = g.opts.AfterFunc(g.opts.Idle, func() { g.due(b, round) })
	return b, c, nil
}

// due is called by the timers of a batch: by the idle timer with the round that
// it was set in, by the other one with zero.
func (g *Group[K, I, R]) due(b *batch[K, I, R], round int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// The batch may have gone in the meantime, or the timer been stopped too
	// late.
	if g.open[b.key] == b && (round == 0 || round == b.round) {
		g.complete(b)
	}
}

// complete takes a batch out of the open ones and runs it as soon as it can.
func (g *Group[K, I, R]) complete(b *batch[K, I, R]) {
	g.shut(b)
	g.waiting = append(g.waiting, b)
	g.next()
}

// shut ends the joining of a batch.
func (g *Group[K, I, R]) shut(b *batch[K, I, R]) {
	delete(g.open, b.key)
	b.max.Stop()
	if b.idle != nil {
		b.idle.Stop()
	}
}

// next starts what may run now.
func (g *Group[K, I, R]) next() {
	for len(g.waiting) > 0 && len(g.running) < g.opts.MaxRunning {
		b := g.waiting[0]
		g.waiting[0] = nil
		g.waiting = g.waiting[1:]
		b.ctx, b.cancel = context.WithCancel(context.Background())
		g.running[b] = struct{}{}
		go g.serve(b)
	}
	if g.closed && len(g.waiting) == 0 && len(g.running) == 0 {
		select {
		case <-g.drained:
		default:
			close(g.drained)
		}
	}
}

// leave takes a caller out, and reports false if the answer came first.
func (g *Group[K, I, R]) leave(b *batch[K, I, R], c *caller[I, R]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-c.answered:
		return false
	default:
	}
	b.live--
	if _, gone := g.running[b]; gone {
		if b.live == 0 {
			b.cancel()
		}
		return true
	}
	b.callers = slices.DeleteFunc(b.callers, func(other *caller[I, R]) bool { return other == c })
	if b.live > 0 {
		return true
	}
	if g.open[b.key] == b {
		g.shut(b)
	} else {
		g.waiting = slices.DeleteFunc(g.waiting, func(other *batch[K, I, R]) bool { return other == b })
		g.next()
	}
	return true
}

// flush completes every open batch, in the order in which they were opened.
func (g *Group[K, I, R]) flush() {
	all := make([]*batch[K, I, R], 0, len(g.open))
	for _, b := range g.open {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *batch[K, I, R]) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	for _, b := range all {
		g.complete(b)
	}
}

// Close takes no more items, sends every open batch at once, and returns nil
// when all have been answered. If ctx ends before, it cancels the contexts of
// the calls that run, gives every caller that still waits ErrClosed, and
// returns the error of ctx; a backend that does not heed its context runs on.
// Close may be called again, and waits again.
func (g *Group[K, I, R]) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.flush()
	g.next()
	g.mu.Unlock()
	select {
	case <-g.drained:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range g.waiting {
		b.fail(ErrClosed)
	}
	g.waiting = nil
	for b := range g.running {
		b.cancel()
		b.fail(ErrClosed)
	}
	g.next()
	return fmt.Errorf("batcher: close: %w", context.Cause(ctx))
}
