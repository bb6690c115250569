package awstest

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// fleetAnswer is what a token of CreateFleet was answered with.
type fleetAnswer struct {
	asked  string
	answer xmlFleet
}

type xmlFleet struct {
	ID        string             `xml:"fleetId"`
	Errors    []xmlFleetError    `xml:"errorSet>item"`
	Instances []xmlFleetInstance `xml:"fleetInstanceSet>item"`
}

type xmlFleetError struct {
	Source    xmlSource `xml:"launchTemplateAndOverrides"`
	Lifecycle string    `xml:"lifecycle"`
	Code      string    `xml:"errorCode"`
	Message   string    `xml:"errorMessage"`
}

type xmlFleetInstance struct {
	Source    xmlSource `xml:"launchTemplateAndOverrides"`
	Lifecycle string    `xml:"lifecycle"`
	IDs       []string  `xml:"instanceIds>item"`
	Type      string    `xml:"instanceType"`
}

// xmlSource says which template and which override something is about.
type xmlSource struct {
	TemplateID string      `xml:"launchTemplateSpecification>launchTemplateId"`
	Version    string      `xml:"launchTemplateSpecification>version"`
	Override   xmlOverride `xml:"overrides"`
}

type xmlOverride struct {
	Type     string  `xml:"instanceType,omitempty"`
	Subnet   string  `xml:"subnetId,omitempty"`
	Zone     string  `xml:"availabilityZone,omitempty"`
	Image    string  `xml:"imageId,omitempty"`
	Priority *string `xml:"priority"`
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
	answer := xmlFleet{ID: c.id("fleet")}
	c.fill(q, pools, total, &answer)
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

// lifecycleOf is the capacity type of a fleet, and what its answers call it.
func lifecycleOf(f form, t *template) (capacityType, lifecycle string) {
	if t.data.has("CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId") {
		return reserved, "on-demand"
	}
	if f.str("TargetCapacitySpecification.DefaultTargetCapacityType") == spot {
		return spot, spot
	}
	return onDemand, "on-demand"
}

// pools are the ways to launch, the best first by the allocation strategy.
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

// anySubnet is the first subnet of a zone, or of all.
func (c *Cloud) anySubnet(zone string) *subnet {
	for _, s := range c.subnets {
		if zone == "" || *s.AvailabilityZone == zone {
			return s
		}
	}
	return nil
}

// fill launches as many machines as it can, each from the first pool that has one
// more. What stood in the way is listed once for each pool that was tried.
func (c *Cloud) fill(q *request, pools []*pool, total int, answer *xmlFleet) {
	for at := 0; at < len(pools) && total > 0; {
		p := pools[at]
		if r, refused := c.refuses(q, p); refused {
			_, lifecycle := lifecycleOf(q.form, p.template)
			answer.Errors = append(answer.Errors, xmlFleetError{p.source(), lifecycle, r.code, r.message})
			at++
			continue
		}
		p.launched = append(p.launched, c.launch(q.form, p, answer.ID))
		total--
	}
	for _, p := range pools {
		if len(p.launched) == 0 {
			continue
		}
		_, lifecycle := lifecycleOf(q.form, p.template)
		i := xmlFleetInstance{Source: p.source(), Lifecycle: lifecycle, Type: p.key.InstanceType}
		for _, m := range p.launched {
			i.IDs = append(i.IDs, m.id)
		}
		answer.Instances = append(answer.Instances, i)
	}
}

func (p *pool) source() xmlSource {
	o := xmlOverride{Type: p.override.str("InstanceType"), Subnet: p.override.str("SubnetId"), Image: p.override.str("ImageId"), Zone: p.override.str("AvailabilityZone")}
	if p.subnet != nil {
		o.Zone = p.key.Zone
	}
	if v := p.override.str("Priority"); v != "" {
		o.Priority = &v
	}
	return xmlSource{p.template.id, "1", o}
}
