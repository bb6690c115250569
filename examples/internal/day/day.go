// Package day plays a day with a provider and the cloud behind it: a plan is carried out although an
// offering has just sold out, a machine is interrupted, its class changes, and everything is deleted.
package day

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Cloud is a simulated cloud, with the events of the day.
type Cloud interface {
	Now() time.Time                        // what the cloud's clock shows
	Advance(d time.Duration)               // moves the clock on
	SellOut(key cloudprovider.OfferingKey) // takes the stock of an offering
	// Interrupt takes a spot machine back. Its notice comes at once, and the machine is gone after
	// three minutes.
	Interrupt(i *cloudprovider.Instance) error
	ChangeClass(name string) // changes a node class, so that its machines drift
}

// Day is a sequence of events.
type Day struct {
	Provider cloudprovider.CloudProvider
	Cloud    Cloud
	Marks    func() []availability.Mark // what the provider knows to be sold out
	// Annotations returns the annotations with which a NodeClaim of a class is created; nil for none.
	Annotations func(ctx context.Context, class string) (map[string]string, error)
	Out         io.Writer

	started time.Time
	claims  int // number of NodeClaims made so far
	running []*cloudprovider.Instance
}

// New returns a day that begins now.
func New(p cloudprovider.CloudProvider, c Cloud, marks func() []availability.Mark, out io.Writer) *Day {
	return &Day{Provider: p, Cloud: c, Marks: marks, Out: out, started: c.Now()}
}

// Note prints an event with the time since the beginning of the day.
func (d *Day) Note(format string, args ...any) {
	since := d.Cloud.Now().Sub(d.started)
	stamp := fmt.Sprintf("%02d:%02d", int(since.Minutes()), int(since.Seconds())%60)
	for _, line := range command.Wrap(fmt.Sprintf(format, args...), command.PageWidth-7, "  ") {
		fmt.Fprintf(d.Out, "%-7s%s\n", stamp, line)
		stamp = ""
	}
}

// Spend plays the day of a plan.
func (d *Day) Spend(ctx context.Context, plan *provisioning.Plan) error {
	for _, step := range []func(context.Context, *provisioning.Plan) error{d.launch, d.interrupt, d.drift, d.clear} {
		if err := step(ctx, plan); err != nil {
			return err
		}
	}
	return nil
}

// launch launches the plan although the first choice of one node has just sold out, and asks for
// one machine a second time.
func (d *Day) launch(ctx context.Context, plan *provisioning.Plan) error {
	key, found := expendable(plan)
	if found {
		d.Cloud.SellOut(key)
		d.Note("%s is sold out, which nobody knows yet", key)
	} else {
		d.Note("nothing is sold out, as a node of the plan has no second choice")
	}
	for i := range plan.Create {
		n := &plan.Create[i]
		req := d.Request(n)
		instance, err := d.Provider.Create(ctx, req)
		if err != nil {
			return err
		}
		d.Note("launched %s for %s: %s, %s, %.4f USD/h", n.Name, command.Count(len(n.Pods), "pod"), path.Base(instance.ID), instance.OfferingKey(), instance.Price)
		d.running = append(d.running, instance)
		if i > 0 {
			continue
		}
		again, err := d.Provider.Create(ctx, req)
		if err != nil {
			return err
		}
		d.Note("asked again with %s: %s, the same", req.Token, path.Base(again.ID))
	}
	if found && len(d.Marks()) == 0 {
		if err := d.shortage(ctx, plan, key); err != nil {
			return err
		}
	}
	for _, mark := range d.Marks() {
		d.Note("%s", mark)
	}
	return nil
}

// shortage asks for an offering that is sold out, and for no other: a cloud need not name what it
// passed over.
func (d *Day) shortage(ctx context.Context, plan *provisioning.Plan, key cloudprovider.OfferingKey) error {
	i := slices.IndexFunc(plan.Create, func(n provisioning.NewNode) bool { return n.Options[0].Key() == key })
	req := d.Request(&plan.Create[i])
	req.Options = req.Options[:1]
	_, err := d.Provider.Create(ctx, req)
	if !errors.Is(err, cloudprovider.ErrInsufficientCapacity) {
		return fmt.Errorf("want a shortage, got %v", err)
	}
	d.Note("%v", err)
	return nil
}

// Request returns the request for a node. Names begin anew with each plan; tokens do not, as they
// are the UIDs of NodeClaims.
func (d *Day) Request(n *provisioning.NewNode) cloudprovider.LaunchRequest {
	d.claims++
	req := n.Request(fmt.Sprintf("uid-%04d", d.claims))
	req.Name = n.Name
	return req
}

// expendable returns the first option of a node that is the first choice of some node and without
// which all nodes can still be launched.
func expendable(plan *provisioning.Plan) (key cloudprovider.OfferingKey, found bool) {
	for i := range plan.Create {
		key = plan.Create[i].Options[0].Key()
		needed := func(n provisioning.NewNode) bool {
			return !slices.ContainsFunc(n.Options, func(o cloudprovider.LaunchOption) bool { return o.Key() != key })
		}
		if !slices.ContainsFunc(plan.Create, needed) {
			return key, true
		}
	}
	return key, false
}

// interrupt interrupts a spot machine, if there is one.
func (d *Day) interrupt(ctx context.Context, _ *provisioning.Plan) error {
	d.Cloud.Advance(10 * time.Minute)
	at := slices.IndexFunc(d.running, func(i *cloudprovider.Instance) bool { return i.CapacityType == v1.CapacityTypeSpot })
	if at < 0 {
		return nil
	}
	taken := d.running[at]
	if err := d.Cloud.Interrupt(taken); err != nil {
		return err
	}
	notices, err := cloudprovider.Interruptions(ctx, d.Provider)
	if err != nil {
		return err
	}
	for _, n := range notices {
		d.Note("notice: %s of %s", n.Kind, path.Base(n.InstanceID))
	}
	if err := cloudprovider.Acknowledge(ctx, d.Provider, notices...); err != nil {
		return err
	}
	d.Cloud.Advance(2 * time.Minute) // it stops
	d.Cloud.Advance(time.Minute)     // and is gone
	if _, err = d.Provider.Get(ctx, taken.ID); !errors.Is(err, cloudprovider.ErrNotFound) {
		return fmt.Errorf("want it gone, got %v", err)
	}
	d.Note("%v", err)
	d.running = slices.Delete(d.running, at, at+1)
	return nil
}

// drift changes the class of a machine.
func (d *Day) drift(ctx context.Context, plan *provisioning.Plan) (err error) {
	if len(d.running) == 0 {
		return nil
	}
	machine := d.running[0]
	pool := plan.Create[slices.IndexFunc(plan.Create, func(n provisioning.NewNode) bool { return n.Name == machine.Name })].Pool
	claim := &v1.NodeClaim{}
	claim.Name, claim.Labels, claim.Spec.NodeClassRef = machine.Name, map[string]string{v1.NodePoolLabelKey: pool.Name}, pool.Spec.Template.Spec.NodeClassRef
	claim.Status.ProviderID, claim.Status.ImageID = machine.ID, machine.ImageID
	class := claim.Spec.NodeClassRef.Name
	if d.Annotations != nil {
		if claim.Annotations, err = d.Annotations(ctx, class); err != nil {
			return err
		}
	}
	d.Cloud.ChangeClass(class)
	drift, err := cloudprovider.IsDrifted(ctx, d.Provider, claim)
	if err != nil {
		return err
	}
	d.Note("class %s has changed: %s of %s: %s", class, drift.Reason, path.Base(machine.ID), drift.Detail)
	return nil
}

// clear deletes everything, and waits until it is gone.
func (d *Day) clear(ctx context.Context, _ *provisioning.Plan) error {
	for _, i := range d.running {
		if err := d.Provider.Delete(ctx, i.ID); err != nil {
			return err
		}
	}
	d.Note("deleted %s; %s still there", command.Count(len(d.running), "machine"), d.left(ctx))
	d.Cloud.Advance(time.Minute)
	d.Note("%s still there", d.left(ctx))
	return nil
}

// left describes how many machines the provider lists.
func (d *Day) left(ctx context.Context) string {
	list, err := d.Provider.List(ctx)
	if err != nil {
		return err.Error()
	}
	return command.Count(len(list), "machine") + map[bool]string{true: " is", false: " are"}[len(list) == 1]
}
