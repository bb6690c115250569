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

// Outcome is the answer to one item: a result or an error.
type Outcome[R any] struct {
	// Result is the result. It is valid only if Err is nil.
	Result R
	// Err is why there is no answer.
	Err error
}

// Backend answers the items of one batch, which all have the key. There are at least one and at
// most MaxItems items, in the order of their calls, possibly with equal ones. The backend owns the
// slice.
//
// It returns one Outcome for each item, in the order of items, or an error for every caller of the
// batch. The context ends when all callers have left, or when Close gives up; it has none of their
// values. Several calls may run concurrently, also with one key. If all callers of a call have
// left, it may still take effect, and its outcomes are dropped: the backend itself records results
// that must not be lost, such as a launched machine.
type Backend[K comparable, I, R any] func(ctx context.Context, key K, items []I) ([]Outcome[R], error)

// Group collects items into batches. Create it with New. It must not be copied.
type Group[K comparable, I, R any] struct {
	backend Backend[K, I, R]
	opts    Options

	mu      sync.Mutex
	open    map[K]*batch[K, I, R]        // accept further items
	waiting []*batch[K, I, R]            // complete; MaxRunning is reached
	running map[*batch[K, I, R]]struct{} // in the backend
	opened  uint64                       // batches so far
	closed  bool
	drained chan struct{} // closed once closed and nothing is left to run
}

// New returns a Group in front of the backend. Nil options are empty; they lack AfterFunc, which is
// required. The error lists every option that is not valid, and a backend that is nil.
func New[K comparable, I, R any](backend Backend[K, I, R], opts *Options) (*Group[K, I, R], error) {
	o, err := opts.complete()
	if backend == nil {
		err = errors.Join(errors.New("batcher: backend: nil; pass the function that makes the call"), err)
	}
	if err != nil {
		return nil, err
	}
	return &Group[K, I, R]{
		backend: backend,
		opts:    o,
		open:    make(map[K]*batch[K, I, R]),
		running: make(map[*batch[K, I, R]]struct{}),
		drained: make(chan struct{}),
	}, nil
}

// Do puts the item into the batch of its key, waits for the backend, and
// returns the item's answer. In order:
//
//  1. If ctx is done, the item is dropped, and the error is that of ctx.
//  2. After Close the error is ErrClosed.
//  3. If ctx ends while the caller waits, the error is that of ctx (context.Cause). The item is
//     removed if its batch was not sent yet; otherwise it may have taken effect.
//  4. Otherwise it is the Outcome of the item. If the backend panicked, the
//     error is a *PanicError.
//
// If the answer exists when ctx ends, it is returned.
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
	// The batch may have been sent meanwhile, or the timer stopped too late.
	if g.open[b.key] == b && (round == 0 || round == b.round) {
		g.complete(b)
	}
}

// complete closes an open batch and runs it as soon as possible.
func (g *Group[K, I, R]) complete(b *batch[K, I, R]) {
	g.shut(b)
	g.waiting = append(g.waiting, b)
	g.next()
}

// shut stops a batch from accepting items.
func (g *Group[K, I, R]) shut(b *batch[K, I, R]) {
	delete(g.open, b.key)
	b.max.Stop()
	if b.idle != nil {
		b.idle.Stop()
	}
}

// next starts the waiting batches that may run now.
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

// leave removes a caller, and reports false if the answer came first.
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

// Close refuses further items, sends every open batch at once, and returns nil when all have been
// answered. If ctx ends earlier, it cancels the contexts of running calls, gives every waiting
// caller ErrClosed, and returns the error of ctx; a backend that ignores its context goes on. Close
// may be called again, and waits again.
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
