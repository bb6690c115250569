package fake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/fault"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Cloud is a cloud in memory. It implements cloudprovider.CloudProvider and every
// ability that package cloudprovider knows. Any number of goroutines may use it.
//
// What it does depends on nothing but Options and the calls it gets. The ID of
// an instance depends on nothing but its token and zone, so that calls in
// another order, or at once, lead to the same instances.
//
// A method returns at once. If ctx is done it does nothing and returns an
// error that wraps ctx.Err(). Other errors are *cloudprovider.Error, of the kinds that
// cloudprovider.CloudProvider names for the method, and whatever Script and
// Options.RateLimits order. What a method returns is read-only, as of any provider.
//
// New makes it. The zero value must not be used.
type Cloud struct {
	opts  Options
	clock func() time.Time

	mu       sync.Mutex
	base     time.Time     // the latest that clock said
	advanced time.Duration // how far Advance went ahead of it
	start    time.Time
	now      time.Time
	due      agenda
	arranged int

	types   []*cloudprovider.InstanceType // sorted by name; never written to
	index   map[string]int                // name to place in types
	shelves map[cloudprovider.OfferingKey]*shelf
	shown   []*cloudprovider.InstanceType // what InstanceTypes returns; replaced, never written to
	stale   []bool                        // which of shown have changed
	shownAt int64                         // tick of the prices in shown

	reservations map[string]*reservation
	images       []Image               // sorted by ID
	classes      map[string]*NodeClass // nil if all exist

	machines []*machine        // sorted by ID
	tokens   map[string]string // token to the ID of its instance, also when that is gone
	issued   map[string]bool   // all IDs ever given

	notices []notice // sorted as Interruptions returns them
	noticed int
	script  fault.Script
	buckets []bucket
	events  []Event
	stats   ledger
}

// New returns a cloud without instances.
//
// The error joins every fault of the options: those of InstanceTypes that
// cloudprovider.InstanceType.Validate finds, nil, names used twice, and what
// the comments on the other fields forbid.
func New(opts *Options) (*Cloud, error) {
	c := &Cloud{index: map[string]int{}, tokens: map[string]string{}, issued: map[string]bool{}}
	if opts != nil {
		c.opts = *opts
	}
	if c.clock = c.opts.Clock; c.clock == nil {
		c.clock = func() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }
	}
	var err error
	if c.opts.InstanceTypes == nil {
		c.types = catalog.All()
	} else if c.types, err = catalog.Sorted(c.opts.InstanceTypes); err != nil {
		return nil, fmt.Errorf("fake: options: %w", err)
	}
	for i, t := range c.types {
		c.index[t.Name] = i
	}
	c.start = c.clock()
	c.base, c.now = c.start, c.start
	if err := c.setUp(); err != nil {
		return nil, fmt.Errorf("fake: options: %w", err)
	}
	return c, nil
}

// setUp applies all options but the catalog and the clock.
func (c *Cloud) setUp() error {
	errs := c.opts.complete()
	errs = append(errs, c.reserve()...)
	c.stockUp()
	errs = append(errs, c.openReservations()...)
	errs = append(errs, c.supplyAll()...)
	errs = append(errs, c.checkClasses()...)
	errs = append(errs, c.checkImages()...)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	images := c.opts.Images
	if images == nil {
		images = c.defaultImages()
	}
	for _, image := range images {
		c.publish(image)
	}
	for _, limit := range c.opts.RateLimits {
		c.buckets = append(c.buckets, bucket{limit: limit, tokens: limit.Burst, filled: c.now})
	}
	c.catchUp(c.now) // reservations that have ended
	return nil
}

// Name returns "fake".
func (c *Cloud) Name() string { return "fake" }

// Vocabulary returns catalog.Vocabulary.
func (c *Cloud) Vocabulary() *requirements.Vocabulary { return catalog.Vocabulary() }

// Catalog returns catalog.All: what a Cloud sells by default. It is made anew, which
// takes about ten milliseconds, and is the caller's.
func Catalog() []*cloudprovider.InstanceType { return catalog.All() }

// Vocabulary returns catalog.Vocabulary: the labels of the catalog.
func Vocabulary() *requirements.Vocabulary { return catalog.Vocabulary() }

func (c *Cloud) notFound(op, id string) error {
	cause := errors.New("the cloud never had it")
	if c.issued[id] {
		cause = errors.New("it was deleted")
	}
	return &cloudprovider.Error{Op: op, Kind: cloudprovider.KindNotFound, Object: id, Err: cause}
}

func denied(op, object string, cause error) error {
	return &cloudprovider.Error{Op: op, Kind: cloudprovider.KindDenied, Object: object, Err: cause}
}

// done returns an error if ctx is.
func done(ctx context.Context, op, object string) error {
	if err := ctx.Err(); err != nil {
		return &cloudprovider.Error{Op: op, Object: object, Err: err}
	}
	return nil
}

// A Cloud has every ability that there is.
var (
	_ cloudprovider.CloudProvider            = (*Cloud)(nil)
	_ cloudprovider.Namer                    = (*Cloud)(nil)
	_ cloudprovider.VocabularyProvider       = (*Cloud)(nil)
	_ cloudprovider.NodeClassSupporter       = (*Cloud)(nil)
	_ cloudprovider.NodeClassChecker         = (*Cloud)(nil)
	_ cloudprovider.DriftDetector            = (*Cloud)(nil)
	_ cloudprovider.Rebooter                 = (*Cloud)(nil)
	_ cloudprovider.Repairer                 = (*Cloud)(nil)
	_ cloudprovider.InterruptionSource       = (*Cloud)(nil)
	_ cloudprovider.InterruptionAcknowledger = (*Cloud)(nil)
)

// Stats are counts of what happened in a Cloud. Launched less Terminated is the
// number of machines that there are.
type Stats struct {
	// Launched and Terminated count machines, Interrupted those that the cloud
	// announced to take away.
	Launched, Terminated, Interrupted int
	// Refused counts the Creates that found nothing in stock, Throttled the
	// calls that a rate limit turned away, Rebooted restarts.
	Refused, Throttled, Rebooted int
	// Hours is how many hours machines existed so far, all of them together.
	Hours float64
	// Cost is what they cost, in USD: each from when it was launched until it
	// was gone, or now, at the price of the moment when it was launched.
	Cost float64
}

// ledger is Stats in the making. The sums are kept in whole numbers, so that
// they do not depend on the order.
type ledger struct {
	Stats
	nanos, millis int64 // of Cost in 1e-9 USD, of Hours in milliseconds
}

// Stats returns the counts so far.
func (c *Cloud) Stats() Stats {
	c.enter()
	defer c.mu.Unlock()
	s := c.stats
	for _, m := range c.machines {
		if m.gone.IsZero() {
			s.count(m, c.now)
		}
	}
	s.Cost = float64(s.nanos) / nanos
	s.Hours = float64(s.millis) / float64(time.Hour/time.Millisecond)
	return s.Stats
}

// count adds the life of a machine.
func (s *ledger) count(m *machine, until time.Time) {
	lived := until.Sub(m.instance.CreatedAt)
	s.millis += int64(lived / time.Millisecond)
	s.nanos += mulDiv(toNanos(m.instance.Price), int64(lived), int64(time.Hour))
}
