package devices

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// Device is one device, or a number of equal ones.
type Device struct {
	driver string
	device *resourcev1.Device
	count  int64
}

// Index has the objects of dynamic resource allocation of an input.
type Index struct {
	claims    map[storage.Key]*resourcev1.ResourceClaim
	templates map[storage.Key]*resourcev1.ResourceClaimTemplate
	Classes   map[string]*resourcev1.DeviceClass
	// ByNode is, by name of the node, its free devices; "" for devices that several nodes can
	// reach.
	ByNode map[string][]Device

	matcher cloudprovider.DeviceMatcher
}

// id identifies a device of an existing node.
type id struct{ driver, pool, device string }

// New reads the objects of an input. Of each pool of devices only the newest generation counts.
func New(in *provisioning.Devices) *Index {
	d := &Index{matcher: in.Matcher,
		claims: storage.ByKey(in.Claims), templates: storage.ByKey(in.Templates),
		Classes: storage.ByName(in.Classes), ByNode: map[string][]Device{},
	}
	given := map[id]bool{}
	for _, claim := range d.claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if !yes(result.AdminAccess) {
				given[id{result.Driver, result.Pool, result.Device}] = true
			}
		}
	}
	newest := map[id]int64{}
	for _, slice := range in.Slices {
		if slice != nil {
			pool := id{driver: slice.Spec.Driver, pool: slice.Spec.Pool.Name}
			newest[pool] = max(newest[pool], slice.Spec.Pool.Generation)
		}
	}
	for _, slice := range in.Slices {
		if slice == nil || slice.Spec.Pool.Generation < newest[id{driver: slice.Spec.Driver, pool: slice.Spec.Pool.Name}] {
			continue
		}
		node := ""
		if slice.Spec.NodeName != nil {
			node = *slice.Spec.NodeName
		}
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			if !given[id{slice.Spec.Driver, slice.Spec.Pool.Name, device.Name}] || yes(device.AllowMultipleAllocations) {
				d.ByNode[node] = append(d.ByNode[node], Device{slice.Spec.Driver, device, 1})
			}
		}
	}
	return d
}

func yes(flag *bool) bool { return flag != nil && *flag }

// Resolve returns what a claim of a pod asks for: nil if the claim is allocated, and then the nodes
// that can reach its devices. The fault says why no pod can use the claim.
func (d *Index) Resolve(p *corev1.Pod, of *corev1.PodResourceClaim) (key storage.Key, asked *resourcev1.ResourceClaimSpec, where *corev1.NodeSelector, fault string) {
	name := of.ResourceClaimName
	for _, status := range p.Status.ResourceClaimStatuses {
		if status.Name == of.Name && name == nil {
			name = status.ResourceClaimName
		}
	}
	if name == nil && of.ResourceClaimTemplateName != nil {
		template := d.templates[storage.Key{Namespace: p.Namespace, Name: *of.ResourceClaimTemplateName}]
		if template == nil {
			return storage.Key{}, nil, nil, "has template " + *of.ResourceClaimTemplateName + ", which is not in the input"
		}
		return storage.Key{Namespace: p.Namespace + "/" + p.Name, Name: of.Name}, &template.Spec.Spec, nil, ""
	}
	if name == nil {
		return storage.Key{}, nil, nil, "names neither a claim nor a template"
	}
	key = storage.Key{Namespace: p.Namespace, Name: *name}
	claim := d.claims[key]
	switch {
	case claim == nil:
		return key, nil, nil, "is " + *name + ", which is not in the input"
	case claim.DeletionTimestamp != nil:
		return key, nil, nil, "is being deleted"
	case claim.Status.Allocation == nil:
		return key, &claim.Spec, nil, ""
	}
	return key, nil, claim.Status.Allocation.NodeSelector, ""
}

// Needs returns, by class, the number of devices that claims request; only requests for an exact
// number count.
func Needs(asked map[storage.Key]*resourcev1.ResourceClaimSpec) map[string]int64 {
	needs := map[string]int64{}
	for _, spec := range asked {
		for i := range spec.Devices.Requests {
			exact := spec.Devices.Requests[i].Exactly
			if exact == nil || yes(exact.AdminAccess) {
				continue
			}
			switch exact.AllocationMode {
			case "", resourcev1.DeviceAllocationModeExactCount:
				needs[exact.DeviceClassName] += max(exact.Count, 1)
			}
		}
	}
	return needs
}

// Count counts the devices of a class. countable is false if the selectors of the class cannot be
// evaluated.
func (d *Index) Count(class *resourcev1.DeviceClass, devices []Device) (have int64, countable bool) {
	if len(class.Spec.Selectors) > 0 && d.matcher == nil {
		return 0, false
	}
	for _, each := range devices {
		matches := !slices.ContainsFunc(class.Spec.Selectors, func(selector resourcev1.DeviceSelector) bool {
			ok, err := d.matcher.Matches(selector, each.driver, each.device)
			return !ok || err != nil
		})
		if !matches {
			continue
		}
		if yes(each.device.AllowMultipleAllocations) {
			return 0, false // any number of claims can use it
		}
		have += each.count
	}
	return have, true
}

// OfType returns the devices of an instance type.
func OfType(listed []cloudprovider.InstanceDevice) (devices []Device) {
	for i := range listed {
		devices = append(devices, Device{listed[i].Driver, &listed[i].Device, int64(listed[i].Count)})
	}
	return devices
}

// Serves says whether pods get devices of a class by requesting an extended resource.
func Serves(class *resourcev1.DeviceClass, name corev1.ResourceName) bool {
	return class != nil && (class.Spec.ExtendedResourceName != nil && *class.Spec.ExtendedResourceName == string(name) ||
		resourcev1.ResourceDeviceClassPrefix+class.Name == string(name))
}
