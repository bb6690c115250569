package fake

import (
	"math"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// shelf is an offering as the cloud knows it: whether it is for sale, how many
// there are, and at what price.
type shelf struct {
	key       cloudprovider.OfferingKey
	typ       int // place of the instance type in Cloud.types
	offering  *cloudprovider.Offering
	available bool

	limited bool // else there is no end to it
	free    int  // how many are left, if limited
	supply  *Stock
	filled  time.Time // when supply last added to it

	reservation *reservation // nil if it is not reserved

	spot    bool
	walk    uint64 // seed of the walk of the spot price
	ceiling int64  // the highest spot price, in 1e-9 USD an hour
}

// stockUp makes the shelves of all offerings.
func (c *Cloud) stockUp() {
	c.shelves = map[cloudprovider.OfferingKey]*shelf{}
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
			s := &shelf{key: o.Key(t.Name), typ: i, offering: o, available: o.Available, filled: c.now}
			if o.CapacityType == v1.CapacityTypeSpot {
				s.spot, s.walk, s.ceiling = true, newDice(c.opts.Seed, "price", t.Name, o.Zone).Next(), math.MaxInt64
				if price, sold := onDemand[o.Zone]; sold {
					s.ceiling = max(toNanos(price), toNanos(o.Price))
				}
			}
			c.shelves[s.key] = s
		}
	}
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

// sold reports whether the catalog says that the offering can be launched.
func (s *shelf) sold() bool {
	return s.available && (s.reservation == nil || s.reservation.left() > 0)
}

// left is how many can be launched now, MaxInt if there is no end.
func (c *Cloud) left(s *shelf) int {
	n := math.MaxInt
	if s.limited {
		c.fill(s)
		n = s.free
	}
	if s.reservation != nil {
		n = min(n, s.reservation.left())
	}
	return n
}

// take takes one machine off the shelf, of which there is one.
func (c *Cloud) take(s *shelf) {
	if s.limited {
		s.free--
	}
	if s.reservation != nil {
		s.reservation.used++
		c.outdate(s.reservation)
	}
}

// giveBack puts the place of a machine that is gone back on the shelf, unless
// the cloud took the machine to give it to somebody else.
func (c *Cloud) giveBack(m *machine) {
	s := m.shelf
	if s.limited && !m.taken {
		c.fill(s)
		s.free++
	}
	if s.reservation != nil {
		s.reservation.used--
		c.outdate(s.reservation)
	}
}
