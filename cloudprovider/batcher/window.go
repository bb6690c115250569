package batcher

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Window says when enough has been gathered: the rule of a Group as a value, for a
// program that has a loop and a clock of its own. What it is made for are pods that
// are pending: ten that are planned for together share nodes better than one at a
// time.
//
//	w = w.Add(now)     // for each pod that is seen for the first time
//	if w.Due(now) {    // or wait until w.DueAt()
//		w = w.Clear()
//		// plan for all that are pending
//	}
//
// It is due when nothing has been added for Idle, or Max after the first, whichever
// comes first. It is comparable and immutable: methods return what follows. The zero
// Window has the defaults, and nothing in it. Make others by NewWindow.
type Window struct {
	idle, max   time.Duration
	first, last time.Time
	open        bool
	waiting     int // at the last Gather
}

const (
	// DefaultWindowIdle is how long a Window waits for more after the last, by
	// default.
	DefaultWindowIdle = time.Second
	// DefaultWindowMax is how long a Window waits altogether, by default.
	DefaultWindowMax = 10 * time.Second
)

// NewWindow returns a Window with nothing in it that waits for idle after the last
// that was added, and for most altogether. Zero means the default, and for most no
// less than idle. The error lists every fault: a time below zero, and most below
// idle.
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

// Idle returns how long it waits for more after the last.
func (w Window) Idle() time.Duration { return cmp.Or(w.idle, DefaultWindowIdle) }

// Max returns how long it waits altogether, from the first.
func (w Window) Max() time.Duration { return cmp.Or(w.max, DefaultWindowMax) }

// Open reports whether anything was added since it was cleared.
func (w Window) Open() bool { return w.open }

// Add returns the window after something has come at an instant. One that is earlier
// than another before, as when a clock is set back, does not shorten what is waited.
func (w Window) Add(now time.Time) Window {
	if !w.open {
		w.open, w.first, w.last = true, now, now
		return w
	}
	if now.After(w.last) {
		w.last = now
	}
	return w
}

// DueAt returns when it is due if nothing more is added: when to look again. It is
// zero if there is nothing in it.
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

// Due reports whether to stop gathering at an instant: DueAt has been reached. A
// window with nothing in it never is.
func (w Window) Due(now time.Time) bool { return w.open && !now.Before(w.DueAt()) }

// Clear returns the window with nothing in it.
func (w Window) Clear() Window { return Window{idle: w.idle, max: w.max} }

// Gather is Add, Due and Clear for a loop that counts, at every look, how much waits:
// the pods that are pending and that no plan was made for. More than at the look before
// counts as something that has come, and none clears the window. It returns what
// follows, and whether to stop gathering; if so, the window that it returns is empty.
//
//	w, due = w.Gather(now, len(pending))
func (w Window) Gather(now time.Time, waiting int) (Window, bool) {
	switch {
	case waiting <= 0:
		return w.Clear(), false
	case waiting > w.waiting || !w.open:
		w = w.Add(now)
	}
	w.waiting = waiting
	if w.Due(now) {
		return w.Clear(), true
	}
	return w, false
}
