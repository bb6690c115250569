package cloudprovider

import (
	"cmp"
	"container/heap"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Availability remembers which offerings the cloud refused to sell, so that the
// next decision does not ask for them again at once. Each mark covers a Scope
// and ends by itself after some minutes, since clouds do not tell when stock
// returns.
//
// With AvailabilityOptions.MaxTTL, a scope that is refused again soon after its
// mark ended is marked for twice as long as before. With ProbeBudget, only so
// many launches find out whether the stock is back, instead of all that wait
// for it: see Admit.
//
// It is the one place in the package with a state. Any number of goroutines may
// use it. The answers are a function of the calls made, the instants that the
// clock gave and the numbers that the source of jitter gave, and of nothing
// else. A clock that steps back does not revive marks that have ended.
//
// A provider keeps one for an account and region, returns from InstanceTypes
// what Apply makes of the catalog, and in Create
//
//  1. passes the options of the request through Admit,
//  2. tells the outcome to Launched or MarkFromError.
//
// Notices of the cloud go to MarkFromInterruption.
//
// NewAvailability makes it. The zero value has no clock and must not be used.
type Availability struct {
	now  func() time.Time
	opts AvailabilityOptions

	marks markTable // changed under the lock, read without it

	mu       sync.Mutex
	queue    markQueue      // the same marks, by end
	types    map[string]int // marks by instance type, "" for any: most types have none
	sequence uint64
	past     refusals
}

// NewAvailability returns an Availability without marks that reads the time
// from now, which must be safe for concurrent use: time.Now, or the clock of a
// test. opts may be nil. The error lists every option that is not valid.
func NewAvailability(now func() time.Time, opts *AvailabilityOptions) (*Availability, error) {
	a := &Availability{now: now, types: make(map[string]int)}
	a.marks.init()
	a.past.records = make(map[Scope]*refusal)
	if opts != nil {
		a.opts = *opts
	}
	f := faults{prefix: "availability"}
	if now == nil {
		f.add("now: nil; pass the clock, such as time.Now")
	}
	f.availabilityOptions(&a.opts)
	if len(f.errs) > 0 {
		return nil, errors.Join(f.errs...)
	}
	a.opts.complete()
	return a, nil
}

// MarkUnavailable marks the scope, as of now and for the time that the options
// give for the reason, and returns the mark in force. Use OfferingKey.Scope for
// a single offering. A scope that is marked already keeps the mark that ends
// later, and its Since.
//
// How long the mark lasts, in this order: the TTL of the reason; doubled for
// each earlier refusal that is remembered, up to MaxTTL (launches that fail
// together while a mark stands are one refusal); plus jitter.
func (a *Availability) MarkUnavailable(scope Scope, reason string) Mark {
	a.lock()
	defer a.unlock()
	return a.mark(a.advance(), scope, reason, 0)
}

// MarkFromError marks what the cloud refused: the Offerings and Scopes of every
// *Error of KindInsufficientCapacity in the tree of err, under its Reason, or
// "InsufficientCapacity" if it has none. A mark lasts at least as long as
// RetryAfter asks. It returns the marks in force for these scopes, sorted by
// scope, and none for any other error or nil.
func (a *Availability) MarkFromError(err error) []Mark {
	a.lock()
	defer a.unlock()
	now := a.advance()
	made := make(map[Scope]Mark)
	eachError(err, func(e *Error) bool {
		if e.Kind != KindInsufficientCapacity {
			return true
		}
		reason := cmp.Or(e.Reason, string(e.Kind))
		for _, key := range e.Offerings {
			made[key.Scope()] = a.mark(now, key.Scope(), reason, e.RetryAfter)
		}
		for _, scope := range e.Scopes {
			made[scope] = a.mark(now, scope, reason, e.RetryAfter)
		}
		return true
	})
	return slices.SortedFunc(maps.Values(made), func(a, b Mark) int { return a.Scope.Compare(b.Scope) })
}

// MarkAvailable ends the mark on exactly this scope, as after a launch that
// worked, and reports whether there was one. Marks on wider and narrower scopes
// stay.
func (a *Availability) MarkAvailable(scope Scope) bool {
	a.lock()
	defer a.unlock()
	a.advance()
	m := a.marks.find(scope)
	if m != nil {
		a.unmark(m)
	}
	return m != nil
}

// Clear ends all marks and forgets all refusals.
func (a *Availability) Clear() {
	a.lock()
	defer a.unlock()
	a.advance()
	a.clear()
}

func (a *Availability) clear() {
	for len(a.queue) > 0 {
		a.forget(heap.Pop(&a.queue).(*queuedMark))
	}
	a.past.clear()
}

func (a *Availability) lock() { a.mu.Lock() }

// unlock lets readers see what was changed under the lock, all at once.
func (a *Availability) unlock() {
	a.marks.end()
	a.mu.Unlock()
}

// advance ends the marks whose time is up and returns the present instant.
func (a *Availability) advance() time.Time {
	now := a.now()
	for len(a.queue) > 0 && !a.queue[0].Until.After(now) {
		a.forget(heap.Pop(&a.queue).(*queuedMark))
	}
	a.past.advance(now)
	return now
}

// mark records that the scope was refused, by a mark that lasts at least the
// given time.
func (a *Availability) mark(now time.Time, scope Scope, reason string, atLeast time.Duration) Mark {
	m := a.marks.find(scope)
	past := a.refused(scope, m != nil)
	until := now.Add(max(a.opts.ttl(reason, past.doublings()), atLeast))
	switch {
	case m == nil:
		m = a.insert(Mark{Scope: scope, Reason: reason, Since: now, Until: until})
	case until.After(m.Until):
		m = a.replace(m, Mark{Scope: scope, Reason: reason, Since: m.Since, Until: until})
	case past != nil && past.probing:
		m = a.replace(m, Mark{Scope: scope, Reason: reason, Since: m.Since, Until: m.Until})
	}
	if past != nil {
		past.probing = false
		a.past.rememberUntil(past, m.Until.Add(a.opts.ForgetAfter))
	}
	a.bound()
	return m.Mark
}

// insert adds a mark on a scope that has none.
func (a *Availability) insert(mark Mark) *queuedMark {
	m := &queuedMark{Mark: mark}
	a.marks.insert(m)
	heap.Push(&a.queue, m)
	a.types[mark.Scope.InstanceType]++
	a.sequence++
	return m
}

// replace puts another mark on a scope that has one.
func (a *Availability) replace(old *queuedMark, mark Mark) *queuedMark {
	m := &queuedMark{Mark: mark, index: old.index}
	a.marks.replace(m)
	a.queue[m.index] = m
	heap.Fix(&a.queue, m.index)
	return m
}

// bound drops what is more than the options allow to keep.
func (a *Availability) bound() {
	for len(a.queue) > a.opts.MaxMarks {
		a.forget(heap.Pop(&a.queue).(*queuedMark))
	}
	for len(a.past.queue) > a.opts.MaxMarks {
		a.past.drop(a.past.queue[0])
	}
}

// unmark ends a mark that is still in the queue.
func (a *Availability) unmark(m *queuedMark) {
	heap.Remove(&a.queue, m.index)
	a.forget(m)
}

// forget drops a mark that has left the queue.
func (a *Availability) forget(m *queuedMark) {
	a.marks.remove(m.Scope)
	if a.types[m.Scope.InstanceType]--; a.types[m.Scope.InstanceType] == 0 {
		delete(a.types, m.Scope.InstanceType)
	}
	a.sequence++
}
