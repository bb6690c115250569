package awstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// hold keeps one call from being answered.
type hold struct {
	ops      []string // empty is every call
	reached  chan struct{}
	released chan struct{}
}

// Hold delays the answer of the next call of one of these actions, or of any action if none is
// given, until release is called or the client gives up. reached is closed when that call has
// arrived; the clock and other calls go on meanwhile. The error names unknown actions.
func (c *Cloud) Hold(actions ...string) (reached <-chan struct{}, release func(), err error) {
	for _, a := range actions {
		if !isAction(a) {
			err = errors.Join(err, fmt.Errorf("awstest: there is no action %q; use one of the package comment", a))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &hold{slices.Clone(actions), make(chan struct{}), make(chan struct{})}
	c.holding = append(c.holding, h)
	return h.reached, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		h.release(c)
	}, nil
}

func (h *hold) release(c *Cloud) {
	select {
	case <-h.released:
	default:
		close(h.released)
	}
	c.holding = slices.DeleteFunc(c.holding, func(o *hold) bool { return o == h })
}

// Release ends every Hold, and cuts the connections of calls that hang.
func (c *Cloud) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.holding) > 0 {
		c.holding[0].release(c)
	}
}

// waitForRelease unlocks the Cloud while a call is held.
func (c *Cloud) waitForRelease(ctx context.Context, q *request) {
	if q.orders.hang {
		h := &hold{reached: make(chan struct{}), released: make(chan struct{})}
		close(h.reached) // by this call, and no other
		c.holding = append(c.holding, h)
		c.mu.Unlock()
		select {
		case <-h.released:
		case <-ctx.Done():
		}
		c.mu.Lock()
		h.release(c)
		return
	}
	for _, h := range c.holding {
		if isClosed(h.reached) || len(h.ops) > 0 && !slices.Contains(h.ops, q.action) {
			continue
		}
		close(h.reached)
		c.mu.Unlock()
		select {
		case <-h.released:
		case <-ctx.Done():
		}
		c.mu.Lock()
		return
	}
}

func isClosed(ch chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
