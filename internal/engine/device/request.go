package device

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// request has the fields that matter of an ExactDeviceRequest or a DeviceSubRequest.
type request struct {
	name        string
	class       string
	selectors   []resourcev1.DeviceSelector
	tolerations []resourcev1.DeviceToleration
	mode        resourcev1.DeviceAllocationMode
	count       int64
	admin       bool
	capacity    bool
}

// requestsOf returns the ways to satisfy a request: one, or one for each of its subrequests in
// their order. It returns none for a kind of request that this package does not know.
func requestsOf(r *resourcev1.DeviceRequest) []request {
	if e := r.Exactly; e != nil {
		return []request{{
			name: r.Name, class: e.DeviceClassName, selectors: e.Selectors, tolerations: e.Tolerations,
			mode: e.AllocationMode, count: e.Count,
			admin: e.AdminAccess != nil && *e.AdminAccess, capacity: asksCapacity(e.Capacity),
		}}
	}
	var out []request
	for i := range r.FirstAvailable {
		s := &r.FirstAvailable[i]
		out = append(out, request{
			name: r.Name + "/" + s.Name, class: s.DeviceClassName, selectors: s.Selectors, tolerations: s.Tolerations,
			mode: s.AllocationMode, count: s.Count, capacity: asksCapacity(s.Capacity),
		})
	}
	return out
}

func asksCapacity(c *resourcev1.CapacityRequirements) bool { return c != nil && len(c.Requests) > 0 }

// lower converts a request to a demand.
func (x *Index) lower(r *request) (Demand, *Refusal) {
	where := "request " + r.name
	all := r.mode == resourcev1.DeviceAllocationModeAll
	switch {
	case r.mode != "" && r.mode != resourcev1.DeviceAllocationModeExactCount && !all:
		return Demand{}, unsupported("%s: allocationMode %s", where, r.mode)
	case r.admin:
		return Demand{}, unsupported("%s: adminAccess", where)
	case r.capacity:
		return Demand{}, unsupported("%s: capacity", where)
	}
	for i := range r.selectors {
		if r.selectors[i].CEL == nil {
			return Demand{}, unsupported("%s: selectors[%d], which is no CEL expression", where, i)
		}
	}
	class := x.classes[r.class]
	if class == nil {
		return Demand{}, invalid("%s: there is no DeviceClass %q", where, r.class)
	}
	for i := range class.Spec.Selectors {
		if class.Spec.Selectors[i].CEL == nil {
			return Demand{}, unsupported("%s: DeviceClass %s: selectors[%d], which is no CEL expression", where, r.class, i)
		}
	}
	if x.matcher == nil && len(class.Spec.Selectors)+len(r.selectors) > 0 {
		return Demand{}, invalid("%s: class %s or the request has selectors, which cannot be evaluated here: "+
			"there is no Devices.Matcher, such as the one of package cloudprovider/devicecel", where, r.class)
	}
	set := newSelectorSet(class, r)
	if all {
		return Demand{whole: []whole{{sets: []*selectorSet{set}}}}, nil
	}
	return Demand{some: []wanted{{set, max(r.count, 1)}}}, nil
}

// maxWays is the largest number of combinations of subrequests.
const maxWays = 64

// demands returns the demands of a claim: one for each choice of subrequests, in the order in which
// kube-scheduler tries them.
func (x *Index) demands(spec *resourcev1.ResourceClaimSpec) ([]Demand, *Refusal) {
	if len(spec.Devices.Constraints) > 0 {
		return nil, unsupported("%s", constraintText(&spec.Devices.Constraints[0]))
	}
	ways := []Demand{{}}
	for i := range spec.Devices.Requests {
		r := &spec.Devices.Requests[i]
		options := requestsOf(r)
		if len(options) == 0 {
			return nil, unsupported("request %s, which is neither exactly nor firstAvailable", r.Name)
		}
		var one []Demand
		var tried []*selectorSet
		for j := range options {
			d, refusal := x.lower(&options[j])
			if refusal != nil {
				return nil, refusal
			}
			d.tried = slices.Clone(tried)
			one, tried = append(one, d), append(tried, d.sets()...)
		}
		if ways = product(ways, one); ways == nil {
			return nil, unsupported("more than %d ways to choose among firstAvailable", maxWays)
		}
	}
	return withinClaim(ways)
}

// withinClaim drops demands for more devices than a claim can hold, and combines the requests for
// all devices within each demand.
func withinClaim(ways []Demand) ([]Demand, *Refusal) {
	var out []Demand
	least := most
	for _, d := range ways {
		some := int64(0)
		for _, w := range d.some {
			some = saturatedSum(some, w.count)
		}
		total := saturatedSum(some, int64(len(d.whole)))
		if total <= resourcev1.AllocationResultsMaxSize {
			out = append(out, d.joined(some))
		}
		least = min(least, total)
	}
	if len(out) == 0 {
		return nil, invalid("it asks for %d devices or more, and a claim can hold no more than %d", least, resourcev1.AllocationResultsMaxSize)
	}
	return out, nil
}

func constraintText(c *resourcev1.DeviceConstraint) string {
	of := "all requests"
	if len(c.Requests) > 0 {
		of = "requests " + strings.Join(c.Requests, ", ")
	}
	switch {
	case c.MatchAttribute != nil:
		return fmt.Sprintf("matchAttribute %s over %s", *c.MatchAttribute, of)
	case c.DistinctAttribute != nil:
		return fmt.Sprintf("distinctAttribute %s over %s", *c.DistinctAttribute, of)
	}
	return "a constraint of an unknown kind over " + of
}
