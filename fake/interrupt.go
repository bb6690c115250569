package fake

import (
	"fmt"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Interrupt returns the action that takes spot and reserved machines back: a
// notice of kind InterruptionSpot or InterruptionReservation, and once the
// warning is over they go down. On-demand machines in the target stay, and do
// not count.
func Interrupt(t Target, warning time.Duration) Action {
	return Action{
		text:  fmt.Sprintf("interrupt with a warning of %v", warning),
		check: notNegative("warning", warning),
		do: func(c *Cloud) {
			for _, m := range c.hit(t, func(m *machine) bool { return interruption(m) != "" }) {
				c.announce(m, interruption(m), warning, "capacity is taken back")
			}
		},
	}
}

// interruption is the kind of the notice by which a machine is taken back, or
// empty if it cannot be.
func interruption(m *machine) cloudprovider.InterruptionKind {
	switch m.instance.CapacityType {
	case v1.CapacityTypeSpot:
		return cloudprovider.InterruptionSpot
	case v1.CapacityTypeReserved:
		return cloudprovider.InterruptionReservation
	}
	return ""
}

// Rebalance returns the action that issues notices of kind
// InterruptionRebalance to spot machines. Nothing else comes of it.
func Rebalance(t Target) Action {
	return Action{text: "recommend to rebalance", do: func(c *Cloud) {
		for _, m := range c.hit(t, func(m *machine) bool { return m.instance.CapacityType == v1.CapacityTypeSpot }) {
			c.notify(m, cloudprovider.InterruptionRebalance, time.Time{}, "the risk of an interruption has grown")
		}
	}}
}

// Maintain returns the action that issues notices of kind
// InterruptionMaintenance, and retires the machines once the time given is over.
func Maintain(t Target, in time.Duration) Action {
	return Action{
		text:  fmt.Sprintf("maintenance in %v", in),
		check: notNegative("in", in),
		do: func(c *Cloud) {
			for _, m := range c.hit(t, nil) {
				c.announce(m, cloudprovider.InterruptionMaintenance, in, "the machine is retired for maintenance")
			}
		},
	}
}

// Stop returns the action by which somebody else terminates machines: they go
// down at once, with a notice of kind InterruptionStopping.
func Stop(t Target) Action {
	return Action{text: "terminate from outside", do: func(c *Cloud) {
		for _, m := range c.hit(t, nil) {
			c.notify(m, cloudprovider.InterruptionStopping, time.Time{}, "terminated by somebody else")
			c.takeDown(m, "terminated by somebody else", false)
		}
	}}
}

func notNegative(name string, d time.Duration) func(*Cloud) error {
	return func(*Cloud) error {
		if d < 0 {
			return fmt.Errorf("%s: %v; use zero or more", name, d)
		}
		return nil
	}
}
