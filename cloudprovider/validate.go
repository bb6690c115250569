package cloudprovider

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Validate returns nil if t is sound, and otherwise an error that lists every
// fault, one a line, with the instance type, the place in it and the remedy.
// Faults are, in this order:
//
//   - an empty name, or requirements that contradict themselves or the name;
//   - a capacity without pods, a negative amount in the capacity or in the overhead, or a
//     difference of the two outside of int64;
//   - a volume limit below zero;
//   - a device without a driver, with a count below one, with a node set, or with an attribute that
//     does not have exactly one value;
//   - of each offering: no zone or capacity type, or another spelling of spot,
//     on-demand or reserved, such as Spot; a second one with the same key; a
//     reservation ID on other than reserved capacity, or the reverse; a negative
//     reservation capacity; a price that is not a number of USD per hour (above
//     zero if the offering is Available, else zero or more; at most MaxPrice); requirements that
//     contradict themselves or those of the type; negative amounts in an
//     override.
//
// Overhead above capacity is not a fault: such types exist, and no pod fits on them.
func (t *InstanceType) Validate() error {
	f := faults{prefix: "instance type " + t.Name}
	if t.Name == "" {
		f.prefix = "instance type without a name"
		f.add("name: empty; set it to the value of %s", corev1.LabelInstanceTypeStable)
	}
	f.contradictions("requirements", t.Requirements)
	if r, found := t.Requirements.Get(corev1.LabelInstanceTypeStable); found && !r.Impossible() && !r.Has(t.Name) {
		f.add("requirements: %s does not admit the name; use In with the name alone", r)
	}
	if t.Capacity.Get(corev1.ResourcePods) <= 0 {
		f.add("capacity: no pods, so that nothing fits; set %s to the number of pods a node can run", corev1.ResourcePods)
	}
	f.negative("capacity", t.Capacity)
	f.negative("overhead.kubeReserved", t.Overhead.KubeReserved)
	f.negative("overhead.systemReserved", t.Overhead.SystemReserved)
	f.negative("overhead.evictionThreshold", t.Overhead.EvictionThreshold)
	if _, err := t.allocatable(nil, nil); err != nil {
		f.add("%w", err)
	}
	for _, driver := range slices.Sorted(maps.Keys(t.VolumeAttachmentLimits)) {
		if n := t.VolumeAttachmentLimits[driver]; n < 0 {
			f.add("volumeAttachmentLimits: %s: %d; use zero or more, or leave the driver out for no limit", driver, n)
		}
	}
	validateDevices(&f, t.Devices)
	seen := make(map[OfferingKey]bool, len(t.Offerings))
	for i := range t.Offerings {
		key := t.Offerings[i].Key(t.Name)
		f.offering(t, &t.Offerings[i], place{index: i, key: key}, seen[key])
		seen[key] = true
	}
	return errors.Join(f.errs...)
}

// faults collects what is wrong with one object.
type faults struct {
	prefix string
	errs   []error
}

func (f *faults) add(format string, args ...any) {
	// Not in one format: the prefix has names, which may contain a percent sign.
	f.errs = append(f.errs, fmt.Errorf("%s: %w", f.prefix, fmt.Errorf(format, args...)))
}

// place is the position of a fault in an instance type. It is formatted only for a fault: catalogs
// have thousands of offerings, and hardly ever a fault.
type place struct {
	index int
	key   OfferingKey
	part  string // of the offering, empty for the whole offering
}

func (p place) of(part string) place { return place{p.index, p.key, ": " + part} }

func (p place) String() string { return fmt.Sprintf("offering %d (%s)%s", p.index, p.key, p.part) }

func (f *faults) contradictions(where any, s requirements.Set) {
	for r := range s.All() {
		if r.Impossible() {
			f.add("%s: %s contradicts itself; no node can have such a label", where, r)
		}
	}
}

func (f *faults) negative(where any, l resources.List) {
	for _, name := range l.Negative() {
		f.add("%s: resource %s: %s; use zero or more", where, name, resources.Format(name, l.Get(name)))
	}
}

func (f *faults) offering(t *InstanceType, o *Offering, where place, duplicate bool) {
	if o.Zone == "" {
		f.add("%s: zone: empty; set it to the value of %s", where, corev1.LabelTopologyZone)
	}
	if o.CapacityType == "" {
		f.add("%s: capacityType: empty; use %s, %s or %s", where,
			v1.CapacityTypeSpot, v1.CapacityTypeOnDemand, v1.CapacityTypeReserved)
	}
	if want := meantCapacityType(o.CapacityType); want != o.CapacityType {
		f.add("%s: capacityType: %q; write %s, or no pool that asks for it gets the offering", where, o.CapacityType, want)
	}
	if duplicate {
		f.add("%s: offered twice; zone, capacity type and reservation must differ", where)
	}
	f.reservation(where, o)
	f.price(where, o)
	if !t.sells(o) {
		f.labels(t, o, where)
	}
	if o.Capacity != nil {
		f.negative(where.of("capacity"), *o.Capacity)
	}
	if o.Overhead != nil {
		f.negative(where.of("overhead"), *o.Overhead)
	}
	if o.Capacity != nil || o.Overhead != nil {
		if _, err := t.allocatable(o.Capacity, o.Overhead); err != nil {
			f.add("%s: %w", where, err)
		}
	}
}

// sells reports whether the labels of an offering agree with those of the type, without merging
// them. It is false for an offering that names its zone or its capacity type twice.
func (t *InstanceType) sells(o *Offering) bool {
	zone, _ := t.Requirements.Get(corev1.LabelTopologyZone)
	kind, _ := t.Requirements.Get(v1.CapacityTypeLabelKey)
	if !zone.Has(o.Zone) || !kind.Has(o.CapacityType) {
		return false
	}
	for r := range o.Requirements.All() {
		if r.Key() == corev1.LabelTopologyZone || r.Key() == v1.CapacityTypeLabelKey || r.Impossible() {
			return false
		}
		if of, found := t.Requirements.Get(r.Key()); found && !of.Overlaps(r) {
			return false
		}
	}
	return true
}

// labels adds the faults of the labels of an offering, one by one.
func (f *faults) labels(t *InstanceType, o *Offering, where place) {
	labels := o.Labels()
	f.contradictions(where.of("requirements"), labels)
	for r := range labels.All() {
		if of, found := t.Requirements.Get(r.Key()); found && !of.Impossible() && !r.Impossible() && !of.Overlaps(r) {
			f.add("%s: %s, but the instance type has %s; widen the requirements of the type", where, r, of)
		}
	}
}

// meantCapacityType returns the capacity type of which a text is another spelling, such as Spot or
// on_demand, else the text.
func meantCapacityType(text string) string {
	switch text {
	case v1.CapacityTypeSpot, v1.CapacityTypeOnDemand, v1.CapacityTypeReserved:
		return text
	}
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	for _, known := range []string{v1.CapacityTypeSpot, v1.CapacityTypeOnDemand, v1.CapacityTypeReserved} {
		if strings.EqualFold(plain.Replace(text), plain.Replace(known)) {
			return known
		}
	}
	return text
}

func (f *faults) reservation(where place, o *Offering) {
	switch reserved := o.CapacityType == v1.CapacityTypeReserved; {
	case reserved && o.ReservationID == "":
		f.add("%s: reservationID: empty; name the reservation that it draws on", where)
	case !reserved && o.ReservationID != "":
		f.add("%s: reservationID: %s on capacity type %q; use capacity type %s or leave it empty",
			where, o.ReservationID, o.CapacityType, v1.CapacityTypeReserved)
	}
	if o.ReservationCapacity < 0 {
		f.add("%s: reservationCapacity: %d; use zero for a full reservation", where, o.ReservationCapacity)
	}
}

func (f *faults) price(where place, o *Offering) {
	switch {
	case !(o.Price >= 0 && o.Price <= MaxPrice):
		f.add("%s: price: %v; use a price in USD per hour, above zero and at most %v", where, o.Price, float64(MaxPrice))
		return // NodeCost, as a part of it, cannot be checked
	case o.Price == 0 && o.Available:
		f.add("%s: price: 0; use a price above zero, a tiny one for capacity already paid for, "+
			"or set available to false while the price is unknown", where)
	}
	if c := o.NodeCost; math.IsNaN(c) || c < 0 || c > o.Price {
		f.add("%s: nodeCost: %v of a price of %v; it is the part of the price that is not for the instance, in USD per hour", where, c, o.Price)
	}
}
