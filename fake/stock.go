package fake

import (
	"fmt"
	"math"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// Unlimited is the Count of unlimited stock.
const Unlimited = -1

// Stock is the number of machines of each offering. The catalog does not show it: as in real
// clouds, only Create reports that an offering is out of stock. A deleted machine is in stock again
// once it is gone; one that the cloud took away is not.
type Stock struct {
	// Scope covers the offerings: each has its own Count. The zero Scope covers all.
	Scope cloudprovider.Scope
	// Count is how many machines there are, or Unlimited.
	Count int
	// Withdrawn ends the sale of the offerings: they stay in the catalog but are not Available.
	// Machines keep running.
	Withdrawn bool
}

func (s *Stock) check(c *Cloud) (errs []error) {
	if s.Count < Unlimited {
		errs = append(errs, fault.Wrong("Stock.Count", "%d; use zero or more, or Unlimited", s.Count))
	}
	covered := false
	c.each(s.Scope, func(*shelf) { covered = true })
	if !covered {
		errs = append(errs, fault.Wrong("Stock.Scope", "no offering is in %s; InstanceTypes has the offerings", s.Scope))
	}
	return errs
}

// supply applies a stock to the offerings in its scope.
func (c *Cloud) supply(stock *Stock) {
	c.each(stock.Scope, func(s *shelf) {
		s.limited, s.free = stock.Count != Unlimited, max(stock.Count, 0)
		if now := s.offering.Available && !stock.Withdrawn; now != s.available {
			s.available, c.stale[s.typ] = now, true
		}
	})
}

// Reservation is reserved capacity. The offerings of the catalog with its ID share it, and each
// machine takes one place. At the start its capacity is the smallest ReservationCapacity in the
// catalog for the ID. InstanceTypes shows the free places. A full reservation stays Available.
type Reservation struct {
	// ID is the reservation ID. Required.
	ID string
	// Capacity is the number of its places. Zero or more.
	Capacity int
}

func (r *Reservation) check(c *Cloud) (errs []error) {
	if c.reservations[r.ID] == nil {
		errs = append(errs, fault.Wrong("Reservation.ID", "there is no reservation %q; use one of an offering of the catalog", r.ID))
	}
	if r.Capacity < 0 {
		errs = append(errs, fault.Wrong("Reservation.Capacity", "%d; use zero or more", r.Capacity))
	}
	return errs
}

// reservation is a Reservation and its used places.
type reservation struct {
	capacity, used int
	types          []int // indices in Cloud.types of the types with offerings of it
}

// left returns the number of free places.
func (r *reservation) left() int { return max(r.capacity-r.used, 0) }

// outdate marks the types with offerings of a reservation as changed.
func (c *Cloud) outdate(r *reservation) {
	for _, i := range r.types {
		c.stale[i] = true
	}
}

// Free returns how many more machines an offering can launch now, by its stock and its reservation,
// or Unlimited. It ignores whether the offering is withdrawn. For an unknown offering the error is
// KindDenied.
func (c *Cloud) Free(key cloudprovider.OfferingKey) (int, error) {
	c.enter()
	defer c.mu.Unlock()
	s, found := c.shelves[key]
	switch {
	case !found:
		return 0, failure("Free", key.String(), cloudprovider.KindDenied, "there is no such offering; InstanceTypes has the offerings")
	case !s.limited && s.reservation == nil:
		return Unlimited, nil
	}
	return s.left(), nil
}

// shelf is the state of an offering: whether it is on sale, its stock, and its price.
type shelf struct {
	key       cloudprovider.OfferingKey
	typ       int // index of the instance type in Cloud.types
	offering  *cloudprovider.Offering
	available bool

	limited     bool         // false for unlimited stock
	free        int          // machines in stock, if limited
	reservation *reservation // nil if it is not reserved

	spot    bool
	walk    uint64 // seed of the walk of the spot price
	ceiling int64  // the highest spot price, in 1e-9 USD an hour
}

// stockUp makes the shelves and reservations of all offerings.
func (c *Cloud) stockUp() {
	c.shown = append(c.shown, c.types...)
	c.stale = make([]bool, len(c.types))
	for i, t := range c.types {
		onDemand := map[string]float64{}
		for n := range t.Offerings {
			if o := &t.Offerings[n]; o.CapacityType == v1.CapacityTypeOnDemand {
				onDemand[o.Zone] = o.Price
			}
		}
		for n := range t.Offerings {
			o := &t.Offerings[n]
			s := &shelf{key: o.Key(t.Name), typ: i, offering: o, available: o.Available}
			switch o.CapacityType {
			case v1.CapacityTypeSpot:
				s.spot, s.walk, s.ceiling = true, newDice(c.opts.Seed, "price", t.Name, o.Zone).Next(), math.MaxInt64
				if price, sold := onDemand[o.Zone]; sold {
					s.ceiling = max(toNanos(price), toNanos(o.Price))
				}
			case v1.CapacityTypeReserved:
				s.reservation = c.reserve(o, i)
			}
			c.shelves[s.key] = s
		}
	}
	for _, r := range c.reservations {
		c.outdate(r)
	}
}

// reserve returns the reservation of an offering of one type.
func (c *Cloud) reserve(o *cloudprovider.Offering, typ int) *reservation {
	r := c.reservations[o.ReservationID]
	if r == nil {
		r = &reservation{capacity: o.ReservationCapacity}
		c.reservations[o.ReservationID] = r
	}
	r.capacity = min(r.capacity, o.ReservationCapacity)
	if !slices.Contains(r.types, typ) {
		r.types = append(r.types, typ)
	}
	return r
}

// supplyAll applies Options.Stock.
func (c *Cloud) supplyAll() (errs []error) {
	for i := range c.opts.Stock {
		for _, err := range c.opts.Stock[i].check(c) {
			errs = append(errs, fault.Wrong(fmt.Sprintf("Stock[%d]", i), "%w", err))
		}
		c.supply(&c.opts.Stock[i])
	}
	return errs
}

// each visits the shelves that a scope covers, in the order of their keys.
func (c *Cloud) each(scope cloudprovider.Scope, visit func(*shelf)) {
	for _, t := range c.types {
		if scope.InstanceType != "" && scope.InstanceType != t.Name {
			continue
		}
		for n := range t.Offerings {
			if key := t.Offerings[n].Key(t.Name); scope.Covers(key) {
				visit(c.shelves[key])
			}
		}
	}
}

// left returns how many machines can be launched now, or MaxInt for unlimited stock.
func (s *shelf) left() int {
	n := math.MaxInt
	if s.limited {
		n = s.free
	}
	if s.reservation != nil {
		n = min(n, s.reservation.left())
	}
	return n
}

// take removes one machine from stock, which must not be empty.
func (c *Cloud) take(s *shelf) {
	if s.limited {
		s.free--
	}
	if s.reservation != nil {
		s.reservation.used++
		c.outdate(s.reservation)
	}
}

// giveBack returns a machine that is gone to stock, unless the cloud took it away.
func (c *Cloud) giveBack(m *machine) {
	s := m.shelf
	if s.limited && !m.taken {
		s.free++
	}
	if s.reservation != nil {
		s.reservation.used--
		c.outdate(s.reservation)
	}
}
