package availability

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Cache remembers what a cloud refused; see the package comment. A clock that steps
// back does not revive marks that have ended.
//
// New makes it. The zero value has no clock and must not be used.
type Cache struct {
	now  func() time.Time
	opts Options

	mu      sync.Mutex
	records map[cloudprovider.Scope]*record
	groups  map[group][]*record
	types   map[string]int // records by instance type, "" for any: most types have none
	next    time.Time      // when a record changes by time alone; zero if none does
}

// record is the state of a scope: its mark, and after that has ended, the earlier refusals.
type record struct {
	Mark
	ended  bool      // the mark
	count  int       // refusals in a row, one or more
	forget time.Time // not before Until
}

// group is the key of records with the same instance type and reservation. There are few groups, so
// visiting all is as fast as looking up each scope that could cover an offering.
type group struct{ instanceType, reservationID string }

func groupOf(s cloudprovider.Scope) group { return group{s.InstanceType, s.ReservationID} }

// New returns a Cache without marks that reads the time from now, which must be safe
// for concurrent use: time.Now, or the clock of a test. opts may be nil. The error
// lists every option that is not valid.
func New(now func() time.Time, opts *Options) (*Cache, error) {
	c := &Cache{
		now: now, records: map[cloudprovider.Scope]*record{}, groups: map[group][]*record{}, types: map[string]int{},
	}
	if opts != nil {
		c.opts = *opts
	}
	var f faults
	if now == nil {
		f.add("now: nil; pass the clock, such as time.Now")
	}
	f.options(&c.opts)
	if len(f.errs) > 0 {
		return nil, errors.Join(f.errs...)
	}
	c.opts.complete()
	return c, nil
}

// MarkUnavailable marks the scope, as of now and for the time that the options give for the reason,
// and returns the mark in force. Use OfferingKey.Scope for a single offering. If the scope is
// marked already, the mark that ends later holds, with the earlier Since.
//
// How long the mark lasts, in this order: the TTL of the reason; doubled for each earlier refusal
// that is remembered, up to MaxTTL (launches that fail while a mark holds are one refusal).
func (c *Cache) MarkUnavailable(scope cloudprovider.Scope, reason string) Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mark(c.advance(), scope, reason, 0)
}

// longestRetry is how long a cloud may have a mark last with RetryAfter. A stock that comes back later is
// found by one more refused launch a day.
const longestRetry = 24 * time.Hour

// MarkFromError marks the refused Offerings and Scopes of every *cloudprovider.Error of
// KindInsufficientCapacity in the tree of err, under its Reason, or "InsufficientCapacity" if it
// has none. An offering without an instance type, zone or capacity type is passed over: it would stand
// for all that its other fields cover, which only Scopes may. A mark lasts at least as long as
// RetryAfter asks, up to 24 hours. It returns the marks of these scopes, sorted by scope, and nil for
// any other error or nil.
func (c *Cache) MarkFromError(err error) []Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.advance()
	made := make(map[cloudprovider.Scope]Mark)
	eachError(err, func(e *cloudprovider.Error) {
		if e.Kind != cloudprovider.KindInsufficientCapacity {
			return
		}
		mark := func(s cloudprovider.Scope) {
			made[s] = c.mark(now, s, cmp.Or(e.Reason, string(e.Kind)), min(e.RetryAfter, longestRetry))
		}
		for _, key := range e.Offerings {
			if key.InstanceType != "" && key.Zone != "" && key.CapacityType != "" {
				mark(key.Scope())
			}
		}
		for _, scope := range e.Scopes {
			mark(scope)
		}
	})
	return slices.SortedFunc(maps.Values(made), byScope)
}

// MarkFromInterruption marks the offering of an instance that the cloud takes back: of a spot
// instance for InterruptionSpot, of a reserved one for InterruptionReservation, with the kind as
// the reason, because the cloud does not sell again at once what it takes back. It returns the
// mark, and false if there is nothing to mark: for every other kind (a failed machine does not mean
// that stock is short), for a nil instance, for an instance that the notice is not about, and for
// one with an unknown type or zone.
func (c *Cache) MarkFromInterruption(i *cloudprovider.Instance, n cloudprovider.Interruption) (Mark, bool) {
	wanted := ""
	switch n.Kind {
	case cloudprovider.InterruptionSpot:
		wanted = v1.CapacityTypeSpot
	case cloudprovider.InterruptionReservation:
		wanted = v1.CapacityTypeReserved
	default:
		return Mark{}, false
	}
	if i == nil || i.ID != n.InstanceID || i.CapacityType != wanted || i.Type == "" || i.Zone == "" {
		return Mark{}, false
	}
	if wanted == v1.CapacityTypeReserved && i.ReservationID == "" {
		return Mark{}, false // it would mark every reservation of the type
	}
	return c.MarkUnavailable(i.OfferingKey().Scope(), string(n.Kind)), true
}

// Launched records that the cloud sold the offering: a provider calls it after each Create that
// launched a machine. For each scope that covers the offering and whose mark has ended, the
// remembered number of refusals is halved, rounded down; at zero the scope is forgotten. Marks that
// hold stay, because the launch may have begun before them.
func (c *Cache) Launched(key cloudprovider.OfferingKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	var sold []*record
	c.covering(key, func(r *record) {
		if r.ended {
			sold = append(sold, r)
		}
	})
	for _, r := range sold {
		if r.count /= 2; r.count == 0 {
			c.drop(r)
		}
	}
}

// Unavailable returns a mark that covers the offering now, and false if there is none. Of several
// it returns the one that ends last; of those that end together, the first by Scope.
func (c *Cache) Unavailable(key cloudprovider.OfferingKey) (Mark, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	return c.unavailable(key)
}

func (c *Cache) unavailable(key cloudprovider.OfferingKey) (best Mark, found bool) {
	c.covering(key, func(r *record) {
		if !r.ended && (!found || cmp.Or(r.Until.Compare(best.Until), best.Scope.Compare(r.Scope)) > 0) {
			best, found = r.Mark, true
		}
	})
	return best, found
}

// Admit returns the options of one launch that no mark covers now, in their order, without options
// that lack an instance type or offering. A provider calls it in Create, once it knows that the
// token of the request has no machine, and before it asks the cloud for one. If the result is empty
// and the provider cannot know whether the token has a machine, it asks the cloud for all options;
// otherwise it returns KindInsufficientCapacity. The slice is the caller's.
func (c *Cache) Admit(options []cloudprovider.LaunchOption) []cloudprovider.LaunchOption {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	var admitted []cloudprovider.LaunchOption
	for _, o := range options {
		if o.InstanceType == nil || o.Offering == nil {
			continue
		}
		if _, marked := c.unavailable(o.Key()); !marked {
			admitted = append(admitted, o)
		}
	}
	return admitted
}

// Marks returns all marks that hold now, sorted by scope: they explain why an offering is not
// launched. The caller owns the slice.
func (c *Cache) Marks() []Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	marks := make([]Mark, 0, len(c.records))
	for _, r := range c.records {
		if !r.ended {
			marks = append(marks, r.Mark)
		}
	}
	slices.SortFunc(marks, byScope)
	return marks
}

func byScope(a, b Mark) int { return a.Scope.Compare(b.Scope) }

// advance ends marks and forgets refusals whose time is over, and returns the present instant.
func (c *Cache) advance() time.Time {
	now := c.now()
	if c.next.IsZero() || c.next.After(now) {
		return now
	}
	c.next = time.Time{}
	for _, r := range c.records {
		r.ended = r.ended || !r.Until.After(now)
		if !r.forget.After(now) {
			c.drop(r)
			continue
		}
		c.due(r)
	}
	return now
}

// due notes when a record changes by time alone.
func (c *Cache) due(r *record) {
	at := r.Until
	if r.ended {
		at = r.forget
	}
	if c.next.IsZero() || at.Before(c.next) {
		c.next = at
	}
}

// mark records that the scope was refused, by a mark that lasts at least the
// given time.
func (c *Cache) mark(now time.Time, scope cloudprovider.Scope, reason string, atLeast time.Duration) Mark {
	r := c.records[scope]
	switch {
	case r == nil:
		r = &record{Mark: Mark{Scope: scope}, ended: true, count: 1}
		c.add(r)
	case r.ended && r.count < math.MaxInt: // otherwise the launch began before the mark: not a new refusal
		r.count++
	}
	until := now.Add(max(c.opts.ttl(reason, r.count-1), atLeast))
	if r.ended {
		r.ended, r.Since = false, now
		r.Reason, r.Until = reason, until
	} else if until.After(r.Until) {
		r.Reason, r.Until = reason, until
	}
	forget := r.Until
	if c.opts.MaxTTL > 0 { // otherwise refusals have no effect later
		forget = forget.Add(c.opts.ForgetAfter)
	}
	if forget.After(r.forget) {
		r.forget = forget
	}
	m := r.Mark
	c.due(r)
	c.bound()
	return m
}

func (c *Cache) add(r *record) {
	c.records[r.Scope] = r
	g := groupOf(r.Scope)
	c.groups[g] = append(c.groups[g], r)
	c.types[g.instanceType]++
}

func (c *Cache) drop(r *record) {
	delete(c.records, r.Scope)
	g := groupOf(r.Scope)
	if c.groups[g] = slices.DeleteFunc(c.groups[g], func(other *record) bool { return other == r }); len(c.groups[g]) == 0 {
		delete(c.groups, g)
	}
	if c.types[g.instanceType]--; c.types[g.instanceType] == 0 {
		delete(c.types, g.instanceType)
	}
}

// bound drops records beyond MaxMarks.
func (c *Cache) bound() {
	for len(c.records) > c.opts.MaxMarks {
		var first *record
		for _, r := range c.records {
			if first == nil || cmp.Or(r.forget.Compare(first.forget), r.Scope.Compare(first.Scope)) < 0 {
				first = r
			}
		}
		c.drop(first)
	}
}

// covering yields the records of the scopes that cover the offering, in any order.
func (c *Cache) covering(key cloudprovider.OfferingKey, yield func(*record)) {
	groups := [4]group{{}, {instanceType: key.InstanceType}, {reservationID: key.ReservationID}, groupOf(key.Scope())}
	for i, g := range groups {
		if slices.Contains(groups[:i], g) {
			continue // the key has no such part
		}
		for _, r := range c.groups[g] {
			if r.Scope.Covers(key) {
				yield(r)
			}
		}
	}
}

// eachError visits the *Errors in the tree of err, outer before inner and
// joined ones in order.
func eachError(err error, visit func(*cloudprovider.Error)) {
	if e, ok := err.(*cloudprovider.Error); ok && e != nil {
		visit(e)
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapper.Unwrap(); inner != nil {
			eachError(inner, visit)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			eachError(inner, visit)
		}
	}
}

// Mark says that the offerings within a scope are unavailable for a time.
type Mark struct {
	// Scope are the marked offerings.
	Scope cloudprovider.Scope
	// Reason is why: the cloud's code, or what the caller gave.
	Reason string
	// Since is when the scope was marked, without a break until now. Until is the end of the mark;
	// at that instant it no longer holds.
	Since, Until time.Time
}

// String returns one line, as in
// "m5.large/zone-a/spot unavailable until 2026-01-02T15:04:05Z: no stock", and "no mark" of the zero value.
func (m Mark) String() string {
	if m.Until.IsZero() {
		return "no mark"
	}
	text := fmt.Sprintf("%s unavailable until %s", m.Scope, m.Until.UTC().Format(time.RFC3339))
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	return text
}

// Apply returns types with every offering that is marked now set to not Available. The input is not
// modified: types with such offerings are replaced by copies, the others are shared with the input,
// and so are all fields of copies except their offerings. The slice is the caller's and has the
// order of the input.
func (c *Cache) Apply(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	applied := slices.Clone(types)
	hits := c.hits(types)
	copies, offerings := copied(types, hits)
	for k, at := range hits {
		if k == 0 || hits[k-1].instanceType != at.instanceType {
			copies = append(copies, *types[at.instanceType])
			one := &copies[len(copies)-1]
			first := len(offerings)
			offerings = append(offerings, one.Offerings...)
			one.Offerings = offerings[first:len(offerings):len(offerings)]
			applied[at.instanceType] = one
		}
		applied[at.instanceType].Offerings[at.offering].Available = false
	}
	return applied
}

// offeringAt is the position of an offering in a catalog.
type offeringAt struct{ instanceType, offering int }

// hits returns the available offerings that are marked.
func (c *Cache) hits(types []*cloudprovider.InstanceType) (hits []offeringAt) {
	for i, t := range types {
		if t == nil || c.types[""] == 0 && c.types[t.Name] == 0 {
			continue
		}
		for j := range t.Offerings {
			if o := &t.Offerings[j]; o.Available {
				if _, marked := c.unavailable(o.Key(t.Name)); marked {
					hits = append(hits, offeringAt{i, j})
				}
			}
		}
	}
	return hits
}

// copied returns memory for copies of the types with hits; hits are in the order of the types. All
// copies are in two arrays: a mark on a zone affects every type, and allocating each copy on its
// own took several times as long as filling it.
func copied(types []*cloudprovider.InstanceType, hits []offeringAt) ([]cloudprovider.InstanceType, []cloudprovider.Offering) {
	n, offerings := 0, 0
	for k, at := range hits {
		if k == 0 || hits[k-1].instanceType != at.instanceType {
			n++
			offerings += len(types[at.instanceType].Offerings)
		}
	}
	return make([]cloudprovider.InstanceType, 0, n), make([]cloudprovider.Offering, 0, offerings)
}
