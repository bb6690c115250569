package cloudprovider

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// InstanceType is one shape of machine and the ways to buy it. It is read-only
// once handed out; change a Clone.
type InstanceType struct {
	// Name is the value of node.kubernetes.io/instance-type, unique within a
	// provider. Required.
	Name string

	// Requirements are the labels that nodes of this type can have. The set names every well-known
	// label of the provider's vocabulary, with DoesNotExist for those that do not apply: a
	// well-known label that it does not name is open: the type could have any value of it. Those
	// are v1.WellKnownLabels and what a VocabularyProvider adds; machine.Machine names them all.
	// Zones and capacity types are the union over the offerings.
	Requirements requirements.Set

	// Capacity is the full size of the machine, including "pods".
	Capacity resources.List

	// CapacityOverlays names, for each resource of Capacity that a NodeOverlay
	// set, that overlay. Set by overlay.Apply.
	CapacityOverlays map[corev1.ResourceName]string

	// Overhead is the part of Capacity that pods cannot use.
	Overhead Overhead

	// Offerings are the ways to buy it, in the order of OfferingKey. A type without offerings, or
	// without an available one, stays in the catalog.
	Offerings []Offering

	// VolumeAttachmentLimits says how many volumes of a CSI driver can be
	// attached at once, by driver name. A driver that is missing has no limit.
	VolumeAttachmentLimits map[string]int64

	// Devices are the devices for dynamic resource allocation that a node of
	// this type will have. Devices that compare equal may be listed together.
	Devices []InstanceDevice
}

// Overhead is the part of a node's capacity that pods cannot use: the sum of three parts.
type Overhead struct {
	// KubeReserved is for the kubelet and the container runtime.
	KubeReserved resources.List
	// SystemReserved is for everything else outside of Kubernetes.
	SystemReserved resources.List
	// EvictionThreshold is what the kubelet keeps free by evicting pods.
	EvictionThreshold resources.List
}

// Total returns the sum of the three parts. The error, for a sum outside of
// int64, wraps resources.ErrOverflow.
func (o Overhead) Total() (resources.List, error) {
	total, err := o.KubeReserved.Add(o.SystemReserved)
	if err == nil {
		total, err = total.Add(o.EvictionThreshold)
	}
	if err != nil {
		return resources.List{}, fmt.Errorf("overhead: %w", err)
	}
	return total, nil
}

// Allocatable returns what pods may use on a node of this type:
//
//  1. Capacity less Overhead.Total, over the names of Capacity: overhead of
//     a resource that the type does not have is ignored.
//  2. Memory is reduced by the capacity of each hugepages-* resource, which is
//     set aside at boot. This reduction stops at zero.
//
// An amount is negative if overhead is larger than capacity; then nothing fits (see
// resources.List.Fits). The error, for an amount outside of int64, names the type and wraps
// resources.ErrOverflow.
//
// Offerings that override capacity or overhead differ; see AllocatableFor.
func (t *InstanceType) Allocatable() (resources.List, error) {
	return t.named(t.allocatable(nil, nil))
}

// AllocatableFor returns what pods may use on a node of this type bought by o.
// It is Allocatable with the amounts of o.Capacity in place of the type's, name
// by name, and those of o.Overhead in place of the total overhead, name by
// name. The errors are those of Allocatable.
func (t *InstanceType) AllocatableFor(o *Offering) (resources.List, error) {
	return t.named(t.allocatable(o.Capacity, o.Overhead))
}

func (t *InstanceType) named(l resources.List, err error) (resources.List, error) {
	if err != nil {
		return resources.List{}, fmt.Errorf("instance type %s: %w", t.Name, err)
	}
	return l, nil
}

func (t *InstanceType) allocatable(capacityOverride, overheadOverride *resources.List) (resources.List, error) {
	capacity := t.Capacity
	if capacityOverride != nil {
		capacity = capacity.Merge(*capacityOverride)
	}
	overhead, err := t.Overhead.Total()
	if err != nil {
		return resources.List{}, err
	}
	if overheadOverride != nil {
		overhead = overhead.Merge(*overheadOverride)
	}
	// Otherwise a type without ephemeral storage would get a negative amount on a provider that
	// reserves some everywhere, and nothing would fit.
	for name := range overhead.All() {
		if _, listed := capacity.Lookup(name); !listed {
			overhead = overhead.Without(name)
		}
	}
	allocatable, err := capacity.Sub(overhead)
	if err != nil {
		return resources.List{}, fmt.Errorf("allocatable: %w", err)
	}
	return withoutHugePages(allocatable, capacity), nil
}

// withoutHugePages subtracts the huge pages of capacity from the memory of allocatable.
func withoutHugePages(allocatable, capacity resources.List) resources.List {
	memory, listed := allocatable.Lookup(corev1.ResourceMemory)
	if !listed {
		return allocatable
	}
	left := memory
	for name, pages := range capacity.All() {
		// Below zero the reduction stops, so it cannot overflow either.
		if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) && left > 0 && pages > 0 {
			left = max(left-pages, 0)
		}
	}
	if left == memory {
		return allocatable
	}
	return allocatable.With(corev1.ResourceMemory, left)
}

// Offering returns the offering of t with the given key, available or not. The
// pointer is into t.Offerings. It reports false if there is none, or if the key
// is of another instance type.
func (t *InstanceType) Offering(key OfferingKey) (*Offering, bool) {
	for i := range t.Offerings {
		if o := &t.Offerings[i]; o.Key(t.Name) == key {
			return o, true
		}
	}
	return nil, false
}

// Clone returns a copy of t that shares no mutable data with it: the offerings, limits, devices and
// overlay names of the copy may be modified.
func (t *InstanceType) Clone() *InstanceType {
	c := *t
	c.Offerings = slices.Clone(t.Offerings)
	c.VolumeAttachmentLimits = maps.Clone(t.VolumeAttachmentLimits)
	c.CapacityOverlays = maps.Clone(t.CapacityOverlays)
	c.Devices = cloneDevices(t.Devices)
	return &c
}
