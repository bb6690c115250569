package fake

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// notice is an interruption that was not acknowledged.
type notice struct {
	cloudprovider.Interruption
	hidden time.Time // not handed out again before
}

// Interruptions returns the notices that were not acknowledged, sorted as the
// contract asks, and none if there are none: it does not wait. What it returned
// it leaves out for Options.Redelivery.
func (c *Cloud) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	return answer(c, ctx, call{op: OpInterruptions}, func(*orders) ([]cloudprovider.Interruption, error) {
		var out []cloudprovider.Interruption
		for i := range c.notices {
			n := &c.notices[i]
			if n.hidden.After(c.now) {
				continue
			}
			n.hidden = c.now.Add(c.opts.Redelivery)
			out = append(out, n.Interruption)
		}
		return out, nil
	})
}

// Acknowledge drops the notices with these IDs. IDs that are not known are no error.
func (c *Cloud) Acknowledge(ctx context.Context, ids ...string) error {
	in := call{op: OpAcknowledge, object: strings.Join(ids, " ")}
	_, err := answer(c, ctx, in, func(o *orders) (struct{}, error) {
		dealtWith := ids
		if o.partly != nil {
			dealtWith = ids[:len(ids)/2]
		}
		drop := make(map[string]bool, len(dealtWith))
		for _, id := range dealtWith {
			drop[id] = true
		}
		c.notices = slices.DeleteFunc(c.notices, func(n notice) bool { return drop[n.ID] })
		if o.partly != nil {
			return struct{}{}, in.failure(o.partly)
		}
		return struct{}{}, nil
	})
	return err
}

// notify issues a notice about a machine.
func (c *Cloud) notify(m *machine, kind cloudprovider.InterruptionKind, deadline time.Time, detail string) {
	c.noticed++
	n := notice{Interruption: cloudprovider.Interruption{
		ID: fmt.Sprintf("notice-%d", c.noticed), InstanceID: m.instance.ID,
		Kind: kind, Detail: detail, At: c.now, Deadline: deadline,
	}}
	i, _ := slices.BinarySearchFunc(c.notices, n.Interruption, func(have notice, n cloudprovider.Interruption) int { return have.Compare(n) })
	c.notices = slices.Insert(c.notices, i, n)
	text := string(kind)
	if !deadline.IsZero() {
		text += fmt.Sprintf(" in %v", deadline.Sub(c.now))
	}
	c.recordOf(m, EventNoticed, "%s", text)
}

// announce issues a notice and takes the machine away once the warning is over.
func (c *Cloud) announce(m *machine, kind cloudprovider.InterruptionKind, warning time.Duration, detail string) {
	c.notify(m, kind, c.now.Add(warning), detail)
	c.stats.Interrupted++
	c.step(m, warning, func() { c.takeDown(m, detail, true) })
}
