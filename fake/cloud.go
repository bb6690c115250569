package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/fault"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Cloud is a cloud in memory. It implements cloudprovider.CloudProvider and every ability of that
// package. Any number of goroutines may use it.
//
// Its behaviour depends only on Options and the calls. The ID of an instance depends only on its
// token and zone, so that calls in another order, or concurrent ones, lead to the same instances.
//
// A method returns at once. If ctx is done it does nothing and returns an error that wraps
// ctx.Err(). Other errors are *cloudprovider.Error, of the kinds that cloudprovider.CloudProvider
// names for the method, and those of Script. What a method returns is read-only.
//
// New makes it. The zero value must not be used.
type Cloud struct {
	opts  Options
	clock func() time.Time

	mu       sync.Mutex
	base     time.Time     // the latest time of Options.Now
	advanced time.Duration // how far Advance went ahead of it
	start    time.Time
	now      time.Time
	due      []appointment // in the order of time

	types   []*cloudprovider.InstanceType // sorted by name; never written to
	shelves map[cloudprovider.OfferingKey]*shelf
	shown   []*cloudprovider.InstanceType // what InstanceTypes returns; replaced, never written to
	stale   []bool                        // which of shown have changed
	shownAt int64                         // tick of the prices in shown

	reservations map[string]*reservation
	images       map[string]Image      // by ID
	classes      map[string]*NodeClass // nil if all exist

	machines []*machine        // sorted by ID
	tokens   map[string]string // token to the ID of its instance, also when that is gone
	issued   map[string]bool   // all IDs ever given

	notices []notice // sorted as Interruptions returns them
	noticed int
	script  fault.Script
	events  []Event
	stats   Stats // without Hours
	lived   int64 // total lifetime of machines that are gone, in milliseconds
}

// New returns a cloud without instances.
//
// The error joins every fault of the options: those of InstanceTypes that
// cloudprovider.InstanceType.Validate finds, nil, names used twice, and violations of the comments
// on the other fields.
func New(opts *Options) (*Cloud, error) {
	c := &Cloud{tokens: map[string]string{}, issued: map[string]bool{},
		shelves: map[cloudprovider.OfferingKey]*shelf{}, reservations: map[string]*reservation{}, images: map[string]Image{}}
	if opts != nil {
		c.opts = *opts
	}
	if c.clock = c.opts.Now; c.clock == nil {
		c.clock = func() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }
	}
	var err error
	if c.opts.InstanceTypes == nil {
		c.types = catalog.All()
	} else if c.types, err = catalog.Sorted(c.opts.InstanceTypes); err != nil {
		return nil, fmt.Errorf("fake: options: %w", err)
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
	c.stockUp()
	errs = append(errs, c.supplyAll()...)
	errs = append(errs, c.setNodeClasses()...)
	errs = append(errs, c.publishAll()...)
	return errors.Join(errs...)
}

// Name returns "fake".
func (c *Cloud) Name() string { return "fake" }

// Vocabulary returns catalog.Vocabulary.
func (c *Cloud) Vocabulary() *requirements.Vocabulary { return catalog.Vocabulary() }

// Catalog returns catalog.All: what a Cloud sells by default. It is made at each call, which takes
// about ten milliseconds, and the caller owns it.
func Catalog() []*cloudprovider.InstanceType { return catalog.All() }

// Vocabulary returns catalog.Vocabulary: the labels of the catalog.
func Vocabulary() *requirements.Vocabulary { return catalog.Vocabulary() }

// Stats are counts of what happened in a Cloud. Launched minus Terminated is the number of existing
// machines.
type Stats struct {
	// Launched and Terminated count machines, Interrupted those with an announced interruption.
	Launched, Terminated, Interrupted int
	// Hours is the total lifetime of all machines so far, in hours.
	Hours float64
}

// Stats returns the counts so far.
func (c *Cloud) Stats() Stats {
	c.enter()
	defer c.mu.Unlock()
	lived := c.lived
	for _, m := range c.machines {
		if m.gone.IsZero() {
			lived += c.now.Sub(m.instance.CreatedAt).Milliseconds()
		}
	}
	s := c.stats
	s.Hours = float64(lived) / float64(time.Hour.Milliseconds())
	return s
}

// InstanceTypes returns the catalog, the same for every pool, including nil, at current prices. A
// withdrawn offering is included but not Available. One that is out of stock is Available, because
// real clouds show that only in the answer to a launch. The caller owns the slice; later changes do
// not affect it.
//
// If Options.NodeClasses is set, the node class of the pool must exist and be ready, and a pool
// that names none is KindDenied.
func (c *Cloud) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	in := call{op: OpInstanceTypes}
	if pool != nil {
		in.object, in.pool = pool.Name, pool.Name
	}
	return answer(c, ctx, in, func(*orders) ([]*cloudprovider.InstanceType, error) {
		if pool != nil {
			ref := pool.Spec.Template.Spec.NodeClassRef
			if ref == nil && c.classes != nil {
				return nil, failure("InstanceTypes", pool.Name, cloudprovider.KindDenied, "the pool names no node class; set spec.template.spec.nodeClassRef")
			}
			if ref != nil {
				if _, err := c.class("InstanceTypes", *ref); err != nil {
					return nil, err
				}
			}
		}
		c.refresh()
		return slices.Clone(c.shown), nil
	})
}

// refresh updates shown.
func (c *Cloud) refresh() {
	tick := c.tick()
	for i, t := range c.types {
		if !c.stale[i] && tick == c.shownAt {
			continue
		}
		// Cloned, because callers may hold the old one.
		fresh := t.Clone()
		for n := range fresh.Offerings {
			o := &fresh.Offerings[n]
			s := c.shelves[o.Key(t.Name)]
			o.Available, o.Price = s.available, c.price(s)
			if s.reservation != nil {
				o.ReservationCapacity = s.reservation.left()
			}
		}
		c.shown[i], c.stale[i] = fresh, false
	}
	c.shownAt = tick
}

// Get returns the instance, or KindNotFound once it is gone.
func (c *Cloud) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	in := call{op: OpGet, object: id, offering: c.aboutInstance(id)}
	return answer(c, ctx, in, func(*orders) (*cloudprovider.Instance, error) {
		if m, found := c.find(id); found {
			return m.instance, nil
		}
		return nil, c.notFound("Get", id)
	})
}

// List returns the instances, sorted by ID, as they were Options.ListLag ago.
func (c *Cloud) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	return answer(c, ctx, call{op: OpList}, func(*orders) ([]*cloudprovider.Instance, error) {
		at := c.now.Add(-c.opts.ListLag)
		out := make([]*cloudprovider.Instance, 0, len(c.machines))
		for _, m := range c.machines {
			if instance := m.asOf(at); instance != nil {
				out = append(out, instance)
			}
		}
		return out, nil
	})
}

// Delete makes the instance go down, which takes Options.Timing.Shutdown; by default it is gone at
// once. It returns nil for an instance that is going down.
func (c *Cloud) Delete(ctx context.Context, id string) error {
	return do(c, ctx, call{op: OpDelete, object: id, offering: c.aboutInstance(id)}, func(*orders) error {
		m, found := c.find(id)
		if !found {
			return c.notFound("Delete", id)
		}
		if m.lives() {
			c.takeDown(m, "asked for", false)
		}
		return nil
	})
}
