package awstest

import (
	"cmp"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// refusal is why a pool of a fleet gives no machine.
type refusal struct{ code, message string }

// messages are EC2's messages by code, in other words.
var messages = map[string]string{
	"InsufficientInstanceCapacity":      "We currently do not have sufficient capacity in the Availability Zone you requested.",
	"UnfulfillableCapacity":             "Unable to fulfill capacity due to your request configuration.",
	"MaxSpotInstanceCountExceeded":      "Max spot instance count exceeded",
	"VcpuLimitExceeded":                 "You have requested more vCPU capacity than your current vCPU limit allows.",
	"InsufficientFreeAddressesInSubnet": "There are not enough free addresses in subnet to satisfy the requested number of instances.",
	"ReservationCapacityExceeded":       "The requested reservation does not have sufficient compatible and available capacity for this request.",

	"AuthFailure.ServiceLinkedRoleCreationNotPermitted": "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
}

func messageOf(code string) string { return cmp.Or(messages[code], "The request was refused: "+code) }

func because(code string) (refusal, bool) { return refusal{code, messageOf(code)}, true }

// SetStock sets how many more machines all offerings in a scope together can give; terminated
// machines add to it again. A number below zero removes the bound. A launch needs stock in every
// scope that covers it.
func (c *Cloud) SetStock(scope cloudprovider.Scope, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < 0 {
		delete(c.stock, scope)
		return
	}
	c.stock[scope] = n
}

// refuses says why a pool gives no machine, in this order: faults of the request, scripted
// refusals, quotas, stock and addresses.
func (c *Cloud) refuses(q *request, p *pool) (refusal, bool) {
	for _, check := range []func(*pool) (refusal, bool){c.unfit, c.unbootable} {
		if r, refused := check(p); refused {
			return r, true
		}
	}
	for _, s := range sortedScopes(q.orders.refuse) {
		if s.Covers(p.key) {
			return q.orders.refuse[s], true
		}
	}
	if p.key.CapacityType == spot && c.opts.NoSpotRole {
		return because("AuthFailure.ServiceLinkedRoleCreationNotPermitted")
	}
	if r, refused := c.quota(p); refused {
		return r, true
	}
	if p.key.CapacityType == reserved {
		if r, refused := c.unreserved(p); refused {
			return r, true
		}
	}
	for _, s := range sortedScopes(c.stock) {
		if s.Covers(p.key) && c.stock[s] <= 0 {
			return because("InsufficientInstanceCapacity")
		}
	}
	if p.subnet.free <= 0 {
		r, _ := because("InsufficientFreeAddressesInSubnet")
		return refusal{r.code, "There are not enough free addresses in subnet '" + *p.subnet.SubnetId + "' to satisfy the requested number of instances."}, true
	}
	return refusal{}, false
}

func sortedScopes[T any](m map[cloudprovider.Scope]T) []cloudprovider.Scope {
	scopes := make([]cloudprovider.Scope, 0, len(m))
	for s := range m {
		scopes = append(scopes, s)
	}
	slices.SortFunc(scopes, cloudprovider.Scope.Compare)
	return scopes
}

// unfit checks type, zone and network.
func (c *Cloud) unfit(p *pool) (refusal, bool) {
	t := c.types[p.key.InstanceType]
	switch {
	case t == nil:
		return refusal{"InvalidParameterValue", "Invalid value '" + p.key.InstanceType + "' for InstanceType."}, true
	case p.subnet == nil:
		return refusal{"InvalidSubnetID.NotFound", "The subnet ID '" + p.override.str("SubnetId") + "' does not exist"}, true
	case !slices.Contains(c.zonesOf(p.key.InstanceType), p.key.Zone):
		return refusal{"Unsupported", "Your requested instance type (" + p.key.InstanceType + ") is not supported in your requested Availability Zone (" + p.key.Zone + ")."}, true
	case p.key.CapacityType == spot && !slices.Contains(t.SupportedUsageClasses, ec2types.UsageClassTypeSpot):
		return refusal{"Unsupported", "The instance type " + p.key.InstanceType + " is not sold as spot."}, true
	}
	for _, id := range groupsOf(p.template.data) {
		g := c.group(id)
		if g == nil {
			return refusal{"InvalidGroup.NotFound", "The security group '" + id + "' does not exist"}, true
		}
		if value(g.VpcId) != *p.subnet.VpcId {
			return refusal{"InvalidParameter", "Security group " + id + " and subnet " + *p.subnet.SubnetId + " belong to different networks."}, true
		}
	}
	return refusal{}, false
}

// unbootable checks image and instance profile.
func (c *Cloud) unbootable(p *pool) (refusal, bool) {
	i := c.image(p.image)
	if i == nil {
		return refusal{"InvalidAMIID.NotFound", "The image id '[" + p.image + "]' does not exist"}, true
	}
	t := c.types[p.key.InstanceType]
	if t.ProcessorInfo != nil && !slices.Contains(texts(t.ProcessorInfo.SupportedArchitectures), string(i.Architecture)) {
		return refusal{"InvalidParameterValue", "The architecture '" + string(i.Architecture) +
			"' of the specified image does not match that of the instance type " + p.key.InstanceType + "."}, true
	}
	if name := p.template.data.str("IamInstanceProfile.Name"); name != "" && !c.usable(c.profiles[name]) {
		return refusal{"InvalidParameterValue", "Value (" + name + ") for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"}, true
	}
	return refusal{}, false
}

// quota checks the vCPUs of all machines against the quotas of the account.
func (c *Cloud) quota(p *pool) (refusal, bool) {
	limit, code := c.opts.OnDemandVCPUs, "VcpuLimitExceeded"
	if p.key.CapacityType == spot {
		limit, code = c.opts.SpotVCPUs, "MaxSpotInstanceCountExceeded"
	}
	if limit == 0 {
		return refusal{}, false
	}
	used := c.vcpus(p.key.InstanceType)
	for _, m := range c.machines {
		if (m.key.CapacityType == spot) == (p.key.CapacityType == spot) && !m.returned {
			used += c.vcpus(m.key.InstanceType)
		}
	}
	if used > limit {
		return because(code)
	}
	return refusal{}, false
}

func (c *Cloud) vcpus(name string) int {
	if t := c.types[name]; t != nil && t.VCpuInfo != nil {
		return int(value(t.VCpuInfo.DefaultVCpus))
	}
	return 0
}

// unreserved checks the reservation of a template.
func (c *Cloud) unreserved(p *pool) (refusal, bool) {
	r := c.reservation(p.key.ReservationID)
	switch {
	case r == nil:
		return refusal{"InvalidCapacityReservationId.NotFound", "The capacity reservation ID '" + p.key.ReservationID + "' was not found"}, true
	case value(r.InstanceType) != p.key.InstanceType, value(r.AvailabilityZone) != p.key.Zone, r.State != ec2types.CapacityReservationStateActive, r.free <= 0:
		return because("ReservationCapacityExceeded")
	}
	return refusal{}, false
}
