package fake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// Action is an event of the cloud that no call asked for. Exactly one of the fields from Notice on
// is set. A value may be reused.
type Action struct {
	// Target chooses the machines of Notice, Break and Mend. The zero Target is all.
	Target Target

	// Notice is the kind of a notice about these machines.
	//
	//   - InterruptionSpot, InterruptionReservation (only for spot and reserved machines) and
	//     InterruptionMaintenance: the machines go down after Warning.
	//   - InterruptionStopping: they go down at once, as if another user had terminated them.
	//   - InterruptionRebalance (only for spot machines) and InterruptionUnhealthy: the machines
	//     keep running.
	Notice cloudprovider.InterruptionKind
	// Warning is the time from a Notice to the end of the machine. Zero or more.
	Warning time.Duration
	// Break is a fault of the nodes. Nodes that have not joined yet show it once they have.
	Break NodeFault
	// Mend removes all faults of the nodes.
	Mend bool
	// Stock replaces the stock of its Scope.
	Stock *Stock
	// Reservation replaces the reservation with its ID. Machines in it keep running, even if they
	// exceed its capacity.
	Reservation Reservation
	// Image is published, or replaces the image with its ID. Later launches boot the newest image;
	// machines that run another one have drifted, unless their node class lists it.
	Image Image
	// NodeClass is added, or replaces the one with its name. From then on only node classes that
	// were set exist.
	NodeClass NodeClass
}

// Target chooses machines for an action, among those that are not going down. The zero Target is
// all of them.
type Target struct {
	// Instances are the IDs of the machines. Empty is any.
	Instances []string
	// NodePool is the pool of the machines. Empty is any.
	NodePool string
	// Scope covers the offerings of the machines.
	Scope cloudprovider.Scope
	// Count is the largest number of machines. Zero means all. Options.Seed decides which,
	// independently of their launch times.
	Count int
}

// Do carries out the actions now, in their order. If any of them is invalid none is carried out,
// and the error lists all invalid ones. An action without a matching machine is no error.
func (c *Cloud) Do(actions ...Action) error { return c.arrange("Do", 0, actions) }

// After carries out the actions, in their order, once d has passed by the cloud's clock; at once if
// d is not above zero. The error is that of Do, and is returned at once.
func (c *Cloud) After(d time.Duration, actions ...Action) error {
	return c.arrange("After", d, actions)
}

func (c *Cloud) arrange(op string, d time.Duration, actions []Action) error {
	c.enter()
	defer c.mu.Unlock()
	var errs []error
	for i, a := range actions {
		for _, err := range a.check(c) {
			errs = append(errs, failure(op, "", cloudprovider.KindDenied, "action %d: %w", i, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, a := range actions {
		if a.Stock != nil {
			stock := *a.Stock // the caller's may change
			a.Stock = &stock
		}
		c.after(d, func() { c.happen(a) })
	}
	return nil
}

// noticeDetails has the kinds of notices that an action may issue.
var noticeDetails = map[cloudprovider.InterruptionKind]string{
	cloudprovider.InterruptionSpot:        "capacity is taken back",
	cloudprovider.InterruptionReservation: "capacity is taken back",
	cloudprovider.InterruptionMaintenance: "the machine is retired for maintenance",
	cloudprovider.InterruptionStopping:    "terminated by somebody else",
	cloudprovider.InterruptionRebalance:   "the risk of an interruption has grown",
	cloudprovider.InterruptionUnhealthy:   "the machine fails its checks",
}

// check returns the faults of an action.
func (a *Action) check(c *Cloud) (errs []error) {
	set := 0
	for _, is := range []bool{a.Notice != "", a.Break.Type != "", a.Mend, a.Stock != nil, a.Reservation.ID != "", a.Image.ID != "", a.NodeClass.Name != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		errs = append(errs, fmt.Errorf("%d things are to happen; set one of Notice, Break.Type, Mend, Stock, Reservation.ID, Image.ID and NodeClass.Name", set))
	}
	if a.Notice != "" && noticeDetails[a.Notice] == "" {
		errs = append(errs, fault.Wrong("Notice", "there is no kind %q; use one that package cloudprovider has", a.Notice))
	}
	if a.Warning < 0 {
		errs = append(errs, fault.Wrong("Warning", "%v; use zero or more", a.Warning))
	}
	if a.Break.Type != "" {
		errs = append(errs, a.Break.check()...)
	}
	if a.Stock != nil {
		errs = append(errs, a.Stock.check(c)...)
	}
	if a.Reservation.ID != "" {
		errs = append(errs, a.Reservation.check(c)...)
	}
	return errs
}

// happen carries out an action.
func (c *Cloud) happen(a Action) {
	switch {
	case a.Notice != "":
		bought := map[cloudprovider.InterruptionKind]string{cloudprovider.InterruptionSpot: v1.CapacityTypeSpot,
			cloudprovider.InterruptionRebalance: v1.CapacityTypeSpot, cloudprovider.InterruptionReservation: v1.CapacityTypeReserved}[a.Notice]
		for _, m := range c.hit(a.Target, func(m *machine) bool { return bought == "" || bought == m.instance.CapacityType }) {
			c.give(m, a.Notice, a.Warning, noticeDetails[a.Notice])
		}
	case a.Break.Type != "":
		for _, m := range c.hit(a.Target, nil) {
			c.breakDown(m, a.Break)
		}
	case a.Mend:
		for _, m := range c.hit(a.Target, nil) {
			c.mend(m, func(brokenPart) bool { return true })
		}
	case a.Stock != nil:
		n := strings.Replace(fmt.Sprint(a.Stock.Count), fmt.Sprint(Unlimited), "unlimited", 1)
		c.record(EventChanged, "stock", "set stock of %s to %s", a.Stock.Scope, n)
		c.supply(a.Stock)
	case a.Reservation.ID != "":
		r := c.reservations[a.Reservation.ID]
		r.capacity = a.Reservation.Capacity
		c.outdate(r)
		c.record(EventChanged, "reservation "+a.Reservation.ID, "capacity is %d", r.capacity)
	case a.Image.ID != "":
		c.publish(a.Image)
		c.record(EventChanged, "image "+a.Image.ID, "published")
	default:
		c.setNodeClass(a.NodeClass)
		c.record(EventChanged, "node class "+a.NodeClass.Name, "hash %q", a.NodeClass.Hash)
	}
}

// hit returns the machines of a target that also pass a test, sorted by ID.
func (c *Cloud) hit(t Target, test func(*machine) bool) []*machine {
	var out []*machine
	for _, m := range c.machines {
		switch {
		case !m.lives(), test != nil && !test(m),
			t.NodePool != "" && t.NodePool != m.instance.NodePool,
			!t.Scope.Covers(m.shelf.key),
			len(t.Instances) > 0 && !slices.Contains(t.Instances, m.instance.ID):
			continue
		}
		out = append(out, m)
	}
	if t.Count <= 0 || len(out) <= t.Count {
		return out
	}
	slices.SortStableFunc(out, func(a, b *machine) int {
		return cmp.Compare(newDice(c.opts.Seed, "target", a.instance.ID).Next(), newDice(c.opts.Seed, "target", b.instance.ID).Next())
	})
	out = out[:t.Count]
	slices.SortFunc(out, func(a, b *machine) int { return cmp.Compare(a.instance.ID, b.instance.ID) })
	return out
}

// notice is an interruption that was not acknowledged.
type notice struct {
	cloudprovider.Interruption
	hidden time.Time // not returned again before
}

// Interruptions returns the notices that were not acknowledged, in the order of the contract. It
// does not wait. A returned notice is left out for Options.Redelivery.
func (c *Cloud) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	return answer(c, ctx, call{op: OpInterruptions}, func(*orders) ([]cloudprovider.Interruption, error) {
		var out []cloudprovider.Interruption
		for i := range c.notices {
			if n := &c.notices[i]; !n.hidden.After(c.now) {
				n.hidden = c.now.Add(c.opts.Redelivery)
				out = append(out, n.Interruption)
			}
		}
		return out, nil
	})
}

// Acknowledge drops the notices with these IDs. IDs that are not known are no error.
func (c *Cloud) Acknowledge(ctx context.Context, ids ...string) error {
	return do(c, ctx, call{op: OpAcknowledge, object: strings.Join(ids, " ")}, func(*orders) error {
		c.notices = slices.DeleteFunc(c.notices, func(n notice) bool { return slices.Contains(ids, n.ID) })
		return nil
	})
}

// notify issues a notice about a machine. A zero deadline is none.
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

// give issues a notice, and takes the machine away if its kind requires that.
func (c *Cloud) give(m *machine, kind cloudprovider.InterruptionKind, warning time.Duration, detail string) {
	switch kind {
	case cloudprovider.InterruptionRebalance, cloudprovider.InterruptionUnhealthy:
		c.notify(m, kind, time.Time{}, detail)
	case cloudprovider.InterruptionStopping:
		c.notify(m, kind, time.Time{}, detail)
		c.takeDown(m, detail, false)
	default:
		c.notify(m, kind, c.now.Add(warning), detail)
		c.stats.Interrupted++
		c.step(m, warning, func() { c.takeDown(m, detail, true) })
	}
}
