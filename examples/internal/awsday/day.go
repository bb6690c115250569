// Package awsday plays a day in a simulated AWS: a plan is carried out although an offering has
// just sold out, a spot machine is interrupted, a class changes, and everything is deleted.
package awsday

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Day is a sequence of events in the simulated AWS.
type Day struct {
	Provider *aws.Provider
	Cloud    *awstest.Server
	Classes  map[string]*awsv1.EC2NodeClass // by name; one of them is changed
	Out      io.Writer

	started time.Time
	running []*cloudprovider.Instance
}

// note prints an event with the time of the cloud's clock.
func (d *Day) note(format string, args ...any) {
	for _, line := range command.Timed(d.Cloud.Now().Sub(d.started), 7, fmt.Sprintf(format, args...)) {
		fmt.Fprintln(d.Out, line)
	}
}

// Spend plays the day of a plan.
func (d *Day) Spend(ctx context.Context, plan *provisioning.Plan) error {
	d.started = d.Cloud.Now()
	for _, step := range []func(context.Context, *provisioning.Plan) error{d.carryOut, d.interrupt, d.drift, d.clear} {
		if err := step(ctx, plan); err != nil {
			return err
		}
	}
	return nil
}

// carryOut launches the plan although the first choice of one node has just sold out and the very
// first call is refused.
func (d *Day) carryOut(ctx context.Context, plan *provisioning.Plan) (err error) {
	if key, found := expendable(plan); found {
		d.Cloud.SetStock(key.Scope(), 0)
		d.note("%s is sold out, which nobody knows yet", key)
	} else {
		d.note("nothing is sold out, as a node of the plan has no second choice")
	}
	if err := d.Cloud.Script(awstest.Fault{Op: "CreateFleet", Nth: 1, Err: awstest.ErrThrottled}); err != nil {
		return err
	}
	for i := range plan.Create {
		n := &plan.Create[i]
		req := n.Request(fmt.Sprintf("uid-%04d", i+1)) // as of its NodeClaim; names begin anew with each plan
		req.Name = n.Name
		instance, err := d.Provider.Create(ctx, req)
		if err != nil {
			return err
		}
		d.note("launched %s: %s, %s, %.4f USD/h", n.Name, path.Base(instance.ID), instance.OfferingKey(), instance.Price)
		d.running = append(d.running, instance)
	}
	again := plan.Create[0].Request("uid-0001")
	instance, err := d.Provider.Create(ctx, again)
	if err != nil {
		return err
	}
	d.note("asked again with %s: %s, the same", again.Token, path.Base(instance.ID))
	for _, mark := range d.Provider.Availability().Marks() {
		d.note("%s", mark)
	}
	d.note("EC2 was called %s to launch %s", command.Count(d.Cloud.Count("CreateFleet"), "time"), command.Count(len(d.running), "machine"))
	return nil
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

// interrupt makes AWS interrupt a spot machine, if there is one.
func (d *Day) interrupt(ctx context.Context, _ *provisioning.Plan) error {
	d.Cloud.Advance(10 * time.Minute)
	at := slices.IndexFunc(d.running, func(i *cloudprovider.Instance) bool { return i.CapacityType == v1.CapacityTypeSpot })
	if at < 0 {
		return nil
	}
	taken := d.running[at]
	if _, err := d.Cloud.Interrupt(path.Base(taken.ID)); err != nil {
		return err
	}
	notices, err := cloudprovider.Interruptions(ctx, d.Provider)
	if err != nil {
		return err
	}
	for _, n := range notices {
		d.note("notice: %s of %s", n.Kind, path.Base(n.InstanceID))
	}
	if err := cloudprovider.Acknowledge(ctx, d.Provider, notices...); err != nil {
		return err
	}
	d.note("acknowledged; the queue has %s", command.Count(d.Cloud.Queued(), "message"))
	d.Cloud.Advance(3 * time.Minute)
	_, err = d.Provider.Get(ctx, taken.ID)
	if !errors.Is(err, cloudprovider.ErrNotFound) {
		return fmt.Errorf("want it gone, got %v", err)
	}
	d.note("%v", err)
	d.running = slices.Delete(d.running, at, at+1)
	return nil
}

// drift changes the class of a machine.
func (d *Day) drift(ctx context.Context, plan *provisioning.Plan) error {
	if len(d.running) == 0 {
		return nil
	}
	of := plan.Create[slices.IndexFunc(plan.Create, func(n provisioning.NewNode) bool { return n.Name == d.running[0].Name })]
	ref := of.Pool.Spec.Template.Spec.NodeClassRef
	hashes, err := d.Provider.ClaimAnnotations(ctx, ref.Name)
	if err != nil {
		return err
	}
	class := d.Classes[ref.Name].DeepCopy()
	class.Spec.Tags = maps.Clone(class.Spec.Tags)
	if class.Spec.Tags == nil {
		class.Spec.Tags = map[string]string{}
	}
	class.Spec.Tags["team"] += "shop"
	class.Generation++
	d.Classes[ref.Name] = class
	claim := &v1.NodeClaim{}
	claim.Name, claim.Annotations = d.running[0].Name, hashes
	claim.Labels = map[string]string{v1.NodePoolLabelKey: of.Pool.Name}
	claim.Spec.NodeClassRef = ref
	claim.Status.ProviderID, claim.Status.ImageID = d.running[0].ID, d.running[0].ImageID
	drift, err := cloudprovider.IsDrifted(ctx, d.Provider, claim)
	if err != nil {
		return err
	}
	d.note("EC2NodeClass %s has another tag: %s of %s", ref.Name, drift.Reason, path.Base(claim.Status.ProviderID))
	return nil
}

// clear deletes everything, and waits until it is gone.
func (d *Day) clear(ctx context.Context, _ *provisioning.Plan) error {
	for _, i := range d.running {
		if err := d.Provider.Delete(ctx, i.ID); err != nil {
			return err
		}
	}
	d.note("deleted %s; %s still there", command.Count(len(d.running), "machine"), d.left(ctx))
	d.Cloud.Advance(time.Minute)
	d.note("%s still there", d.left(ctx))
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
