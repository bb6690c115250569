package batcher

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// batch is a list of items for one call of the backend. Its Group's mutex guards it until it runs;
// afterwards its callers do not change.
type batch[K comparable, I, R any] struct {
	key     K
	number  uint64
	callers []*caller[I, R]
	live    int // callers that have not left

	idle, max Timer
	round     int // of the idle timer, from 1

	ctx    context.Context
	cancel context.CancelFunc
}

// caller is one call of Do.
type caller[I, R any] struct {
	item     I
	outcome  Outcome[R]
	answered chan struct{} // closed when outcome is final
}

// PanicError is the error of callers if the backend panicked.
type PanicError struct {
	// Value is the value of the panic.
	Value any
	// Stack is the stack of the goroutine at that moment, as debug.Stack returns it.
	Stack []byte
}

// Error returns one line with the value. The stack is not in it.
func (e *PanicError) Error() string { return fmt.Sprintf("batcher: backend panicked: %v", e.Value) }

// Unwrap returns the value if it is an error, and otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errGone is the error of callers if the backend ended its goroutine.
var errGone = errors.New("batcher: backend ended its goroutine without an answer")

// serve calls the backend, answers the callers and starts waiting batches.
func (g *Group[K, I, R]) serve(b *batch[K, I, R]) {
	outcomes, err := []Outcome[R](nil), errGone
	// Deferred, so that the callers do not wait for ever if the backend calls runtime.Goexit, as a
	// failing test does.
	defer func() {
		b.cancel()
		g.mu.Lock()
		defer g.mu.Unlock()
		b.answer(outcomes, err)
		delete(g.running, b)
		g.next()
	}()
	outcomes, err = g.call(b)
}

func (g *Group[K, I, R]) call(b *batch[K, I, R]) (outcomes []Outcome[R], err error) {
	defer func() {
		if value := recover(); value != nil {
			outcomes, err = nil, &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	items := make([]I, len(b.callers))
	for i, c := range b.callers {
		items[i] = c.item
	}
	outcomes, err = g.backend(b.ctx, b.key, items)
	if err == nil && len(outcomes) != len(items) {
		err = fmt.Errorf("batcher: backend returned %d outcomes for %d items; it must return one for each, in their order",
			len(outcomes), len(items))
	}
	return outcomes, err
}

// answer gives each caller its outcome, or all of them the error.
func (b *batch[K, I, R]) answer(outcomes []Outcome[R], err error) {
	if err != nil {
		b.fail(err)
		return
	}
	for i, c := range b.callers {
		c.answer(outcomes[i])
	}
}

func (b *batch[K, I, R]) fail(err error) {
	for _, c := range b.callers {
		c.answer(Outcome[R]{Err: err})
	}
}

// answer sets the outcome, unless there is one. The Group's mutex is held.
func (c *caller[I, R]) answer(o Outcome[R]) {
	select {
	case <-c.answered:
	default:
		c.outcome = o
		close(c.answered)
	}
}

// ErrMissing is wrapped by the error of an item that the cloud's answer did not
// have.
var ErrMissing = errors.New("not in the answer")

// Distinct returns a Backend for a call that takes a list of ids and answers by id, such as one
// that describes or terminates instances. An id of several callers is in the list once, at its
// first place, and all these callers get the answer.
//
// A caller whose id is not in the map gets the error of missing, or one that
// wraps ErrMissing if missing is nil. If the call returns an error along with a
// map, ids in the map count as answered and the others get the error.
func Distinct[K, I comparable, R any](
	call func(ctx context.Context, key K, ids []I) (map[I]R, error), missing func(key K, id I) error,
) Backend[K, I, R] {
	if missing == nil {
		missing = func(_ K, id I) error { return fmt.Errorf("%v: %w", id, ErrMissing) }
	}
	return func(ctx context.Context, key K, items []I) ([]Outcome[R], error) {
		seen := make(map[I]bool, len(items))
		ids := make([]I, 0, len(items))
		for _, id := range items {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		answers, err := call(ctx, key, ids)
		outcomes := make([]Outcome[R], len(items))
		for i, id := range items {
			result, found := answers[id]
			switch {
			case found:
				outcomes[i].Result = result
			case err != nil:
				outcomes[i].Err = err
			default:
				outcomes[i].Err = missing(key, id)
			}
		}
		return outcomes, nil
	}
}
