package source

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/catalog"
	"github.com/dovetail-sdk/dovetail/aws/internal/prices"
)

// Sources are the questions to AWS and what was answered. Create it with New.
type Sources struct {
	clients api.Clients
	opts    Options

	inventory *Cell[inventory]
	cluster   *Cell[Cluster]
	shifts    *Cell[[]shift]
	onDemand  *Cell[struct{}]
	spot      *Cell[struct{}]
	file      *Cell[string]

	subnets    *Keyed[[]Subnet]
	groups     *Keyed[[]SecurityGroup]
	reserved   *Keyed[[]ec2types.CapacityReservation]
	placements *Keyed[*ec2types.PlacementGroup]
	static     *Keyed[string]
	mutable    *Keyed[string]
	images     *Keyed[[]amiselect.Image]

	mu      sync.Mutex // for what is below
	prices  *prices.Prices
	stock   catalog.Stock
	zones   map[string]string // id by name
	account string            // as learned from images
}

// New returns Sources that have asked nothing yet. The error lists every fault of
// the options, and a missing EC2 client.
func New(clients api.Clients, opts Options) (*Sources, error) {
	faults := []error{opts.validate()}
	if clients.EC2 == nil {
		faults = append(faults, errors.New("clients.EC2: nil; give a client of EC2, such as ec2.NewFromConfig returns"))
	}
	opts = opts.withDefaults()
	known, err := prices.New(opts.Prices)
	if opts.Region != "" { // that it is missing has been said
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	s := &Sources{clients: clients, opts: opts, prices: known, zones: map[string]string{}}
	s.inventory = NewCell(cell[inventory](s, "instance types", opts.InventoryRefresh))
	s.cluster = NewCell(cell[Cluster](s, "cluster "+opts.ClusterName, clusterRefresh))
	shifts := cell[[]shift](s, "zonal shifts", shiftRefresh)
	shifts.Spare = true
	s.shifts = NewCell(shifts)
	s.onDemand = NewCell(priceCell[struct{}](s, prices.SourceOnDemand, opts.Prices.OnDemandRefresh))
	s.spot = NewCell(priceCell[struct{}](s, prices.SourceSpot, opts.Prices.SpotRefresh))
	s.file = NewCell(priceCell[string](s, prices.SourceFile, fileRefresh))
	s.subnets = NewKeyed(cell[[]Subnet](s, "subnets", opts.SubnetRefresh))
	s.groups = NewKeyed(cell[[]SecurityGroup](s, "security groups", opts.SecurityGroupRefresh))
	s.reserved = NewKeyed(cell[[]ec2types.CapacityReservation](s, "capacity reservations", lookupRefresh))
	s.placements = NewKeyed(cell[*ec2types.PlacementGroup](s, "placement group", lookupRefresh))
	s.images = NewKeyed(cell[[]amiselect.Image](s, "images", opts.ImageRefresh))
	s.mutable = NewKeyed(cell[string](s, "parameter", opts.ParameterRefresh))
	static := cell[string](s, "parameter", staticParameterRefresh)
	static.RefreshOf = func(value string) time.Duration {
		if value == "" { // the release may yet be published
			return opts.ParameterRefresh
		}
		return staticParameterRefresh
	}
	s.static = NewKeyed(static)
	return s, nil
}

func cell[T any](s *Sources, name string, refresh time.Duration) Settings[T] {
	return Settings[T]{Name: name, Now: s.opts.Now, Refresh: refresh}
}

// priceCell waits after failures as package prices says.
func priceCell[T any](s *Sources, source prices.Source, refresh time.Duration) Settings[T] {
	set := cell[T](s, string(source), refresh)
	set.Spare = true
	set.Pause = func(failures int, _ error) time.Duration {
		wait := time.Minute
		for i := 1; i < failures && wait < refresh; i++ {
			wait *= 2
		}
		return min(wait, refresh)
	}
	return set
}

// Zones returns the zones that are known from subnets, by name and id, sorted by
// name. The slice is the caller's.
func (s *Sources) Zones() []catalog.Zone {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []catalog.Zone
	for _, name := range slices.Sorted(maps.Keys(s.zones)) {
		out = append(out, catalog.Zone{Name: name, ID: s.zones[name]})
	}
	return out
}

// ReservationLaunched tells that an instance was launched into a reservation now,
// so that there is one less of it until EC2 says how many there are.
func (s *Sources) ReservationLaunched(id string) { s.move(catalog.Stock.Launched, id) }

// ReservationTerminated tells that an instance of a reservation is gone now.
func (s *Sources) ReservationTerminated(id string) { s.move(catalog.Stock.Terminated, id) }

// ReservationFull tells that EC2 has just refused a launch into a reservation.
func (s *Sources) ReservationFull(id string) { s.move(catalog.Stock.Full, id) }

func (s *Sources) move(do func(catalog.Stock, time.Time, string) catalog.Stock, id string) {
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stock = do(s.stock, now, id)
}

// Stock returns how many more instances the reservations hold that were read by
// Reservations.
func (s *Sources) Stock() catalog.Stock {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stock
}

// ForgetSubnets has the subnets read again by who asks next, as after EC2 said that
// one of them has no free address left.
func (s *Sources) ForgetSubnets() { s.subnets.Drop() }

// Health returns how each question is that was ever asked, sorted by name. The
// price file is among them if there is one.
func (s *Sources) Health() []Health {
	all := []Health{s.inventory.Health(), s.cluster.Health(), s.shifts.Health(), s.onDemand.Health(), s.spot.Health(), s.file.Health()}
	for _, more := range [][]Health{s.subnets.Health(), s.groups.Health(), s.reserved.Health(), s.placements.Health(),
		s.images.Health(), s.static.Health(), s.mutable.Health()} {
		all = append(all, more...)
	}
	all = slices.DeleteFunc(all, func(h Health) bool { return h.Next.IsZero() })
	slices.SortStableFunc(all, func(a, b Health) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
