package batcher

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Window says when to stop collecting: the rule of a Group as a value, for a program that has its
// own loop and clock. It is made for pending pods: ten pods that are planned together share nodes
// better than pods planned one by one.
//
//	w = w.Add(now)     // for each pod that is seen for the first time
//	if w.Due(now) {    // or wait until w.DueAt()
//		w = w.Clear()
//		// plan for all that are pending
//	}
//
// It is due when nothing has been added for Idle, or Max after the first, whichever comes first. If
// the clock is set back to an instant before the first, the wait cannot be measured: the window is
// due, and an addition begins the wait again. It is comparable and immutable: methods return the next window. The zero Window has the defaults and
// is empty. Create others with NewWindow.
type Window struct {
	idle, max   time.Duration
	first, last time.Time
	open        bool
	waiting     int // count of the last Gather
}

const (
	// DefaultWindowIdle is the default of how long a Window waits after the last addition.
	DefaultWindowIdle = time.Second
	// DefaultWindowMax is the default of how long a Window waits altogether.
	DefaultWindowMax = 10 * time.Second
)

// NewWindow returns an empty Window. It waits idle after the last addition, and at most the time
// most after the first. Zero means the default; the default of most is at least idle. The error
// lists every fault: a time below zero, or most below idle.
func NewWindow(idle, most time.Duration) (Window, error) {
	var faults []error
	if idle < 0 {
		faults = append(faults, fmt.Errorf("window: idle: %v; use a time above zero, or zero for the default, %v", idle, DefaultWindowIdle))
	}
	wait := cmp.Or(idle, DefaultWindowIdle)
	if most != 0 && most < wait {
		faults = append(faults, fmt.Errorf("window: max: %v; use a time of at least idle, %v, or zero for the default", most, wait))
	}
	if err := errors.Join(faults...); err != nil {
		return Window{}, err
	}
	return Window{idle: wait, max: cmp.Or(most, max(wait, DefaultWindowMax))}, nil
}

// Idle returns how long it waits after the last addition.
func (w Window) Idle() time.Duration { return cmp.Or(w.idle, DefaultWindowIdle) }

// Max returns how long it waits altogether, from the first addition.
func (w Window) Max() time.Duration { return cmp.Or(w.max, DefaultWindowMax) }

// Open reports whether anything was added since it was cleared.
func (w Window) Open() bool { return w.open }

// Add returns the window after an addition at an instant. An instant before the last one does not
// shorten the wait. One before the first, as when a clock is set back, begins the wait again.
func (w Window) Add(now time.Time) Window {
	if !w.open || now.Before(w.first) {
		w.open, w.first, w.last = true, now, now
		return w
	}
	if now.After(w.last) {
		w.last = now
	}
	return w
}

// DueAt returns when it is due if nothing more is added. It is zero for an empty window.
func (w Window) DueAt() time.Time {
	if !w.open {
		return time.Time{}
	}
	idle, most := w.last.Add(w.Idle()), w.first.Add(w.Max())
	if idle.Before(most) {
		return idle
	}
	return most
}

// Due reports whether to stop collecting: now has reached DueAt, or is before the first addition. An
// empty window is never due.
func (w Window) Due(now time.Time) bool {
	return w.open && (now.Before(w.first) || !now.Before(w.DueAt()))
}

// Clear returns the empty window.
func (w Window) Clear() Window { return Window{idle: w.idle, max: w.max} }

// Gather is Add, Due and Clear for a loop that counts what waits: the pending pods without a plan.
// A count above that of the last call is an addition, as is an instant before the first addition.
// Zero clears the window. It returns the next window, and whether to stop collecting; if so, the next window is empty.
//
//	w, due = w.Gather(now, len(pending))
func (w Window) Gather(now time.Time, waiting int) (Window, bool) {
	switch {
	case waiting <= 0:
		return w.Clear(), false
	case waiting > w.waiting || !w.open || now.Before(w.first):
		w = w.Add(now)
	}
	w.waiting = waiting
	if w.Due(now) {
		return w.Clear(), true
	}
	return w, false
}
