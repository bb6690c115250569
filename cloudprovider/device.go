package cloudprovider

import (
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// DeviceMatcher evaluates selectors of dynamic resource allocation against devices. Selectors are
// CEL expressions. A CEL interpreter is large; because of this interface, programs without such
// selectors do not contain one. Package cloudprovider/devicecel has an implementation.
//
// An implementation is safe for concurrent use, does not modify its arguments, and gives the same
// answer to the same question.
type DeviceMatcher interface {
	// Matches says whether a device of a driver satisfies a selector. The device is never nil; its
	// name is ignored.
	//
	// The error, for a selector that cannot be evaluated for the device (it is malformed, reads an
	// attribute that the device does not have, or exceeds the cost that Kubernetes allows), names
	// the expression. Such a selector does not match: kube-scheduler allocates nothing then.
	Matches(selector resourcev1.DeviceSelector, driver string, device *resourcev1.Device) (bool, error)
}

// InstanceDevice is a number of equal devices that a node of an instance type
// will have once the driver runs there. It stands for the ResourceSlices that
// such a node will publish.
type InstanceDevice struct {
	// Driver is the name of the driver that will publish the devices, as in
	// spec.driver of a ResourceSlice. Required.
	Driver string

	// Device holds the attributes, capacities and taints that selectors will see. Its name is
	// ignored. Attributes that differ between the devices, such as a serial number, are left out.
	// nodeName, nodeSelector and allNodes stay empty, because the node is always one of the
	// instance type.
	Device resourcev1.Device

	// Count is the number of such devices, one or more.
	Count int
}

// cloneDevices returns a deep copy of a list of devices.
func cloneDevices(devices []InstanceDevice) []InstanceDevice {
	out := slices.Clone(devices)
	for i := range out {
		devices[i].Device.DeepCopyInto(&out[i].Device)
	}
	return out
}

// validateDevices reports the faults of the devices of an instance type: no driver, a count below
// one, a node set in the device, or an attribute without exactly one value.
func validateDevices(f *faults, devices []InstanceDevice) {
	for i := range devices {
		d := &devices[i]
		if d.Driver == "" {
			f.add("devices[%d]: driver: empty; set it to the name of the driver in the ResourceSlices", i)
		}
		if d.Count < 1 {
			f.add("devices[%d] (%s): count: %d; use one or more, or leave the device out", i, d.Driver, d.Count)
		}
		if d.Device.NodeName != nil || d.Device.NodeSelector != nil || d.Device.AllNodes != nil {
			f.add("devices[%d] (%s): device: nodeName, nodeSelector or allNodes is set; leave them empty, as the node is one of this type", i, d.Driver)
		}
		for _, name := range slices.Sorted(maps.Keys(d.Device.Attributes)) {
			if n := attributeValues(d.Device.Attributes[name]); n != 1 {
				f.add("devices[%d] (%s): attribute %s: %d values of different types; set exactly one", i, d.Driver, name, n)
			}
		}
	}
}

// attributeValues counts the fields of an attribute that are set.
func attributeValues(a resourcev1.DeviceAttribute) int {
	n := 0
	for _, set := range []bool{
		a.IntValue != nil, a.BoolValue != nil, a.StringValue != nil, a.VersionValue != nil,
		a.IntValues != nil, a.BoolValues != nil, a.StringValues != nil, a.VersionValues != nil,
	} {
		if set {
			n++
		}
	}
	return n
}
