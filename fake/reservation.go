package fake

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Reservation is capacity that is set aside for us. Several instance types and
// zones may share one, and each machine takes one place of it.
//
// A reserved offering of the catalog makes a reservation by itself, whose
// capacity is the smallest that the catalog says of its ID. The catalog that
// InstanceTypes returns shows how many places are left. A full reservation stays
// Available; one that has ended is not.
type Reservation struct {
	// ID is the reservation ID. Required.
	ID string
	// Capacity is how many machines it holds. Zero or more. It replaces what
	// the catalog says.
	Capacity int
	// InstanceTypes are the types, by name, that get an offering for each of
	// Zones, which is Available and priced as Price says. Empty adds none,
	// for a reservation that the catalog has.
	InstanceTypes []string
	// Zones are the zones of these offerings. Empty is every zone in which the
	// type is offered.
	Zones []string
	// Price is the price of these offerings, in USD per hour. Zero means a ten
	// millionth of the cheapest other offering of that type in that zone: it is
	// paid for already.
	Price float64
	// Expires is when it ends. Zero is never.
	Expires time.Time
	// Warning is what becomes of the machines in it then. Zero lets them run
	// on. Above zero they get a notice of kind InterruptionReservation so
	// long before the end, from when on it takes no more machines either,
	// and go down at the end.
	Warning time.Duration
}

// reservation is what the cloud knows of a reservation.
type reservation struct {
	id             string
	capacity, used int
	ended          bool
	types          []int // places in Cloud.types of those that have offerings of it
}

// left is how many places are free.
func (r *reservation) left() int {
	if r.ended {
		return 0
	}
	return max(r.capacity-r.used, 0)
}

// reservedPriceShare is what part of the usual price reserved capacity costs, so
// that it sorts first.
const reservedPriceShare = 10_000_000

// reserve adds the offerings that Options.Reservations ask for to the types,
// which it may change.
func (c *Cloud) reserve() (errs []error) {
	seen := map[string]bool{}
	for i := range c.opts.Reservations {
		r := &c.opts.Reservations[i]
		where := fmt.Sprintf("Reservations[%d]", i)
		if r.ID == "" {
			errs = append(errs, fmt.Errorf("%s.ID: empty; name the reservation", where))
			continue
		}
		where += " (" + r.ID + ")"
		switch {
		case seen[r.ID]:
			errs = append(errs, fmt.Errorf("%s: there is another one of that ID; list each once", where))
		case r.Capacity < 0:
			errs = append(errs, fmt.Errorf("%s: Capacity: %d; use zero or more", where, r.Capacity))
		case r.Warning < 0:
			errs = append(errs, fmt.Errorf("%s: Warning: %v; use zero or more", where, r.Warning))
		case !(r.Price >= 0) || math.IsInf(r.Price, 0):
			errs = append(errs, fmt.Errorf("%s: Price: %v; use a price in USD per hour, or zero for a tiny one", where, r.Price))
		}
		seen[r.ID] = true
		for _, name := range r.InstanceTypes {
			if err := c.addReserved(r, name); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", where, err))
			}
		}
	}
	return errs
}

// addReserved gives one instance type its offerings of a reservation.
func (c *Cloud) addReserved(r *Reservation, name string) error {
	i, found := c.index[name]
	if !found {
		return wrong("InstanceTypes", "the catalog has no %q; name types of it", name)
	}
	t := c.types[i]
	zones := r.Zones
	if len(zones) == 0 {
		for n := range t.Offerings {
			zones = append(zones, t.Offerings[n].Zone)
		}
		slices.Sort(zones)
		zones = slices.Compact(zones)
	}
	var errs []error
	for _, zone := range zones {
		o := cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeReserved, ReservationID: r.ID,
			Price: r.Price, Available: true, ReservationCapacity: r.Capacity}
		o.ID = o.Key(name).String()
		cheapest := math.Inf(1)
		for n := range t.Offerings {
			if other := &t.Offerings[n]; other.Zone == zone {
				cheapest = min(cheapest, other.Price)
				o.Requirements, o.Capacity, o.Overhead = other.Requirements, other.Capacity, other.Overhead
			}
		}
		if _, twice := t.Offering(o.Key(name)); twice || math.IsInf(cheapest, 0) {
			errs = append(errs, wrong("Zones", "%s has no offering in %q, or has this one already; name zones of the type, each once", name, zone))
			continue
		}
		if o.Price == 0 {
			o.Price = max(cheapest/reservedPriceShare, math.SmallestNonzeroFloat64)
		}
		t.Offerings = append(t.Offerings, o)
	}
	slices.SortFunc(t.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(name).Compare(b.Key(name)) })
	if bought, known := t.Requirements.Get(v1.CapacityTypeLabelKey); known {
		if values, finite := bought.Values(); finite {
			wider := requirements.In(v1.CapacityTypeLabelKey, append(slices.Clone(values), v1.CapacityTypeReserved)...)
			t.Requirements = t.Requirements.Without(v1.CapacityTypeLabelKey).With(wider)
		}
	}
	return errors.Join(errs...)
}

// openReservations makes the reservations of all reserved offerings, and
// arranges their ends.
func (c *Cloud) openReservations() (errs []error) {
	c.reservations = map[string]*reservation{}
	c.each(cloudprovider.Scope{CapacityType: v1.CapacityTypeReserved}, func(s *shelf) {
		r := c.reservations[s.key.ReservationID]
		if r == nil {
			r = &reservation{id: s.key.ReservationID, capacity: s.offering.ReservationCapacity}
			c.reservations[r.id] = r
		}
		r.capacity = min(r.capacity, s.offering.ReservationCapacity)
		if !slices.Contains(r.types, s.typ) {
			r.types = append(r.types, s.typ)
		}
		s.reservation = r
	})
	for i := range c.opts.Reservations {
		of := &c.opts.Reservations[i]
		r := c.reservations[of.ID]
		if r == nil {
			if of.ID != "" && len(of.InstanceTypes) == 0 {
				errs = append(errs, wrong(fmt.Sprintf("Reservations[%d] (%s)", i, of.ID), "the catalog has no offering of it; list InstanceTypes"))
			}
			continue
		}
		r.capacity = of.Capacity
		if !of.Expires.IsZero() {
			c.after(max(of.Expires.Sub(c.now), 0)-of.Warning, func() { c.endReservation(r, of.Warning) })
		}
	}
	for _, r := range c.reservations {
		c.outdate(r)
	}
	return errs
}

// endReservation ends a reservation, and that of the machines in it after the
// warning, if there is one.
func (c *Cloud) endReservation(r *reservation, warning time.Duration) {
	r.ended = true
	c.outdate(r)
	c.record(EventChanged, "reservation "+r.id, "ended")
	if warning <= 0 {
		return
	}
	for _, m := range c.hit(Target{Scope: cloudprovider.Scope{ReservationID: r.id}}, nil) {
		c.announce(m, cloudprovider.InterruptionReservation, warning, "the reservation ends")
	}
}

// outdate has the types that a reservation is offered in shown anew.
func (c *Cloud) outdate(r *reservation) {
	for _, i := range r.types {
		c.stale[i] = true
	}
}

// SetReservation returns the action that changes how many machines a
// reservation holds. Those that run in it run on, even if they are more. One
// that has ended comes back.
func SetReservation(id string, capacity int) Action {
	return Action{
		text: fmt.Sprintf("set reservation %s to %d", id, capacity),
		check: func(c *Cloud) error {
			if capacity < 0 {
				return fmt.Errorf("capacity: %d; use zero or more", capacity)
			}
			if c.reservations[id] == nil {
				return fmt.Errorf("there is no reservation %q; add it to Options.Reservations", id)
			}
			return nil
		},
		do: func(c *Cloud) {
			r := c.reservations[id]
			r.capacity, r.ended = capacity, false
			c.outdate(r)
			c.record(EventChanged, "reservation "+id, "capacity is %d", capacity)
		},
	}
}

// EndReservation returns the action that ends a reservation: it takes no more
// machines. With a warning above zero those in it get a notice of kind
// InterruptionReservation, and go down once it is over; else they run on.
func EndReservation(id string, warning time.Duration) Action {
	return Action{
		text: "end reservation " + id,
		check: func(c *Cloud) error {
			if c.reservations[id] == nil {
				return fmt.Errorf("there is no reservation %q; add it to Options.Reservations", id)
			}
			return notNegative("warning", warning)(c)
		},
		do: func(c *Cloud) { c.endReservation(c.reservations[id], warning) },
	}
}
