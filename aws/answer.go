package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// answer notes what EC2 has launched and what it refused. It returns why some
// launches got nothing.
func (c *call) answer(ctx context.Context, out *ec2.CreateFleetOutput, results outcomes) error {
	launched, failures := launch.ReadAnswer(out, c.zones)
	if err := c.locate(ctx, launched); err != nil {
		c.doubt = true // the same call gives the same instances once more
		return c.fail(results, err)
	}
	missed := len(launched) < len(c.Orders)
	var verdict launch.Verdict
	if missed || len(failures) > 0 {
		verdict = launch.Judge(&c.spec, failures, c.spare)
		c.early(verdict.Err)
		c.refused(verdict, missed)
	}
	used, known := map[string]int64{}, launch.Answer{Used: true}
	for i, at := range launched {
		if i >= len(c.Orders) {
			c.surplus(ctx, at)
			continue
		}
		instance := c.instance(c.Orders[i].Request, at)
		known.IDs, known.Instances = append(known.IDs, at.ID), append(known.Instances, instance)
		c.p.availability(c.plan.group).Launched(instance.OfferingKey())
		if instance.ReservationID != "" {
			c.p.sources.ReservationLaunched(instance.ReservationID)
		}
		used[at.SubnetID] += max(c.plan.addresses[at.Zone], 1)
		results[c.Orders[i]] = outcome{Result: instance}
	}
	c.claim.Settle(used)
	c.p.book.End(c.Call, known)
	if !missed {
		return nil
	}
	if verdict.LostTemplates {
		c.forgetTemplates()
	}
	for _, o := range c.Orders[min(len(launched), len(c.Orders)):] {
		results[o] = outcome{Err: named(verdict.Err, o)}
	}
	return verdict.Err
}

// spare reports whether there is another subnet in a zone than the one that turned
// out to be full: then the next launch goes there, and its offerings are not refused.
func (c *call) spare(zone, subnet string) bool {
	return c.p.addresses.Spare(zone, subnet, subnetsOf(c.plan.subnets))
}

// locate fills in what the answer does not say of instances, but whoever asks for
// them later must know: their zone is a part of their ID. EC2 is asked for it.
func (c *call) locate(ctx context.Context, launched []launch.Launched) error {
	for i := range launched {
		at := &launched[i]
		if at.Zone != "" && at.InstanceType != "" {
			continue
		}
		r, err := c.p.instances.Get(ctx, at.ID)
		if err == nil && r.Zone == "" {
			err = errors.New("EC2 does not say in which zone it is")
		}
		if err != nil {
			// Not wrapped: that it is not found yet is not what became of the launch.
			return fault("Create", "", cloudprovider.KindUnknown, "EC2 launched %s and did not say where: %v; repeat with the same token", at.ID, err)
		}
		at.InstanceType, at.Zone, at.SubnetID, at.ImageID = r.Type, r.Zone, r.SubnetID, r.ImageID
	}
	return nil
}

// early makes the error that EC2 does not know an instance profile one that passes,
// if the profile is our own: EC2 gets to know those some seconds after they were made,
// and one that somebody has deleted is made again.
func (c *call) early(e *cloudprovider.Error) {
	if c.plan.class.Spec.Role == "" || e.Kind != cloudprovider.KindDenied || !noProfile(e) {
		return
	}
	if c.p.profiles != nil {
		c.p.profiles.Forget(c.plan.class.Status.InstanceProfile)
	}
	e.Kind, e.RetryAfter = cloudprovider.KindNotReady, profileLag
	e.Err = fmt.Errorf("the instance profile was made a moment ago, and EC2 does not know it yet; repeat (%w)", e.Err)
}

// profileLag is how long EC2 may take to know an instance profile.
const profileLag = 5 * time.Second

// noProfile reports whether EC2 says that there is no such instance profile.
func noProfile(err error) bool {
	return strings.Contains(err.Error(), "Invalid IAM Instance Profile name")
}

// refused marks what EC2 refused, so that it is left alone for a while.
func (c *call) refused(v launch.Verdict, missed bool) {
	p := c.p
	marks := p.availability(c.plan.group).MarkFromError(v.Err)
	for _, id := range v.FullSubnets {
		p.addresses.Full(p.now(), id)
	}
	if len(v.FullSubnets) > 0 {
		p.sources.ForgetSubnets()
	}
	for _, id := range v.FullReservations {
		p.sources.ReservationFull(id)
	}
	if !missed && len(marks) > 0 {
		p.warn(WarnRefused, c.Orders[0].Request.Name, "%v", v.Err)
	}
}

// instance is what was launched for a request.
func (c *call) instance(req *cloudprovider.LaunchRequest, at launch.Launched) *cloudprovider.Instance {
	key := cloudprovider.OfferingKey{InstanceType: at.InstanceType, Zone: at.Zone, CapacityType: c.spec.CapacityType}
	for _, g := range c.spec.Groups {
		if at.Template != "" && g.Template != at.Template {
			continue
		}
		for _, o := range g.Options {
			if o.InstanceType.Name == at.InstanceType && o.Offering.Zone == at.Zone {
				key.ReservationID = o.Offering.ReservationID
			}
		}
	}
	i := &cloudprovider.Instance{
		ID: "aws:///" + at.Zone + "/" + at.ID, Name: req.Name, NodePool: req.NodePool,
		Type: key.InstanceType, Zone: key.Zone, CapacityType: key.CapacityType, ReservationID: key.ReservationID,
		ImageID: at.ImageID, CreatedAt: c.p.now(),
	}
	o, found := optionFor(req, key)
	if found {
		describe(i, o)
	}
	c.p.label(i, c.plan.class.Name, c.plan.tenancy, c.plan.group, c.plan.partition)
	return i
}

// surplus gives an instance back that EC2 launched beyond what was asked for.
func (c *call) surplus(ctx context.Context, at launch.Launched) {
	err := c.p.instances.Terminate(context.WithoutCancel(ctx), at.ID)
	if err != nil {
		c.p.warn(WarnSurplus, at.ID, "EC2 launched more instances than were asked for, and this one could not be terminated: %v", err)
		return
	}
	c.p.warn(WarnSurplus, at.ID, "EC2 launched more instances than were asked for; this one is terminated")
}

// mismatch is the case that EC2 says that the token of the call was used for
// another one; see launch.Book.Refuted.
func (c *call) mismatch(ctx context.Context, results outcomes) error {
	c.claim.Settle(nil)
	found, wait, err := c.p.book.Refuted(ctx, c.Call)
	if err != nil {
		return c.fail(results, err)
	}
	var missed error
	for _, o := range c.Orders {
		if k := found[o]; k != nil {
			instance, err := c.p.launched(ctx, o.Request, k)
			results[o] = outcome{Result: instance, Err: err}
			continue
		}
		missed = &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindUnknown, Reason: "IdempotentParameterMismatch",
			RetryAfter: wait[o],
			Err:        errors.New("an earlier launch with this token asked for something else, and EC2 does not list an instance of it yet; repeat with the same token")}
		results[o] = outcome{Err: named(missed, o)}
	}
	return missed
}
