package batcher

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Timer is a scheduled call that can be cancelled, such as a *time.Timer.
type Timer interface {
	// Stop cancels the call and reports whether it was in time. It does not wait for a call that
	// has begun. A late call does no harm.
	Stop() bool
}

// Options tune a Group.
type Options struct {
	// AfterFunc calls f once, after d, in its own goroutine, unless the Timer is stopped before. It
	// must return before f is called. Required. Programs pass
	//
	//	func(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) }
	AfterFunc func(d time.Duration, f func()) Timer

	// Idle is how long a batch waits for one more item after the last one. A longer time makes
	// fewer calls and later answers. Default and zero: 35 milliseconds.
	Idle time.Duration

	// Max is how long a batch waits altogether, from its first item. Default
	// and zero: one second. Not below Idle.
	Max time.Duration

	// MaxItems is the size at which a batch is sent at once. Default and zero: 500.
	MaxItems int

	// MaxRunning is how many calls of the backend may run at a time. Further batches wait, and run
	// in the order in which they were complete. Default and zero: 100.
	MaxRunning int
}

const (
	defaultIdle       = 35 * time.Millisecond
	defaultMax        = time.Second
	defaultMaxItems   = 500
	defaultMaxRunning = 100
)

// complete returns a copy of o with defaults, or an error that lists every fault. Nil counts as
// empty.
func (o *Options) complete() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	o = &c
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("batcher: "+format, args...))
	}
	if o.AfterFunc == nil {
		fault("afterFunc: nil; pass a function around time.AfterFunc")
	}
	if o.Idle < 0 {
		fault("idle: %v; use a time above zero, or zero for the default", o.Idle)
	}
	o.Idle = cmp.Or(o.Idle, defaultIdle)
	switch {
	case o.Max == 0:
		o.Max = max(defaultMax, o.Idle)
	case o.Max < o.Idle:
		fault("max: %v; use a time of at least idle, %v, or zero for the default", o.Max, o.Idle)
	}
	if o.MaxItems < 0 {
		fault("maxItems: %d; use a number above zero, or zero for the default", o.MaxItems)
	}
	o.MaxItems = cmp.Or(o.MaxItems, defaultMaxItems)
	if o.MaxRunning < 0 {
		fault("maxRunning: %d; use a number above zero, or zero for the default", o.MaxRunning)
	}
	o.MaxRunning = cmp.Or(o.MaxRunning, defaultMaxRunning)
	return c, errors.Join(faults...)
}
