package cloudprovidertest

import (
	"cmp"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// option returns the option of the request by which the instance was launched,
// and false if there is none.
func option(req *cloudprovider.LaunchRequest, instance *cloudprovider.Instance) (cloudprovider.LaunchOption, bool) {
	i := slices.IndexFunc(req.Options, func(o cloudprovider.LaunchOption) bool { return o.Key() == instance.OfferingKey() })
	if i < 0 {
		return cloudprovider.LaunchOption{}, false
	}
	return req.Options[i], true
}

func createOption(p *probe) {
	// The dearest option, to detect a provider that launches something cheaper.
	req := p.request()
	req.Options = req.Options[len(req.Options)-1:]
	instance := p.launch(req)
	o, found := option(&req, instance)
	switch {
	case !found:
		p.fail("Create: the only option is %s, but the instance says it is %s", req.Options[0].Key(), instance.OfferingKey())
	case instance.OfferingID != o.Offering.ID:
		p.fail("Create: OfferingID is %q; want that of the offering, %q", instance.OfferingID, o.Offering.ID)
	}
}

func createIdentity(p *probe) {
	req := p.request()
	instance := p.launch(req)
	if instance.ID == "" {
		p.fail("Create: ID is empty; set it to what spec.providerID of the node will be")
	}
	if instance.CreatedAt.IsZero() {
		p.fail("Create: CreatedAt is zero; set it to when the cloud accepted the request")
	}
	if instance.Name != req.Name || instance.NodePool != req.NodePool {
		p.fail("Create: name and pool are %q and %q; want %q and %q", instance.Name, instance.NodePool, req.Name, req.NodePool)
	}
	if instance.Deleting {
		p.fail("Create: the instance is Deleting")
	}
}

func createLabels(p *probe) {
	req := p.request()
	instance := p.launch(req)
	o, found := option(&req, instance)
	p.must(found, "Create: %s is not among the options", instance.OfferingKey())
	p.labels("Create", instance, o)
	got, err := p.Provider.Get(p.ctx, instance.ID)
	p.must(err == nil && got != nil, "Get: %v", err)
	p.labels("Get", got, o)
}

func (p *probe) labels(call string, instance *cloudprovider.Instance, o cloudprovider.LaunchOption) {
	want := o.NodeLabels()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got, found := instance.Labels[key]; !found || got != want[key] {
			p.fail("%s: label %s is %q; want %q", call, key, got, want[key])
		}
	}
}

func createCapacity(p *probe) {
	req := p.request()
	// Reserved capacity has a token price, which cannot be compared.
	paid := func(o cloudprovider.LaunchOption) bool { return o.Offering.CapacityType == v1.CapacityTypeReserved }
	if open := slices.DeleteFunc(slices.Clone(req.Options), paid); len(open) > 0 {
		req.Options = open
	}
	instance := p.launch(req)
	o, found := option(&req, instance)
	p.must(found, "Create: %s is not among the options", instance.OfferingKey())
	p.capacity("Create", &req, instance, o)
	got, err := p.Provider.Get(p.ctx, instance.ID)
	p.must(err == nil && got != nil, "Get: %v", err)
	p.capacity("Get", &req, got, o)
}

// farOff is the factor from which on a price must be in another unit, such as cents, or for a day.
// The paid price may differ from the offered one, but not as much.
const farOff = 10

func (p *probe) capacity(call string, req *cloudprovider.LaunchRequest, instance *cloudprovider.Instance, o cloudprovider.LaunchOption) {
	if !req.Requests.Fits(instance.Allocatable) {
		p.fail("%s: the request asks for %s, but Allocatable is %s", call, req.Requests, cmp.Or(instance.Allocatable.String(), "empty"))
	}
	room, err := o.InstanceType.AllocatableFor(o.Offering)
	p.must(err == nil, "InstanceTypes: %v", err)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		switch {
		case instance.Capacity.Get(name) < instance.Allocatable.Get(name):
			p.fail("%s: %s: Capacity %q is below Allocatable %q", call, name, instance.Capacity, instance.Allocatable)
		case instance.Allocatable.Get(name) > room.Get(name):
			p.fail("%s: %s: Allocatable is %q, more than InstanceTypes says of %s, %q; take overhead off", call, name, instance.Allocatable, o.Key(), room)
		}
	}
	switch price, offered := instance.Price, o.Offering.Price; {
	case math.IsNaN(price) || math.IsInf(price, 0) || price < 0:
		p.fail("%s: Price is %v; use USD per hour, or 0 if the offering has none", call, price)
	case o.Offering.CapacityType == v1.CapacityTypeReserved:
	case price == 0 && offered > 0:
		p.fail("%s: Price is 0, and %s costs %v; set it to the price of the offering, or the instance counts as free", call, o.Key(), offered)
	case price == 0:
	case price > farOff*offered || offered > farOff*price:
		p.fail("%s: Price is %v, and %s costs %v; use USD per hour for both", call, price, o.Key(), offered)
	}
}

func createInvalid(p *probe) {
	before := p.machines()
	for _, wrong := range []struct {
		name string
		make func(*cloudprovider.LaunchRequest)
	}{
		{"no token", func(r *cloudprovider.LaunchRequest) { r.Token = "" }},
		{"no node class", func(r *cloudprovider.LaunchRequest) { r.NodeClassRef.Name = "" }},
		{"no options", func(r *cloudprovider.LaunchRequest) { r.Options = nil }},
		{"an option without offering", func(r *cloudprovider.LaunchRequest) { r.Options[0].Offering = nil }},
		{"an option without instance type", func(r *cloudprovider.LaunchRequest) { r.Options[0].InstanceType = nil }},
	} {
		req := p.request()
		wrong.make(&req)
		_, err := p.create(p.Provider, req)
		p.kind("Create with "+wrong.name, err, cloudprovider.KindDenied)
	}
	if n := p.machines(); n != before {
		p.fail("there were %d machines before and are %d now; want none launched", before, n)
	}
}

func createUnknown(p *probe) {
	req := p.request()
	unknown := req.Options[0].InstanceType.Clone()
	unknown.Name = "no-such-instance-type"
	req.Options = []cloudprovider.LaunchOption{{InstanceType: unknown, Offering: &unknown.Offerings[0]}}
	before := p.machines()
	if instance, err := p.create(p.Provider, req); err == nil {
		p.fail("Create: asked for %s it launched %s", req.Options[0].Key(), instance.OfferingKey())
	}
	if n := p.machines(); n != before {
		p.fail("there were %d machines before and are %d now; want none launched", before, n)
	}
}

func createFailed(p *probe) {
	p.Fail("Create", cloudprovider.KindUnknown)
	// A client library may have repeated it by itself.
	if _, err := p.create(p.Provider, p.request()); err != nil {
		p.kind("Create, which failed in the cloud", err, cloudprovider.KindUnknown)
	}
}

func createReadOnly(p *probe) {
	req := p.request()
	slices.Reverse(req.Options) // so that sorting them by price shows
	options, labels := slices.Clone(req.Options), maps.Clone(req.Labels)
	requirements := req.Requirements
	p.launch(req)
	if !slices.Equal(req.Options, options) {
		p.fail("Create: the options of the request are in another order than before, or are others")
	}
	if !maps.Equal(req.Labels, labels) {
		p.fail("Create: the labels of the request were %v and are %v", labels, req.Labels)
	}
	if !req.Requirements.Equal(requirements) {
		p.fail("Create: the requirements of the request were %s and are %s", requirements, req.Requirements)
	}
}
