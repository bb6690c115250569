package nodeclass

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Sources asks AWS and keeps the answers. Create it with NewSources.
type Sources struct {
	clients api.Clients
	opts    Options
	asking  *cache.Asking

	inventory *cache.Cell[*instancetype.Inventory]
	cluster   *cache.Cell[Cluster]
	shifts    *cache.Cell[[]shift]
	onDemand  *cache.Cell[struct{}]
	spot      *cache.Cell[struct{}]
	file      *cache.Cell[string]

	subnets    *cache.Keyed[[]Subnet]
	groups     *cache.Keyed[[]SecurityGroup]
	reserved   *cache.Keyed[[]ec2types.CapacityReservation]
	placements *cache.Keyed[*ec2types.PlacementGroup]
	static     *cache.Keyed[string]
	mutable    *cache.Keyed[string]
	images     *cache.Keyed[[]amiselect.Image]

	mu      sync.Mutex // guards the fields below
	prices  *pricing.Prices
	stock   instancetype.Stock
	zones   map[string]string // id by name
	account string            // learned from images
}

// NewSources returns Sources that have asked nothing yet. The error says that the name of the
// region is malformed.
func NewSources(clients api.Clients, opts Options) (*Sources, error) {
	known, err := pricing.New(opts.Region)
	if err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	s := &Sources{clients: clients, opts: opts, asking: opts.Asking, prices: known, zones: map[string]string{}}
	if s.asking == nil {
		s.asking = cache.NewAsking()
	}
	s.inventory = cache.NewCell(cell[*instancetype.Inventory](s, "instance types", inventoryRefresh))
	s.cluster = cache.NewCell(cell[Cluster](s, "cluster "+opts.ClusterName, clusterRefresh))
	shifts := cell[[]shift](s, "zonal shifts", shiftRefresh)
	shifts.Spare, shifts.Patience = true, patience
	s.shifts = cache.NewCell(shifts)
	s.onDemand = cache.NewCell(priceCell[struct{}](s, pricing.SourceOnDemand, onDemandRefresh))
	s.spot = cache.NewCell(priceCell[struct{}](s, pricing.SourceSpot, spotRefresh))
	file := priceCell[string](s, pricing.SourceFile, fileRefresh)
	file.Patience = patience
	s.file = cache.NewCell(file)
	s.subnets = cache.NewKeyed(cell[[]Subnet](s, "subnets", cmp.Or(opts.SubnetRefresh, lookupRefresh)))
	s.groups = cache.NewKeyed(cell[[]SecurityGroup](s, "security groups", cmp.Or(opts.SecurityGroupRefresh, lookupRefresh)))
	s.reserved = cache.NewKeyed(cell[[]ec2types.CapacityReservation](s, "capacity reservations", lookupRefresh))
	s.placements = cache.NewKeyed(cell[*ec2types.PlacementGroup](s, "placement group", lookupRefresh))
	s.images = cache.NewKeyed(cell[[]amiselect.Image](s, "images", cmp.Or(opts.ImageRefresh, lookupRefresh)))
	s.mutable = cache.NewKeyed(cell[string](s, "parameter", parameterRefresh))
	static := cell[string](s, "parameter", staticParameterRefresh)
	static.RefreshOf = func(value string) time.Duration {
		if value == "" { // the release may be published later
			return parameterRefresh
		}
		return staticParameterRefresh
	}
	s.static = cache.NewKeyed(static)
	return s, nil
}

func cell[T any](s *Sources, name string, refresh time.Duration) cache.Settings[T] {
	return cache.Settings[T]{Name: name, Now: s.opts.Now, Refresh: refresh, Asking: s.asking}
}

// priceCell returns the settings for reading a source of prices. After a failure the pause before
// the next attempt is the one that package pricing documents.
func priceCell[T any](s *Sources, source pricing.Source, refresh time.Duration) cache.Settings[T] {
	set := cell[T](s, string(source), refresh)
	set.Spare, set.Bound = true, priceBound
	set.Pause = func(failures int, _ error) time.Duration {
		wait := time.Minute
		for i := 1; i < failures && wait < refresh; i++ {
			wait *= 2
		}
		return min(wait, refresh)
	}
	return set
}

// Zones returns the zones that are known from subnets, with name and id, sorted by name. The caller
// owns the slice.
func (s *Sources) Zones() []instancetype.Zone {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []instancetype.Zone
	for _, name := range slices.Sorted(maps.Keys(s.zones)) {
		out = append(out, instancetype.Zone{Name: name, ID: s.zones[name]})
	}
	return out
}

// ReservationLaunched records that an instance was launched into a reservation now, which has one
// free instance less until it is read again.
func (s *Sources) ReservationLaunched(id string) { s.move(instancetype.Stock.Launched, id) }

// ReservationTerminated records that an instance of a reservation is gone now.
func (s *Sources) ReservationTerminated(id string) { s.move(instancetype.Stock.Terminated, id) }

// ReservationFull records that EC2 has just refused a launch into a reservation.
func (s *Sources) ReservationFull(id string) { s.move(instancetype.Stock.Full, id) }

func (s *Sources) move(do func(instancetype.Stock, time.Time, string) instancetype.Stock, id string) {
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stock = do(s.stock, now, id)
}

// Stock returns the free instances of the reservations that Reservations has read.
func (s *Sources) Stock() instancetype.Stock {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stock
}

// Refresh asks again, concurrently, every due question whose answer was used, and returns when all
// have an answer. The error is that of ctx, or joins the failures.
func (s *Sources) Refresh(ctx context.Context) error {
	waits := []func() error{s.inventory.Renew(ctx), s.cluster.Renew(ctx), s.shifts.Renew(ctx), s.onDemand.Renew(ctx), s.spot.Renew(ctx), s.file.Renew(ctx)}
	for _, more := range [][]func() error{s.subnets.Renew(ctx), s.groups.Renew(ctx), s.reserved.Renew(ctx), s.placements.Renew(ctx),
		s.images.Renew(ctx), s.static.Renew(ctx), s.mutable.Renew(ctx)} {
		waits = append(waits, more...)
	}
	var faults []error
	for _, wait := range waits {
		faults = append(faults, wait())
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(faults...)
}

// Close ends all questions, as Asking.Close does. Known answers are still returned, and nothing is
// asked any more.
func (s *Sources) Close(ctx context.Context) error { return s.asking.Close(ctx) }

// ForgetSubnets makes the next call of Subnets read them again. Call it when EC2 says that a subnet
// has no free address.
func (s *Sources) ForgetSubnets() { s.subnets.Drop() }

// Health returns the state of each question that was asked, sorted by name, including the price
// file if there is one.
func (s *Sources) Health() []cache.Health {
	all := []cache.Health{s.inventory.Health(), s.cluster.Health(), s.shifts.Health(), s.onDemand.Health(), s.spot.Health(), s.file.Health()}
	for _, more := range [][]cache.Health{s.subnets.Health(), s.groups.Health(), s.reserved.Health(), s.placements.Health(),
		s.images.Health(), s.static.Health(), s.mutable.Health()} {
		all = append(all, more...)
	}
	all = slices.DeleteFunc(all, func(h cache.Health) bool { return h.Next.IsZero() })
	slices.SortStableFunc(all, func(a, b cache.Health) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// lookup is one describing call for selector terms: it returns everything that passes all filters.
type lookup struct {
	filters []ec2types.Filter
}

// key identifies a lookup, and is its name in messages.
func (l lookup) key() string {
	var parts []string
	for _, f := range l.filters {
		var values []string
		for _, v := range f.Values {
			values = append(values, strconv.Quote(v))
		}
		parts = append(parts, strconv.Quote(*f.Name)+"="+strings.Join(values, ","))
	}
	return strings.Join(parts, " ")
}

// distinct returns the lookups in the order of their keys, each once.
func distinct(all []lookup) []lookup {
	slices.SortStableFunc(all, func(a, b lookup) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(all, func(a, b lookup) bool { return a.key() == b.key() })
}

// anyValue is the value of a tag that only has to exist.
const anyValue = "*"

// tagFilters returns the filters for tags, in the order of their keys.
func tagFilters(tags map[string]string) []ec2types.Filter {
	var out []ec2types.Filter
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if value := tags[key]; value == anyValue {
			out = append(out, filter("tag-key", key))
		} else {
			out = append(out, filter("tag:"+key, value))
		}
	}
	return out
}

func filter(name string, values ...string) ec2types.Filter {
	return ec2types.Filter{Name: &name, Values: values}
}

// oneOf returns a filter for any of several values, without duplicates.
func oneOf(name string, values []string) ec2types.Filter {
	slices.Sort(values)
	return filter(name, slices.Compact(values)...)
}

// emptyTerm returns the fault of a term that would select everything.
func emptyTerm(field string, index int, want string) error {
	return &cloudprovider.Error{Op: "Read", Object: fmt.Sprintf("%s[%d]", field, index), Kind: cloudprovider.KindDenied,
		Err: fmt.Errorf("selects everything in the region; give it %s", want)}
}

// worst merges the readings of several answers to one question: the oldest, and
// the first failure.
func worst(a, b cache.Reading) cache.Reading {
	out := a
	if a.At.IsZero() || !b.At.IsZero() && b.At.Before(a.At) {
		out.At = b.At
	}
	if !out.Stale {
		out.Stale, out.Err = b.Stale, b.Err
	}
	return out
}

// The largest page sizes of EC2.
const (
	typesPerPage     = 100
	offeringsPerPage = 1000
)

// Inventory returns the instance types of the region and the zones that have them: those with
// hardware virtualization and x86_64 or arm64 processors. It is the same pointer until its content
// changes, so that it can be compared with ==.
func (s *Sources) Inventory(ctx context.Context) (*instancetype.Inventory, cache.Reading, error) {
	return s.inventory.Get(ctx, s.readInventory)
}

func (s *Sources) readInventory(ctx context.Context) (*instancetype.Inventory, error) {
	types, err := s.describeTypes(ctx)
	if err != nil {
		return nil, api.Wrap("DescribeInstanceTypes", s.opts.Region, err)
	}
	offerings, err := s.describeOfferings(ctx)
	if err != nil {
		return nil, api.Wrap("DescribeInstanceTypeOfferings", s.opts.Region, err)
	}
	read, _ := instancetype.NewInventory(types, offerings)
	// Every region has instance types: with an empty answer all nodes would have unknown types.
	if read.Len() == 0 || len(read.Zones()) == 0 {
		return nil, errors.New("EC2 lists no instance type in any zone; check the region of the client")
	}
	if last := s.inventory.Answer(); last != nil && last.Equal(read) {
		read = last
	}
	return read, nil
}

func (s *Sources) describeTypes(ctx context.Context) (out []ec2types.InstanceTypeInfo, err error) {
	pages := ec2.NewDescribeInstanceTypesPaginator(s.clients.EC2, &ec2.DescribeInstanceTypesInput{Filters: []ec2types.Filter{
		filter("processor-info.supported-architecture", "x86_64", "arm64"),
		filter("supported-virtualization-type", "hvm"),
	}}, func(o *ec2.DescribeInstanceTypesPaginatorOptions) { o.Limit = typesPerPage })
	err = api.Pages(ctx, pages, func(page *ec2.DescribeInstanceTypesOutput) { out = append(out, page.InstanceTypes...) })
	return out, err
}

func (s *Sources) describeOfferings(ctx context.Context) (out []ec2types.InstanceTypeOffering, err error) {
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(s.clients.EC2,
		&ec2.DescribeInstanceTypeOfferingsInput{LocationType: ec2types.LocationTypeAvailabilityZone},
		func(o *ec2.DescribeInstanceTypeOfferingsPaginatorOptions) { o.Limit = offeringsPerPage })
	err = api.Pages(ctx, pages, func(page *ec2.DescribeInstanceTypeOfferingsOutput) {
		out = append(out, page.InstanceTypeOfferings...)
	})
	return out, err
}
