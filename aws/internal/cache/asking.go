package cache

import (
	"context"
	"sync"
	"time"
)

// Asking runs questions in the background. Each question is one goroutine, which ends when it has
// its answer, when its time is over, or with Close. Create it with NewAsking; any number of cells
// may share it.
type Asking struct {
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
	// base ends with Close, and with it every question.
	base context.Context
	end  context.CancelFunc
}

// NewAsking returns an Asking with nothing under way.
func NewAsking() *Asking {
	a := &Asking{}
	a.base, a.end = context.WithCancel(context.Background())
	return a
}

// Run calls f in a goroutine, and reports whether it did: after Close it does not. The context of f
// has the values of ctx but not its cancellation: it ends after bound, by the machine's clock, and
// with Close. Only Close gives it context.Canceled.
func (a *Asking) Run(ctx context.Context, bound time.Duration, f func(context.Context)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	stop := context.AfterFunc(a.base, cancel)
	a.running.Go(func() {
		defer cancel()
		defer stop()
		f(ctx)
	})
	return true
}

// Close ends all questions, and returns when they have ended, or with the error of ctx when that is
// done. Afterwards nothing is asked.
func (a *Asking) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.end()
	ended := make(chan struct{})
	go func() {
		a.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
