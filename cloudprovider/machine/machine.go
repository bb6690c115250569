package machine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Machine is one kind of machine as a cloud describes it. It is read-only.
type Machine struct {
	// Name is the name of the instance type. Required.
	Name string
	// Arch is the architecture: v1.ArchitectureAmd64 or v1.ArchitectureArm64,
	// as a rule. Required.
	Arch string
	// OS are the operating systems that it can boot, in any order. Empty means
	// linux.
	OS []string
	// Region is the region of all its zones. Empty means that the cloud has no
	// regions: the label does not exist.
	Region string

	// Labels are further labels with one value.
	Labels map[string]string
	// Requirements are further labels with several values or any value. A label must not be in
	// both, nor in either if it follows from another field.
	Requirements requirements.Set

	// Capacity is the full size of the machine, including "pods". Required.
	Capacity resources.List
	// Overhead is the part of Capacity that pods cannot use.
	Overhead cloudprovider.Overhead
	// Offerings are the ways to buy it, in any order. Zones and capacity types
	// of the instance type are those of its offerings. A price of zero may
	// stay, for a price book to fill in; see pricing.Book.Apply.
	Offerings []cloudprovider.Offering
	// VolumeAttachmentLimits are those of the InstanceType.
	VolumeAttachmentLimits map[string]int64
	// Devices are those of the InstanceType.
	Devices []cloudprovider.InstanceDevice
}

// InstanceType returns the instance type of the machine. wellKnown are the
// labels that the provider adds to v1.WellKnownLabels, those of its
// Vocabulary's Extension, in any order.
//
// The requirements of the instance type name every well-known label except that of the NodePool, in
// this order of precedence:
//
//  1. The labels of name, architecture, operating system, region, zone and capacity type are set
//     by the fields of Machine.
//  2. A label in Labels or Requirements, well-known or not, has the values given there.
//  3. A label for which the Requirements of every offering have values has all these values.
//  4. Any other label that some offering names, such as the reservation, is left out of the
//     requirements of the type and is in those of each offering: with DoesNotExist, if the offering
//     did not name it.
//  5. Every other well-known label is DoesNotExist.
//
// The offerings are sorted by OfferingKey. The result shares no mutable data with m. The error
// lists every fault: a label given twice, and the faults of InstanceType.Validate except prices of
// zero.
func (m Machine) InstanceType(wellKnown ...string) (*cloudprovider.InstanceType, error) {
	var faults []error
	own := m.own()
	for _, r := range own {
		key := r.Key()
		_, labelled := m.Labels[key]
		if _, required := m.Requirements.Get(key); labelled || required {
			faults = append(faults, fmt.Errorf("machine %s: label %s follows from the other fields; leave it out of labels and requirements", m.Name, key))
		}
	}
	set := m.Requirements
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		if _, twice := m.Requirements.Get(key); twice {
			faults = append(faults, fmt.Errorf("machine %s: label %s is in labels and in requirements; keep one", m.Name, key))
		}
		set = set.With(requirements.In(key, m.Labels[key]))
	}
	if m.Arch == "" {
		faults = append(faults, fmt.Errorf("machine %s: arch: empty; use %s or %s", m.Name, v1.ArchitectureAmd64, v1.ArchitectureArm64))
	}
	set = set.With(own...)
	t := (&cloudprovider.InstanceType{
		Name:                   m.Name,
		Capacity:               m.Capacity,
		Overhead:               m.Overhead,
		Offerings:              m.Offerings,
		VolumeAttachmentLimits: m.VolumeAttachmentLimits,
		Devices:                m.Devices,
	}).Clone()
	slices.SortStableFunc(t.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(m.Name).Compare(b.Key(m.Name)) })
	t.Requirements = withAllLabels(t.Offerings, set, wellKnown)
	if err := errors.Join(errors.Join(faults...), priced(t).Validate()); err != nil {
		return nil, err
	}
	return t, nil
}

// priced returns t with a price for offerings without one, so that Validate reports only other
// faults.
func priced(t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	c := t.Clone()
	for i := range c.Offerings {
		if c.Offerings[i].Price == 0 {
			c.Offerings[i].Price = 1
		}
	}
	return c
}

// own returns the requirements that follow from fields.
func (m *Machine) own() []requirements.Requirement {
	known := func(key string, values ...string) requirements.Requirement {
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		if len(values) == 0 {
			return requirements.DoesNotExist(key)
		}
		return requirements.In(key, values...)
	}
	var zones, capacityTypes []string
	for i := range m.Offerings {
		zones = append(zones, m.Offerings[i].Zone)
		capacityTypes = append(capacityTypes, m.Offerings[i].CapacityType)
	}
	systems := slices.Clone(m.OS)
	if len(systems) == 0 {
		systems = []string{string(corev1.Linux)}
	}
	return []requirements.Requirement{
		known(corev1.LabelInstanceTypeStable, m.Name),
		known(corev1.LabelArchStable, m.Arch),
		known(corev1.LabelOSStable, systems...),
		known(corev1.LabelTopologyRegion, m.Region),
		known(corev1.LabelTopologyZone, zones...),
		known(v1.CapacityTypeLabelKey, capacityTypes...),
	}
}

// withAllLabels returns set with the labels that it leaves open added, to the set or to the offerings.
func withAllLabels(offerings []cloudprovider.Offering, set requirements.Set, wellKnown []string) requirements.Set {
	named := map[string]bool{}
	for i := range offerings {
		for r := range offerings[i].Requirements.All() {
			named[r.Key()] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if _, done := set.Get(key); done {
			continue
		}
		if values, ok := union(offerings, key); ok {
			set = set.With(requirements.In(key, values...))
			continue
		}
		for i := range offerings {
			if _, done := offerings[i].Requirements.Get(key); !done {
				offerings[i].Requirements = offerings[i].Requirements.With(requirements.DoesNotExist(key))
			}
		}
	}
	for _, key := range vocabulary(wellKnown) {
		if _, done := set.Get(key); !done && !named[key] {
			set = set.With(requirements.DoesNotExist(key))
		}
	}
	return set
}

// union returns the values that the offerings have for a label, and false
// unless each of them lists some.
func union(offerings []cloudprovider.Offering, key string) ([]string, bool) {
	var all []string
	for i := range offerings {
		r, named := offerings[i].Requirements.Get(key)
		values, finite := r.Values()
		if !named || !finite || len(values) == 0 {
			return nil, false
		}
		all = append(all, values...)
	}
	return all, true
}

// vocabulary returns the labels that instance types must name, sorted. The label of the NodePool is
// not among them.
func vocabulary(wellKnown []string) []string {
	all := append(v1.WellKnownLabels(), wellKnown...)
	all = slices.DeleteFunc(all, func(key string) bool { return key == v1.NodePoolLabelKey || key == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// OpenLabels returns the well-known labels that t leaves open, sorted: those
// that neither its requirements nor those of every offering name. wellKnown are
// the labels that the provider adds to v1.WellKnownLabels. The label of the
// NodePool is always open and is left out. It returns nil for a nil t.
func OpenLabels(t *cloudprovider.InstanceType, wellKnown ...string) []string {
	if t == nil {
		return nil
	}
	var open []string
	for _, key := range vocabulary(wellKnown) {
		if _, settled := t.Requirements.Get(key); settled {
			continue
		}
		by := 0
		for i := range t.Offerings {
			labels := t.Offerings[i].Labels()
			if _, settled := labels.Get(key); settled {
				by++
			}
		}
		if by < len(t.Offerings) || by == 0 {
			open = append(open, key)
		}
	}
	return open
}
