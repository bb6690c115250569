package awstest

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// fleetAnswer is the answer to a CreateFleet, kept by its token.
type fleetAnswer struct {
	asked  string
	answer *ec2.CreateFleetOutput
}

// pool is one way in which a fleet can launch: a template with an override.
type pool struct {
	template *template
	override form
	key      cloudprovider.OfferingKey
	subnet   *subnet // nil if there is none for it
	image    string
	priority float64
	price    float64
	launched []*machine
}

func (c *Cloud) createFleet(q *request) (any, *fault) {
	f := q.form
	asked, token := f.canonical("ClientToken"), f.str("ClientToken")
	if old, found := c.fleets[token]; token != "" && found {
		if old.asked != asked {
			return nil, failure("IdempotentParameterMismatch", "The client token you have provided is associated with a request with other parameters")
		}
		return old.answer, nil
	}
	total, err := checkFleet(f)
	if err != nil {
		return nil, err
	}
	pools, err := c.pools(f)
	if err != nil {
		return nil, err
	}
	if f.yes("DryRun") {
		return nil, dryRun()
	}
	answer := &ec2.CreateFleetOutput{FleetId: new(c.id("fleet"))}
	c.fill(q, pools, total, answer)
	if token != "" {
		c.fleets[token] = fleetAnswer{asked, answer}
	}
	return answer, nil
}

func checkFleet(f form) (total int, err *fault) {
	total, ok := f.num("TargetCapacitySpecification.TotalTargetCapacity")
	switch {
	case f.str("Type") != "instant":
		return 0, invalid("fleet type %q is not supported here; use instant", f.str("Type"))
	case !ok:
		return 0, missing("TargetCapacitySpecification.TotalTargetCapacity")
	case total < 1 || total > 10000:
		return 0, failure("InvalidTargetCapacitySpecification", "TotalTargetCapacity should be between 1 and 10000, is %d", total)
	case len(f.list("LaunchTemplateConfigs")) == 0:
		return 0, missing("LaunchTemplateConfigs")
	case len(f.list("LaunchTemplateConfigs")) > 50:
		return 0, invalid("At most 50 launch template configurations may be specified")
	}
	return total, nil
}

// lifecycleOf returns the capacity type of a fleet, and its name in answers.
func lifecycleOf(f form, t *template) (capacityType string, lifecycle ec2types.InstanceLifecycle) {
	if t.data.has("CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId") {
		return reserved, ec2types.InstanceLifecycleOnDemand
	}
	if f.str("TargetCapacitySpecification.DefaultTargetCapacityType") == spot {
		return spot, ec2types.InstanceLifecycleSpot
	}
	return onDemand, ec2types.InstanceLifecycleOnDemand
}

// pools returns the pools of a fleet, in the order of the allocation strategy.
func (c *Cloud) pools(f form) ([]*pool, *fault) {
	var pools []*pool
	for _, config := range f.list("LaunchTemplateConfigs") {
		t, err := c.namedTemplate(config.at("LaunchTemplateSpecification"))
		if err != nil {
			return nil, err
		}
		overrides := config.list("Overrides")
		if len(overrides) == 0 {
			overrides = []form{{}}
		}
		for _, o := range overrides {
			pools = append(pools, c.pool(f, t, o))
		}
	}
	strategy := f.str("OnDemandOptions.AllocationStrategy")
	if f.str("TargetCapacitySpecification.DefaultTargetCapacityType") == spot {
		strategy = f.str("SpotOptions.AllocationStrategy")
	}
	order := func(a, b *pool) int { return cmp.Compare(a.price, b.price) }
	switch strategy {
	case "prioritized", "capacity-optimized-prioritized":
		order = func(a, b *pool) int { return cmp.Compare(a.priority, b.priority) }
	case "", "lowest-price", "price-capacity-optimized", "capacity-optimized", "diversified":
	default:
		return nil, invalid("The allocation strategy '%s' is not valid", strategy)
	}
	slices.SortStableFunc(pools, order)
	return pools, nil
}

func (c *Cloud) pool(f form, t *template, o form) *pool {
	p := &pool{template: t, override: o, image: cmp.Or(o.str("ImageId"), t.data.str("ImageId"))}
	p.key.InstanceType = cmp.Or(o.str("InstanceType"), t.data.str("InstanceType"))
	p.key.CapacityType, _ = lifecycleOf(f, t)
	p.key.ReservationID = t.data.str("CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId")
	p.subnet = c.subnet(o.str("SubnetId"))
	if o.str("SubnetId") == "" {
		p.subnet = c.anySubnet(o.str("AvailabilityZone"))
	}
	if p.subnet != nil {
		p.key.Zone = *p.subnet.AvailabilityZone
	}
	p.priority, _ = strconv.ParseFloat(o.str("Priority"), 64) // none is 0
	p.price = c.price(p.key)
	return p
}

// anySubnet returns the first subnet of a zone, or of all zones if zone is empty.
func (c *Cloud) anySubnet(zone string) *subnet {
	for _, s := range c.subnets {
		if zone == "" || *s.AvailabilityZone == zone {
			return s
		}
	}
	return nil
}

// fill launches up to total machines, each from the first pool that can give one. The answer lists
// one error for each pool that refused.
func (c *Cloud) fill(q *request, pools []*pool, total int, answer *ec2.CreateFleetOutput) {
	for at := 0; at < len(pools) && total > 0; {
		p := pools[at]
		if r, refused := c.refuses(q, p); refused {
			_, lifecycle := lifecycleOf(q.form, p.template)
			answer.Errors = append(answer.Errors, ec2types.CreateFleetError{
				LaunchTemplateAndOverrides: p.source(), Lifecycle: lifecycle, ErrorCode: &r.code, ErrorMessage: &r.message,
			})
			at++
			continue
		}
		p.launched = append(p.launched, c.launch(q.form, p, *answer.FleetId))
		total--
	}
	for _, p := range pools {
		if len(p.launched) == 0 {
			continue
		}
		_, lifecycle := lifecycleOf(q.form, p.template)
		i := ec2types.CreateFleetInstance{
			LaunchTemplateAndOverrides: p.source(), Lifecycle: lifecycle, InstanceType: ec2types.InstanceType(p.key.InstanceType),
		}
		for _, m := range p.launched {
			i.InstanceIds = append(i.InstanceIds, m.id)
		}
		answer.Instances = append(answer.Instances, i)
	}
}

// source returns the template and the override of a pool.
func (p *pool) source() *ec2types.LaunchTemplateAndOverridesResponse {
	o := &ec2types.FleetLaunchTemplateOverrides{
		InstanceType: ec2types.InstanceType(p.override.str("InstanceType")), SubnetId: optional(p.override.str("SubnetId")),
		ImageId: optional(p.override.str("ImageId")), AvailabilityZone: optional(p.override.str("AvailabilityZone")),
	}
	if p.subnet != nil {
		o.AvailabilityZone = &p.key.Zone
	}
	if p.override.has("Priority") {
		o.Priority = &p.priority
	}
	return &ec2types.LaunchTemplateAndOverridesResponse{
		LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateId: &p.template.id, Version: new("1")}, Overrides: o,
	}
}
