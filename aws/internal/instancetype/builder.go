package instancetype

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// BuilderOptions configure a Builder. Region and Now are required.
type BuilderOptions struct {
	// Region is the name of the region.
	Region string
	// Now gives the time. It must be safe for concurrent use.
	Now func() time.Time
	// Catalog has the options for all classes. Nil means the defaults.
	Catalog *Options
	// MaxAge is how long a catalog is reused if its input does not change; prices go out of date
	// meanwhile. Default and zero: five minutes.
	MaxAge time.Duration
}

const (
	defaultMaxAge = 5 * time.Minute
	// idle is how long the catalog of a class is kept after its last use.
	idle = 2 * time.Hour
)

// Answers supplies AWS's latest answers to the questions from which a catalog is made. It is safe
// for concurrent use; *nodeclass.Sources implements it.
type Answers interface {
	// Inventory returns the instance types of the region: the same value as long
	// as nothing of it changes.
	Inventory(ctx context.Context) (*Inventory, cache.Reading, error)
	// Prices returns the known prices without waiting.
	Prices(ctx context.Context) (*pricing.Prices, error)
	// Zones returns the zones that are known, sorted by name.
	Zones() []Zone
	// ShiftedZones returns the ids of the zones that traffic is shifted away from.
	ShiftedZones(ctx context.Context) ([]string, error)
	// PlacementGroup returns the group that a selector names, or nil.
	PlacementGroup(ctx context.Context, selector *awsv1.PlacementGroupSelector) (*ec2types.PlacementGroup, cache.Reading, error)
	// Stock returns how many more instances reservations hold.
	Stock() Stock
}

// Builder makes catalogs. Create it with New.
type Builder struct {
	src  Answers
	opts BuilderOptions

	mu      sync.Mutex // guards the fields below
	classes map[string]*entry
	learned Learned
	lessons uint64 // counts changes of learned that change catalogs
}

// entry is the catalog of a class.
type entry struct {
	used time.Time // guarded by Builder.mu

	mu      sync.Mutex // held while the catalog is made
	made    *Catalog
	from    parts
	expires time.Time
}

// NewBuilder returns a Builder that asks src. Package aws checks the options.
func NewBuilder(src Answers, opts BuilderOptions) *Builder {
	opts.MaxAge = cmp.Or(opts.MaxAge, defaultMaxAge)
	return &Builder{src: src, opts: opts, classes: map[string]*entry{}}
}

// Build returns the catalog of a class, from its spec and its resolved status; see Inventory.Build
// for its content. It is made again if one of these changes: the class, the inventory, a price, the
// zones and those shifted away from, the free capacity of the class's reservations, the placement
// group, the memory that nodes have reported. It is also made again after Options.MaxAge and when a
// reservation ends.
//
// The error is that of ctx, or an *cloudprovider.Error: KindDenied for a nil class and for a class
// without a possible catalog, else the error of a source that has never given an answer.
func (b *Builder) Build(ctx context.Context, class *awsv1.EC2NodeClass) (*Catalog, error) {
	if class == nil {
		return nil, denied("", errors.New("the class is nil; give one"))
	}
	from, err := b.gather(ctx, class)
	if err != nil {
		return nil, err
	}
	e := b.entry(class)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := b.opts.Now()
	if e.made != nil && now.Before(e.expires) && !now.Before(e.expires.Add(-b.opts.MaxAge)) && e.from.equal(&from) {
		return e.made, nil
	}
	made, err := from.inventory.Build(Input{
		Now:            now,
		Region:         b.opts.Region,
		Class:          class,
		Zones:          from.zones,
		ShiftedZones:   from.shifted,
		Stock:          b.src.Stock(),
		PlacementGroup: from.group,
		Prices:         from.book,
		Learned:        from.learned,
	}, b.opts.Catalog)
	if err != nil {
		return nil, denied(class.Name, err)
	}
	// Cloned, because it is kept for longer than the call.
	from.class = class.DeepCopy()
	e.made, e.from, e.expires = made, from, b.expiry(now, class)
	return made, nil
}

func denied(name string, err error) error {
	return &cloudprovider.Error{Op: "InstanceTypes", Object: "EC2NodeClass " + name, Kind: cloudprovider.KindDenied, Err: err}
}

// expiry returns when a catalog that is made now must be made again.
func (b *Builder) expiry(now time.Time, class *awsv1.EC2NodeClass) time.Time {
	expires := now.Add(b.opts.MaxAge)
	if next, found := NextReservationChange(now, class.Status.CapacityReservations); found && next.Before(expires) {
		return next
	}
	return expires
}

// entry returns the cache entry of a class. A class that was deleted and made again gets a new one.
func (b *Builder) entry(class *awsv1.EC2NodeClass) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.opts.Now()
	key := class.Name + "/" + string(class.UID)
	e := b.classes[key]
	if e == nil {
		maps.DeleteFunc(b.classes, func(_ string, old *entry) bool { return now.Sub(old.used) >= idle })
		e = &entry{}
		b.classes[key] = e
	}
	e.used = now
	return e
}

// Observe records the memory that one registered node reported; see Learned.Observe. Later catalogs
// use it.
func (b *Builder) Observe(ctx context.Context, o Observation) (Verdict, error) {
	inventory, _, err := b.src.Inventory(ctx)
	if err != nil {
		return "", err
	}
	stated, _ := inventory.MemoryMiB(o.InstanceType)
	b.mu.Lock()
	defer b.mu.Unlock()
	next, verdict := b.learned.Observe(o, stated)
	b.learned = next
	if verdict == VerdictNew || verdict == VerdictLower {
		b.lessons++
	}
	return verdict, nil
}

// Learned returns what nodes have reported, to be kept over a restart.
func (b *Builder) Learned() Learned {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.learned
}

// Restore replaces what nodes have reported, as after a restart.
func (b *Builder) Restore(l Learned) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learned = l
	b.lessons++
}
