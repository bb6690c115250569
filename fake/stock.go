package fake

import (
	"fmt"
	"math"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Unlimited is the number of machines in stock without end.
const Unlimited = -1

// Stock says how many machines of each offering the cloud has. The catalog does
// not show it: that an offering is dry is learned from Create, as in real
// clouds. A machine that its owner deletes goes back on the shelf once it is
// gone.
type Stock struct {
	// Scope is the offerings it is about: each has Count of its own. The zero
	// Scope is all of them.
	Scope cloudprovider.Scope
	// Count is how many there are at the start, or Unlimited.
	Count int
	// Every adds one machine so often. Zero is never.
	Every time.Duration
	// Most is where Every stops. Zero means Count.
	Most int
}

func (s *Stock) check(where string) (errs []error) {
	if s.Count < Unlimited {
		errs = append(errs, fmt.Errorf("%s.Count: %d; use zero or more, or Unlimited", where, s.Count))
	}
	if s.Every < 0 {
		errs = append(errs, fmt.Errorf("%s.Every: %v; use zero or more", where, s.Every))
	}
	if s.Most < 0 {
		errs = append(errs, fmt.Errorf("%s.Most: %d; use zero or more", where, s.Most))
	}
	return errs
}

// supplyAll applies Options.Stock: of several that cover an offering, the last
// one counts.
func (c *Cloud) supplyAll() (errs []error) {
	for i := range c.opts.Stock {
		supply := &c.opts.Stock[i]
		where := fmt.Sprintf("Stock[%d]", i)
		errs = append(errs, supply.check(where)...)
		covered := false
		c.each(supply.Scope, func(s *shelf) {
			covered = true
			s.limited, s.free, s.supply = supply.Count != Unlimited, max(supply.Count, 0), supply
		})
		if !covered {
			errs = append(errs, fmt.Errorf("%s.Scope: no offering is in %s; see the catalog for those there are", where, supply.Scope))
		}
	}
	return errs
}

// fill adds what was delivered since it last looked, which it does in one step
// however long that was ago.
func (c *Cloud) fill(s *shelf) {
	if s.supply == nil || s.supply.Every <= 0 {
		return
	}
	most := s.supply.Most
	if most == 0 {
		most = s.supply.Count
	}
	delivered := c.now.Sub(s.filled) / s.supply.Every
	s.filled = s.filled.Add(delivered * s.supply.Every)
	if room := most - s.free; room > 0 {
		s.free += int(min(delivered, time.Duration(room)))
	}
}

// Free returns how many more machines an offering can launch now, by its stock
// and its reservation, and Unlimited if there is no end. That it is not for sale
// does not matter; see SetAvailable. An offering that the cloud does not have is
// an error of KindDenied.
func (c *Cloud) Free(key cloudprovider.OfferingKey) (int, error) {
	c.enter()
	defer c.mu.Unlock()
	s, err := c.shelf("Free", key)
	if err != nil {
		return 0, err
	}
	if !s.limited && s.reservation == nil {
		return Unlimited, nil
	}
	return c.left(s), nil
}

// SetStock returns the action that sets what is in stock of each offering in a
// scope to n, or makes it Unlimited. What Options.Stock says of deliveries holds
// on.
func SetStock(scope cloudprovider.Scope, n int) Action {
	return stockAction(fmt.Sprintf("set stock of %s to %s", scope, count(n)), scope, n >= Unlimited, func(c *Cloud, s *shelf) {
		s.limited, s.free, s.filled = n != Unlimited, max(n, 0), c.now
	})
}

// Refill returns the action that puts n more machines of each offering in a
// scope into stock. Offerings without end stay so.
func Refill(scope cloudprovider.Scope, n int) Action {
	return stockAction(fmt.Sprintf("refill %s by %d", scope, n), scope, n >= 0, func(c *Cloud, s *shelf) {
		if s.limited {
			c.fill(s)
			s.free += n
		}
	})
}

func count(n int) string {
	if n == Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

func stockAction(text string, scope cloudprovider.Scope, valid bool, do func(*Cloud, *shelf)) Action {
	return Action{
		text: text,
		check: func(c *Cloud) error {
			covered := false
			c.each(scope, func(*shelf) { covered = true })
			switch {
			case !valid:
				return fmt.Errorf("%s: the number is below zero", text)
			case !covered:
				return fmt.Errorf("%s: no offering is in that scope; see the catalog for those there are", text)
			}
			return nil
		},
		do: func(c *Cloud) {
			c.record(EventChanged, "stock", "%s", text)
			c.each(scope, func(s *shelf) { do(c, s) })
		},
	}
}

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
