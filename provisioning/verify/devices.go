package verify

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// deviceInfo is a device, or a number of equal ones.
type deviceInfo struct {
	driver string
	device *resourcev1.Device
	count  int64
}

// deviceIndex are the objects of dynamic resource allocation of the input.
type deviceIndex struct {
	claims    map[objectKey]*resourcev1.ResourceClaim
	templates map[objectKey]*resourcev1.ResourceClaimTemplate
	classes   map[string]*resourcev1.DeviceClass
	byNode    map[string][]deviceInfo // "" for devices of several nodes
}

// deviceID names a device of a node that exists.
type deviceID struct{ driver, pool, device string }

func (r *referee) newDevices() *deviceIndex {
	d := &deviceIndex{
		claims: map[objectKey]*resourcev1.ResourceClaim{}, templates: map[objectKey]*resourcev1.ResourceClaimTemplate{},
		classes: map[string]*resourcev1.DeviceClass{}, byNode: map[string][]deviceInfo{},
	}
	given := map[deviceID]bool{}
	for _, claim := range r.in.Devices.Claims {
		if claim == nil {
			continue
		}
		d.claims[objectKey{Namespace: claim.Namespace, Name: claim.Name}] = claim
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if result.AdminAccess == nil || !*result.AdminAccess {
				given[deviceID{result.Driver, result.Pool, result.Device}] = true
			}
		}
	}
	for _, template := range r.in.Devices.Templates {
		if template != nil {
			d.templates[objectKey{Namespace: template.Namespace, Name: template.Name}] = template
		}
	}
	for _, class := range r.in.Devices.Classes {
		if class != nil {
			d.classes[class.Name] = class
		}
	}
	newest := map[deviceID]int64{}
	for _, slice := range r.in.Devices.Slices {
		if slice != nil {
			id := deviceID{driver: slice.Spec.Driver, pool: slice.Spec.Pool.Name}
			newest[id] = max(newest[id], slice.Spec.Pool.Generation)
		}
	}
	for _, slice := range r.in.Devices.Slices {
		if slice == nil || slice.Spec.Pool.Generation < newest[deviceID{driver: slice.Spec.Driver, pool: slice.Spec.Pool.Name}] {
			continue
		}
		node := ""
		if slice.Spec.NodeName != nil {
			node = *slice.Spec.NodeName
		}
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			if !given[deviceID{slice.Spec.Driver, slice.Spec.Pool.Name, device.Name}] || r.yes(device.AllowMultipleAllocations) {
				d.byNode[node] = append(d.byNode[node], deviceInfo{slice.Spec.Driver, device, 1})
			}
		}
	}
	return d
}

func (*referee) yes(flag *bool) bool { return flag != nil && *flag }

// checkDevices counts the devices that the pods of each node ask for. What it
// finds wrong is wrong; what it passes need not be right.
func (r *referee) checkDevices() {
	var d *deviceIndex
	homes := map[objectKey]*targetNode{} // of claims that nothing is allocated to
	for _, s := range r.sites {
		asked := map[objectKey]*resourcev1.ResourceClaimSpec{}
		for _, p := range s.placed {
			for i := range p.Spec.ResourceClaims {
				if d == nil {
					d = r.newDevices()
				}
				key, spec, fault := r.resolve(d, s, p, &p.Spec.ResourceClaims[i])
				if fault != "" {
					r.report(RuleDevices, s.name, p.key.String(), "its resource claim %s %s", p.Spec.ResourceClaims[i].Name, fault)
					continue
				}
				if spec == nil {
					continue
				}
				if home := homes[key]; home != nil && home != s && len(d.byNode[""]) == 0 {
					r.report(RuleDevices, s.name, p.key.String(), "its resource claim %s is for devices of one node, and a pod on node %s uses it too",
						p.Spec.ResourceClaims[i].Name, home.name)
					continue
				}
				homes[key], asked[key] = s, spec
			}
		}
		if len(asked) > 0 {
			r.countDevices(d, s, asked)
		}
	}
}

// resolve finds what a claim of a pod asks for: nothing if it has been allocated.
func (r *referee) resolve(d *deviceIndex, s *targetNode, p *podInfo, of *corev1.PodResourceClaim) (objectKey, *resourcev1.ResourceClaimSpec, string) {
	name := of.ResourceClaimName
	for _, status := range p.Status.ResourceClaimStatuses {
		if status.Name == of.Name && name == nil {
			name = status.ResourceClaimName
		}
	}
	if name == nil && of.ResourceClaimTemplateName != nil {
		template := d.templates[objectKey{Namespace: p.Namespace, Name: *of.ResourceClaimTemplateName}]
		if template == nil {
			return objectKey{}, nil, "has template " + *of.ResourceClaimTemplateName + ", which is not in the input"
		}
		return objectKey{Namespace: p.key.String(), Name: of.Name}, &template.Spec.Spec, ""
	}
	if name == nil {
		return objectKey{}, nil, "names neither a claim nor a template"
	}
	key := objectKey{Namespace: p.Namespace, Name: *name}
	claim := d.claims[key]
	switch {
	case claim == nil:
		return key, nil, "is " + *name + ", which is not in the input"
	case claim.DeletionTimestamp != nil:
		return key, nil, "is being deleted"
	case claim.Status.Allocation == nil:
		return key, &claim.Spec, ""
	}
	if where := claim.Status.Allocation.NodeSelector; where != nil {
		selection := r.selections.OfNodes(where)
		for _, node := range r.outcomes(s, selection.Mentions) {
			if !selection.Accepts(node) {
				return key, nil, "has devices that the node cannot reach"
			}
		}
	}
	return key, nil, ""
}

// countDevices wants as many devices of each class as claims ask for.
func (r *referee) countDevices(d *deviceIndex, s *targetNode, asked map[objectKey]*resourcev1.ResourceClaimSpec) {
	needs := map[string]int64{}
	for _, spec := range asked {
		for i := range spec.Devices.Requests {
			exact := spec.Devices.Requests[i].Exactly
			if exact == nil || r.yes(exact.AdminAccess) {
				continue
			}
			switch exact.AllocationMode {
			case "", resourcev1.DeviceAllocationModeExactCount:
				needs[exact.DeviceClassName] += max(exact.Count, 1)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		class := d.classes[name]
		if class == nil {
			r.report(RuleDevices, s.name, "", "its pods ask for devices of class %s, which is not in the input", name)
			continue
		}
		for _, devices := range r.devicesAt(d, s) {
			have, countable := r.countClass(class, devices)
			if countable && needs[name] > have {
				r.report(RuleDevices, s.name, "", "its pods ask for %d devices of class %s, but it may have %d", needs[name], name, have)
				break
			}
		}
	}
}

// devicesAt are the devices of a site: those of each instance type that it may
// be. A node that has not published any yet gets those of its type.
func (r *referee) devicesAt(d *deviceIndex, s *targetNode) [][]deviceInfo {
	if s.node != nil {
		own := d.byNode[s.node.Node.Name]
		if len(own) == 0 && s.node.Settling {
			for _, t := range r.in.InstanceTypes[s.node.Pool] {
				if t != nil && t.Name == s.node.Node.Labels[corev1.LabelInstanceTypeStable] {
					own = r.typeDevices(t.Devices)
				}
			}
		}
		return [][]deviceInfo{slices.Concat(own, d.byNode[""])}
	}
	var all [][]deviceInfo
	seen := map[string]bool{}
	for _, i := range s.family.options {
		t := s.family.pool.stock.options[i].InstanceType
		if !seen[t.Name] {
			seen[t.Name] = true
			all = append(all, slices.Concat(r.typeDevices(t.Devices), d.byNode[""]))
		}
	}
	return all
}

// countClass counts the devices of a class. They cannot be counted where nobody
// can evaluate the selectors.
func (r *referee) countClass(class *resourcev1.DeviceClass, devices []deviceInfo) (have int64, countable bool) {
	matcher := r.in.Devices.Matcher
	if len(class.Spec.Selectors) > 0 && matcher == nil {
		return 0, false
	}
	for _, d := range devices {
		matches := !slices.ContainsFunc(class.Spec.Selectors, func(selector resourcev1.DeviceSelector) bool {
			ok, err := matcher.Matches(selector, d.driver, d.device)
			return !ok || err != nil
		})
		if !matches {
			continue
		}
		if r.yes(d.device.AllowMultipleAllocations) {
			return 0, false // as many as anybody likes
		}
		have += d.count
	}
	return have, true
}

func (*referee) typeDevices(listed []cloudprovider.InstanceDevice) (devices []deviceInfo) {
	for i := range listed {
		devices = append(devices, deviceInfo{listed[i].Driver, &listed[i].Device, int64(listed[i].Count)})
	}
	return devices
}
