package fake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Options set up a Cloud. The zero value, and nil, mean the defaults.
type Options struct {
	// InstanceTypes is what the cloud sells. Default Catalog. New copies it.
	InstanceTypes []*cloudprovider.InstanceType

	// Clock tells the time of Instance.CreatedAt. It may be called by several
	// goroutines at once. Default: a clock that stands still at 1 January 2026,
	// 00:00 UTC.
	Clock func() time.Time
}

// Cloud is a cloud in memory. It implements cloudprovider.CloudProvider and
// cloudprovider.VocabularyProvider. Any number of goroutines may use it.
//
// What it does depends on nothing but Options and the calls it gets. The ID of
// an instance depends on nothing but its token and zone, so that calls in
// another order, or at once, lead to the same instances.
//
// A method returns at once. If ctx is done it does nothing and returns an
// error that wraps ctx.Err().
type Cloud struct {
	clock func() time.Time

	mu        sync.Mutex
	types     []*cloudprovider.InstanceType // sorted by name; replaced, never written to
	index     map[string]int                // name to place in types
	instances map[string]*cloudprovider.Instance
	tokens    map[string]string // token to the ID of its instance, also when that is gone
	issued    map[string]bool   // all IDs ever given
}

// New returns a cloud without instances.
//
// The error joins every fault of Options.InstanceTypes: those that
// cloudprovider.InstanceType.Validate finds, nil, and names used twice.
func New(opts *Options) (*Cloud, error) {
	if opts == nil {
		opts = &Options{}
	}
	c := &Cloud{
		clock:     opts.Clock,
		index:     map[string]int{},
		instances: map[string]*cloudprovider.Instance{},
		tokens:    map[string]string{},
		issued:    map[string]bool{},
	}
	if c.clock == nil {
		c.clock = func() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }
	}
	if opts.InstanceTypes == nil {
		c.types = Catalog()
	} else {
		var err error
		if c.types, err = ordered(opts.InstanceTypes); err != nil {
			return nil, fmt.Errorf("fake: options: %w", err)
		}
	}
	for i, t := range c.types {
		c.index[t.Name] = i
	}
	return c, nil
}

// Name returns "fake".
func (c *Cloud) Name() string { return "fake" }

// Vocabulary returns the vocabulary of the package function of that name.
func (c *Cloud) Vocabulary() *requirements.Vocabulary { return Vocabulary() }

// InstanceTypes returns what the cloud sells, the same for every pool, nil
// included. An offering that SetAvailable has taken away is there and not
// Available. The slice is the caller's; later changes do not show in it.
func (c *Cloud) InstanceTypes(ctx context.Context, _ *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if err := done(ctx, "InstanceTypes", ""); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.types), nil
}

// SetAvailable puts an offering on sale or takes it off. Instances that were
// launched by it run on. An offering that the cloud does not have is an error
// of KindDenied.
func (c *Cloud) SetAvailable(key cloudprovider.OfferingKey, available bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, found := c.index[key.InstanceType]
	if !found {
		return denied("SetAvailable", key.String(), fmt.Errorf("the catalog has no instance type %q", key.InstanceType))
	}
	// Callers hold the old type, which must not change under them.
	t := c.types[i].Clone()
	o, found := t.Offering(key)
	if !found {
		return denied("SetAvailable", key.String(), errors.New("the instance type has no such offering; see its Offerings"))
	}
	o.Available = available
	c.types[i] = t
	return nil
}

// Get returns the instance.
func (c *Cloud) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	if err := done(ctx, "Get", id); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if instance, found := c.instances[id]; found {
		return instance, nil
	}
	return nil, c.notFound("Get", id)
}

// List returns the instances, sorted by ID.
func (c *Cloud) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	if err := done(ctx, "List", ""); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*cloudprovider.Instance, 0, len(c.instances))
	for _, id := range slices.Sorted(maps.Keys(c.instances)) {
		out = append(out, c.instances[id])
	}
	return out, nil
}

// Delete terminates the instance, which is gone at once.
func (c *Cloud) Delete(ctx context.Context, id string) error {
	if err := done(ctx, "Delete", id); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, found := c.instances[id]; !found {
		return c.notFound("Delete", id)
	}
	delete(c.instances, id)
	return nil
}

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
