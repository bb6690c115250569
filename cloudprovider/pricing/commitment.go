package pricing

import (
	"maps"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Commitment is capacity that is paid for whether it is used or not, at a lower
// price, wherever it is used within its terms. Exactly one of Hourly and
// Instances says how much it is.
type Commitment struct {
	// Name says what it is, in texts. Required.
	Name string

	// Covers says what it is good for, by the labels of instance type and
	// offering: "karpenter.k8s.aws/instance-family = m5". A label that both
	// have must have a value in common with it; a label that the machine does
	// not have counts as absent. Unless it names karpenter.sh/capacity-type,
	// it covers machines on demand only.
	Covers requirements.Set

	// Hourly is the amount in USD per hour, counted at the lower price, as of
	// a savings plan.
	Hourly float64
	// Instances is the number of machines, as of a reserved instance that is
	// no reservation of capacity.
	Instances int

	// Discount is the part of the price, before fees, that is saved: 0.28 for
	// 28% off. From 0 up to, but not including, 1.
	Discount float64
	// Rates are lower prices in USD per hour, by instance type. They come
	// before Discount.
	Rates map[string]float64

	// From and Until are when it holds: from the one on and before the other.
	// Zero is no bound.
	From, Until time.Time
}

func (c *Commitment) validate(f *faults, where string) {
	if c.Hourly != 0 {
		if fault := priceFault(c.Hourly); fault != "" {
			f.add("%s: hourly: %s", where, fault)
		}
	}
	if c.Instances < 0 {
		f.add("%s: instances: %d; use a number above zero", where, c.Instances)
	}
	if (c.Hourly != 0) == (c.Instances != 0) {
		f.add("%s: hourly: %v, instances: %d; set exactly one of them", where, c.Hourly, c.Instances)
	}
	if !(c.Discount >= 0 && c.Discount < 1) {
		f.add("%s: discount: %v; use a part from 0 up to 1, such as 0.28", where, c.Discount)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Rates)) {
		if fault := priceFault(c.Rates[name]); fault != "" {
			f.add("%s: rates: %s: %s", where, name, fault)
		}
	}
	if c.Covers.Impossible() {
		f.add("%s: covers: %s contradicts itself; nothing is covered", where, c.Covers)
	}
	if !c.Until.IsZero() && !c.From.Before(c.Until) {
		f.add("%s: until: not after from; swap them", where)
	}
}

func (c Commitment) clone() Commitment {
	c.Rates = maps.Clone(c.Rates)
	return c
}

// active reports whether the commitment holds at the instant.
func (c *Commitment) active(now time.Time) bool {
	return !now.Before(c.From) && (c.Until.IsZero() || now.Before(c.Until))
}

// covers reports whether a machine is within the terms.
func (c *Commitment) covers(o cloudprovider.LaunchOption) bool {
	if _, named := c.Covers.Get(v1.CapacityTypeLabelKey); !named && o.Offering.CapacityType != v1.CapacityTypeOnDemand {
		return false
	}
	labels := o.Requirements()
	for r := range c.Covers.All() {
		have, found := labels.Get(r.Key())
		if !found && !r.AllowsAbsent() || found && !have.Overlaps(r) {
			return false
		}
	}
	return true
}

// rate is the lower price of an instance type whose price is base.
func (c *Commitment) rate(name string, base float64) float64 {
	if rate, set := c.Rates[name]; set {
		return rate
	}
	return positive(base * (1 - c.Discount))
}

// amount is how much there is of the commitment, in its own unit.
func (c *Commitment) amount() float64 {
	if c.Instances > 0 {
		return float64(c.Instances)
	}
	return c.Hourly
}

// perInstance is how much of it one instance takes that costs rate.
func (c *Commitment) perInstance(rate float64) float64 {
	if c.Instances > 0 {
		return 1
	}
	return rate
}
