package fake

import (
	"math"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// Spot is the market for spot capacity. With the zero value prices are constant and nothing is
// taken back.
type Spot struct {
	// Every is the time between changes of prices. Zero means never; otherwise at least a second.
	Every time.Duration
	// Swing is the largest difference of a price from that of the catalog, as a share of it: with
	// 0.25 it stays within a quarter. From 0 to 0.9. A price never rises above that of on-demand
	// capacity of the same type and zone.
	//
	// The price of an offering at an instant depends on Seed, type and zone, and at the start is
	// that of the catalog.
	Swing float64

	// Lifetime is how long a spot instance runs on average before it is interrupted, at a random
	// moment. Zero means forever; otherwise at least a second. Interrupted machines go to other
	// customers and do not return to stock.
	Lifetime time.Duration
	// Warning is how long before the end of the machine the notice of kind InterruptionSpot is
	// issued. Default 2 minutes; negative means when the machine goes down.
	Warning time.Duration
}

func (s *Spot) check() (errs []error) {
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"Every", s.Every}, {"Lifetime", s.Lifetime}} {
		if f.d != 0 && f.d < time.Second {
			errs = append(errs, fault.Wrong("Spot."+f.name, "%v; use at least a second, or zero for never", f.d))
		}
	}
	if !(s.Swing >= 0 && s.Swing <= 0.9) {
		errs = append(errs, fault.Wrong("Spot.Swing", "%v; use a share from 0 to 0.9", s.Swing))
	}
	return errs
}

// exposeToSpot schedules the interruption of a spot machine.
func (c *Cloud) exposeToSpot(m *machine) {
	spot := &c.opts.Spot
	if spot.Lifetime == 0 || m.instance.CapacityType != v1.CapacityTypeSpot {
		return
	}
	c.after(newDice(c.opts.Seed, "spot", m.instance.ID).exponential(spot.Lifetime), func() {
		if m.lives() {
			c.give(m, cloudprovider.InterruptionSpot, max(spot.Warning, 0), "spot capacity is taken back")
		}
	})
}

// tick counts the changes of spot prices since the start.
func (c *Cloud) tick() int64 {
	if spot := &c.opts.Spot; spot.Every > 0 && spot.Swing > 0 {
		return int64(c.now.Sub(c.start) / spot.Every)
	}
	return 0
}

// price returns the current price of an offering, in USD per hour. A spot price is that of the
// catalog at the start, and later within Swing around it. It is a sum of three waves with random
// heights and straight lines between them, so that the price of any tick can be computed without
// the earlier ones.
func (c *Cloud) price(s *shelf) float64 {
	tick, base := c.tick(), toNanos(s.offering.Price)
	if !s.spot || tick == 0 || base > maxWalking {
		return s.offering.Price
	}
	moved := wave(s.walk, tick, 4)/4 + wave(s.walk+1, tick, 16)/4 + wave(s.walk+2, tick, 64)/2
	// 1e-6 of the price, times 1e-6 of a unit of swing.
	change := base * (int64(c.opts.Spot.Swing*million) * moved / million) / million
	if change == 0 {
		return s.offering.Price // exactly
	}
	const step = nanos / million
	price := base + change
	if base > step {
		price = max((price+step/2)/step*step, step)
	}
	return float64(min(max(price, 1), s.ceiling)) / nanos
}

const (
	million    = 1_000_000
	nanos      = 1_000_000_000 // a dollar
	maxWalking = 1000 * nanos  // above 1,000 USD per hour prices are constant, to avoid overflow
)

// toNanos returns a price in 1e-9 USD per hour, up to a million USD.
func toNanos(price float64) int64 { return int64(min(math.Round(price*nanos), million*nanos)) }

// wave returns a height between -1e6 and 1e6. Every period ticks it is random, the first time 0,
// and linear in between.
func wave(seed uint64, tick, period int64) int64 {
	height := func(n int64) int64 {
		if n == 0 {
			return 0
		}
		return int64(chance.New(seed, 0).At(uint64(n))%(2*million+1)) - million
	}
	from, to := height(tick/period), height(tick/period+1)
	return from + (to-from)*(tick%period)/period
}
