package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

type outcome = batcher.Outcome[*cloudprovider.Instance]

// order is a launch and its plan.
type order struct {
	*launch.Order
	plan *plan
}

// call is one call of CreateFleet, for some launches of one plan.
type call struct {
	*launch.Call
	p    *Provider
	plan *plan
	// spec and templates are those of the plan. A call for many launches has copies of the
	// templates that only this process uses.
	spec      launch.Spec
	templates []launchtemplate.Template
	// The fields below are used only by the goroutine that works on the call.
	input *ec2.CreateFleetInput
	zones map[string]string // by subnet
	claim *launch.Claim
	doubt bool // an earlier attempt may have launched something
}

type outcomes = map[*launch.Order]outcome

// launchBatch makes the launches whose plans have the same key. It is the backend of
// Provider.launches.
func (p *Provider) launchBatch(ctx context.Context, _ string, items []order) ([]outcome, error) {
	results := make(outcomes, len(items))
	calls := p.begin(items, results)
	// The first call that gives fewer instances than asked for ends the batch: the remaining calls
	// ask for the same and would be refused in the same way.
	var missed error
	for made := 0; made < len(calls); {
		now := calls[made:min(len(calls), made+wave(calls, made))]
		made += len(now)
		if missed == nil {
			missed = runAll(ctx, now, results)
			continue
		}
		for _, c := range now {
			c.abandon(results, missed)
		}
	}
	answers := make([]outcome, len(items))
	for i, l := range items {
		answers[i] = results[l.Order]
	}
	return answers, nil
}

// wave returns how many calls to make at the same time after the first made calls. Calls for a
// single launch are made in groups of launch.Alone. Of calls for many launches the first is made
// alone, because its answer shows whether the others can succeed.
func wave(calls []*call, made int) int {
	switch {
	case !slices.ContainsFunc(calls, func(c *call) bool { return c.Turn != "" }):
		return launch.Alone
	case made == 0:
		return 1
	}
	return len(calls)
}

// begin divides launches into calls. A launch whose token already has a call under way gets
// ErrBusy.
func (p *Provider) begin(items []order, results outcomes) []*call {
	plans := make(map[*launch.Order]*plan, len(items))
	orders := make([]*launch.Order, len(items))
	for i, l := range items {
		orders[i], plans[l.Order] = l.Order, l.plan
	}
	begun, busy := p.book.Begin(orders)
	for _, o := range busy {
		results[o] = outcome{Err: launch.ErrBusy}
	}
	calls := make([]*call, len(begun))
	for i, b := range begun {
		plan := plans[b.Orders[0]]
		c := &call{Call: b, p: p, plan: plan, spec: plan.spec, templates: plan.templates}
		if b.Turn != "" {
			c.ofTurn(b.Turn)
		}
		b.Make = func(ctx context.Context) error { return c.work(ctx, outcomes{}) }
		calls[i] = c
	}
	return calls
}

// runAll makes the calls concurrently. It returns the error of the first call that gave fewer
// instances than asked for.
func runAll(ctx context.Context, calls []*call, results outcomes) error {
	parts, missed := make([]outcomes, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		parts[i] = outcomes{}
		wg.Go(func() { missed[i] = c.run(ctx, parts[i]) })
	}
	wg.Wait()
	for _, part := range parts {
		maps.Copy(results, part)
	}
	return cmp.Or(missed...)
}

// run makes the call and notes the outcome of each launch. It returns why some launches got no
// instance.
func (c *call) run(ctx context.Context, results outcomes) error {
	defer c.Release()
	return c.work(ctx, results)
}

// abandon fails a call that was not made.
func (c *call) abandon(results outcomes, why error) {
	defer c.Release()
	c.p.book.End(c.Call, launch.Answer{})
	_ = c.fail(results, why)
}

// work makes the call, a second time if EC2 has lost its launch templates.
func (c *call) work(ctx context.Context, results outcomes) error {
	for try := 0; ; try++ {
		done, err := c.prepare(ctx)
		if err != nil {
			done()
			c.claim.Settle(nil)
			if c.input == nil {
				c.p.book.End(c.Call, launch.Answer{})
			}
			return c.fail(results, err)
		}
		out, err := c.p.clients.EC2.CreateFleet(ctx, c.input)
		done()
		if err == nil {
			return c.answer(ctx, out, results)
		}
		code := api.Code(err)
		switch {
		case launch.LostTemplate(code) && try == 0:
			c.forgetTemplates()
			continue
		case code == "IdempotentParameterMismatch":
			return c.mismatch(ctx, results)
		case inDoubt(err):
			c.doubt = true
			if launch.IsInternal(code) {
				c.internalError()
			}
			return c.fail(results, fault("Create", "", cloudprovider.KindUnknown,
				"EC2 did not say whether it launched anything: %w; repeat with the same token", err))
		}
		failed := callError(err)
		if c.doubt {
			// This refusal does not tell whether the earlier attempt launched something.
			if cloudprovider.KindOf(failed) == cloudprovider.KindDenied {
				return c.mismatch(ctx, results)
			}
			return c.fail(results, failed)
		}
		c.claim.Settle(nil)
		c.p.book.End(c.Call, launch.Answer{})
		var e *cloudprovider.Error
		if errors.As(failed, &e) {
			c.early(e)
		}
		return c.fail(results, failed)
	}
}

// inDoubt reports whether a call that failed may have launched something: EC2 gave no answer, or
// failed on its side.
func inDoubt(err error) bool {
	code := api.Code(err)
	if code == "" {
		return true
	}
	if api.Kind(err) == cloudprovider.KindThrottled { // which EC2 says with status 503
		return false
	}
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) && answer.HTTPStatusCode() >= 500 {
		return true
	}
	return launch.IsInternal(code)
}

// callError returns the error of a call that EC2 refused as a whole. It is never of KindNotFound:
// that would mean that the node class or the instance does not exist, but here the call named
// something else, such as a subnet.
func callError(err error) error {
	code := api.Code(err)
	wrapped := api.Wrap("Create", "", err)
	kind, remedy := launch.Cause(code, err.Error())
	if api.Kind(err) != cloudprovider.KindNotFound && (remedy == "" || kind == cloudprovider.KindUnknown) {
		return wrapped
	}
	text := api.Message(err)
	said := api.Remedy(err) // in the text
	if remedy != "" && remedy != said && (remedy != launch.AllowCall || said == "") {
		text += "; " + remedy
	}
	return &cloudprovider.Error{Op: "Create", Kind: kind, Reason: code, RetryAfter: cloudprovider.RetryAfter(wrapped),
		Err: fmt.Errorf("%s%w", text, quiet{err})}
}

// quiet keeps a cause in the tree of an error without saying it twice.
type quiet struct{ err error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.err }

// fail makes the error the outcome of every launch of the call.
func (c *call) fail(results outcomes, err error) error {
	for _, o := range c.Orders {
		results[o] = outcome{Err: named(err, o)}
	}
	return err
}

// named adds the name of the NodeClaim to an error.
func named(err error, o *launch.Order) error {
	var e *cloudprovider.Error
	if !errors.As(err, &e) {
		return api.Wrap("Create", o.Request.Name, err)
	}
	one := *e
	one.Op, one.Object = "Create", o.Request.Name
	return &one
}

// answer records which instances EC2 has launched and which options it refused. It returns why some
// launches got no instance.
func (c *call) answer(ctx context.Context, out *ec2.CreateFleetOutput, results outcomes) error {
	launched, failures := launch.ReadAnswer(out, c.zones)
	if err := c.locate(ctx, launched); err != nil {
		c.doubt = true // the same call returns the same instances again
		return c.fail(results, err)
	}
	missed := len(launched) < len(c.Orders)
	var verdict launch.Verdict
	if missed || len(failures) > 0 {
		verdict = launch.Judge(&c.spec, failures, c.spare)
		c.early(verdict.Err)
		c.refused(verdict, missed)
	}
	if verdict.Internal && len(launched) == 0 {
		c.internalError()
	} else {
		c.p.internal.Worked(c.spec.CapacityType)
	}
	used, known := map[string]int64{}, launch.Answer{Used: true}
	for i, at := range launched {
		if i >= len(c.Orders) {
			c.surplus(ctx, at)
			continue
		}
		instance := c.instance(c.Orders[i].Request, at)
		known.IDs, known.Instances = append(known.IDs, at.ID), append(known.Instances, instance)
		c.sold(instance.OfferingKey())
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

// spare reports whether the zone has a subnet other than the one that turned out to be full. If
// there is one, the next launch uses it, and the offerings of the zone are not marked.
func (c *call) spare(zone, subnet string) bool {
	return c.p.addresses.Spare(zone, subnet, subnetsOf(c.plan.subnets))
}

// locate asks EC2 for the instance type and zone of instances whose answer lacks them. The zone is
// a part of the instance's ID.
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
			// Not wrapped: "not found yet" is an error of the look-up and not of the launch.
			return fault("Create", "", cloudprovider.KindUnknown, "EC2 launched %s and did not say where: %v; repeat with the same token", at.ID, err)
		}
		at.InstanceType, at.Zone, at.SubnetID, at.ImageID = r.Type, r.Zone, r.SubnetID, r.ImageID
	}
	return nil
}

// early changes "no such instance profile" to a temporary error if the Provider makes the profile:
// EC2 knows a profile only some seconds after it was made, and a profile that was deleted is made
// again.
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

// refused marks the offerings, subnets and reservations that EC2 refused, so that they are not
// tried for a while.
func (c *call) refused(v launch.Verdict, missed bool) {
	p := c.p
	marks := p.availability(c.plan.placement).MarkFromError(v.Err)
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

// internalErrorReason is the reason of marks of a capacity type for which EC2 keeps failing
// with an internal error.
const internalErrorReason = "InternalError"

// internalError notes that EC2 failed with an internal error. If EC2 keeps failing for spot or
// reserved capacity, that capacity type is not tried for a while, so that launches use another.
// On-demand capacity has no substitute and is never marked.
func (c *call) internalError() {
	p, kind := c.p, c.spec.CapacityType
	if kind == karpv1.CapacityTypeOnDemand || !p.internal.Failed(p.now(), kind, c.Token) {
		return
	}
	at := placement{group: c.plan.placement.group}
	mark := p.availability(at).MarkUnavailable(cloudprovider.Scope{CapacityType: kind}, internalErrorReason)
	p.warn(WarnRefused, c.Orders[0].Request.Name, "EC2 keeps failing with an internal error: %s", mark)
}

// sold notes that EC2 launched an offering.
func (c *call) sold(key cloudprovider.OfferingKey) {
	at := c.plan.placement
	c.p.availability(at).Launched(key)
	if at.partition > 0 {
		c.p.availability(placement{group: at.group}).Launched(key)
	}
}

// instance describes the instance that was launched for a request.
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
	c.p.label(i, c.plan.class.Name, c.plan.tenancy, c.plan.placement)
	return i
}

// surplus terminates an instance that EC2 launched beyond the number requested.
func (c *call) surplus(ctx context.Context, at launch.Launched) {
	err := c.p.instances.Terminate(context.WithoutCancel(ctx), at.ID)
	if err != nil {
		c.p.warn(WarnSurplus, at.ID, "EC2 launched more instances than were asked for, and this one could not be terminated: %v", err)
		return
	}
	c.p.warn(WarnSurplus, at.ID, "EC2 launched more instances than were asked for; this one is terminated")
}

// mismatch handles EC2's answer that the token was used for a different call; see
// launch.Book.Refuted.
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
