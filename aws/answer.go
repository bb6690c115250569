package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/dovetail-sdk/dovetail/aws/internal/fleet"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// answer notes what EC2 has launched and what it refused. It returns why some
// launches got nothing.
func (c *call) answer(ctx context.Context, out *ec2.CreateFleetOutput, results map[*launch]outcome) error {
	launched, failures := fleet.Read(out, c.zones)
	if err := c.locate(ctx, launched); err != nil {
		c.doubt = true // the same call gives the same instances once more
		return c.fail(results, err)
	}
	missed := len(launched) < len(c.items)
	var verdict fleet.Verdict
	if missed || len(failures) > 0 {
		verdict = fleet.Judge(&c.plan.spec, failures, c.spare)
		c.early(verdict.Err)
		c.refused(verdict, missed)
	}
	used := map[string]int64{}
	for i, at := range launched {
		if i >= len(c.items) {
			c.surplus(ctx, at)
			continue
		}
		l := c.items[i]
		instance := c.instance(l, at)
		c.p.ledger.launched(l.req.Token, instance, at.ID)
		c.p.availability(c.plan.group).Launched(instance.OfferingKey())
		if instance.ReservationID != "" {
			c.p.sources.ReservationLaunched(instance.ReservationID)
		}
		used[at.SubnetID] += max(c.plan.addresses[at.Zone], 1)
		results[l] = outcome{Result: instance}
	}
	c.claim.Settle(used)
	c.settle(true)
	if !missed {
		return nil
	}
	if verdict.LostTemplates {
		c.forgetTemplates()
	}
	for _, l := range c.items[min(len(launched), len(c.items)):] {
		results[l] = outcome{Err: named(verdict.Err, l)}
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
func (c *call) locate(ctx context.Context, launched []fleet.Launched) error {
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
func (c *call) refused(v fleet.Verdict, missed bool) {
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
		p.warn(WarnRefused, c.items[0].req.Name, "%v", v.Err)
	}
}

// instance is what was launched for a request.
func (c *call) instance(l *launch, at fleet.Launched) *cloudprovider.Instance {
	key := cloudprovider.OfferingKey{InstanceType: at.InstanceType, Zone: at.Zone, CapacityType: c.plan.spec.CapacityType}
	for _, g := range c.plan.spec.Groups {
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
		ID: "aws:///" + at.Zone + "/" + at.ID, Name: l.req.Name, NodePool: l.req.NodePool,
		Type: key.InstanceType, Zone: key.Zone, CapacityType: key.CapacityType, ReservationID: key.ReservationID,
		ImageID: at.ImageID, CreatedAt: c.p.now(),
	}
	o, found := l.option(key)
	if found {
		describe(i, o)
	}
	c.p.label(i, c.plan.class.Name, c.plan.tenancy, c.plan.group, c.plan.partition)
	return i
}

// surplus gives an instance back that EC2 launched beyond what was asked for.
func (c *call) surplus(ctx context.Context, at fleet.Launched) {
	err := c.p.instances.Terminate(context.WithoutCancel(ctx), at.ID)
	if err != nil {
		c.p.warn(WarnSurplus, at.ID, "EC2 launched more instances than were asked for, and this one could not be terminated: %v", err)
		return
	}
	c.p.warn(WarnSurplus, at.ID, "EC2 launched more instances than were asked for; this one is terminated")
}

// mismatch is the case that EC2 says that the token of the call was used for
// another one: a process before this one has launched something for these requests,
// or has tried to. What EC2 lists decides. As it may list what was launched only
// after a while, nothing else is launched before that while is over.
func (c *call) mismatch(ctx context.Context, results map[*launch]outcome) error {
	p := c.p
	c.claim.Settle(nil)
	p.ledger.stale()
	_, err := p.ledger.hydrate(ctx, p.instances)
	c.settle(false)
	if err != nil {
		return c.fail(results, err)
	}
	var missed error
	for _, l := range c.items {
		if k, _ := p.ledger.of(l.req.Token, ""); k != nil {
			instance, err := p.repeated(ctx, &l.req, k)
			results[l] = outcome{Result: instance, Err: err}
			continue
		}
		wait := settle
		p.ledger.try(l.req.Token, func(a *attempt) {
			now := p.now()
			if a.mismatch.IsZero() {
				a.mismatch = now
			}
			if wait = settle - now.Sub(a.mismatch); wait <= 0 {
				a.number, a.mismatch = l.number+1, time.Time{}
			}
		})
		missed = &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindUnknown, Reason: "IdempotentParameterMismatch",
			RetryAfter: max(wait, 0),
			Err:        errors.New("an earlier launch with this token asked for something else, and EC2 does not list an instance of it yet; repeat with the same token")}
		results[l] = outcome{Err: named(missed, l)}
	}
	return missed
}
