package cloudprovidertest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
)

func catalogSound(p *probe) {
	types, err := p.Provider.InstanceTypes(p.ctx, p.Pool)
	p.must(err == nil, "InstanceTypes: %v", err)
	for i, t := range types {
		if t == nil {
			p.fail("instance type %d of the list is nil; leave it out", i)
		} else if err := t.Validate(); err != nil {
			p.fail("%v", err)
		}
	}
	for _, t := range p.types() {
		if slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.Launchable() }) {
			return
		}
	}
	p.fail("none of %d instance types can be launched; a machine that costs nothing known is not available", len(types))
}

func catalogSorted(p *probe) {
	last := ""
	for i, t := range p.types() {
		switch {
		case i > 0 && t.Name == last:
			p.fail("%s is there twice; tell the types apart by name", t.Name)
		case t.Name < last:
			p.fail("%s comes after %s; sort by name, in byte order", t.Name, last)
		}
		last = t.Name
		for n := 1; n < len(t.Offerings); n++ {
			before, key := t.Offerings[n-1].Key(t.Name), t.Offerings[n].Key(t.Name)
			if key.Compare(before) < 0 {
				p.fail("offering %s comes after %s; sort by OfferingKey.Compare", key, before)
			}
		}
	}
}

func catalogLabels(p *probe) {
	types := p.types()
	vocabulary := cloudprovider.Vocabulary(p.Provider)
	wellKnown := map[string]bool{}
	for _, key := range p.WellKnownLabels {
		wellKnown[key] = true
	}
	for _, t := range types {
		for r := range t.Requirements.All() {
			wellKnown[r.Key()] = wellKnown[r.Key()] || vocabulary.WellKnown(r.Key())
		}
		for i := range t.Offerings {
			for r := range t.Offerings[i].Requirements.All() {
				wellKnown[r.Key()] = wellKnown[r.Key()] || vocabulary.WellKnown(r.Key())
			}
		}
	}
	maps.DeleteFunc(wellKnown, func(_ string, is bool) bool { return !is })
	keys := slices.Sorted(maps.Keys(wellKnown))
	for _, t := range types {
		if open := machine.OpenLabels(t, keys...); len(open) > 0 {
			p.fail("%s leaves open %s; name each with its values, or with DoesNotExist", t.Name, strings.Join(open, ", "))
		}
	}
}

func catalogOfferings(p *probe) {
	for _, t := range p.types() {
		zones, capacityTypes := map[string]bool{}, map[string]bool{}
		for _, o := range t.Offerings {
			zones[o.Zone], capacityTypes[o.CapacityType] = true, true
		}
		if len(t.Offerings) > 0 {
			p.values(t, corev1.LabelTopologyZone, zones)
			p.values(t, v1.CapacityTypeLabelKey, capacityTypes)
		}
		p.values(t, corev1.LabelInstanceTypeStable, map[string]bool{t.Name: true})
	}
}

// values fails unless a label of an instance type has exactly these values. It ignores labels
// without a requirement, which another check reports.
func (p *probe) values(t *cloudprovider.InstanceType, key string, want map[string]bool) {
	r, named := t.Requirements.Get(key)
	if !named {
		return
	}
	if got, finite := r.Values(); !finite || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(maps.Keys(want))) {
		p.fail("%s has %s; want %s to be in (%s)", t.Name, r, key, strings.Join(slices.Sorted(maps.Keys(want)), ", "))
	}
}

func catalogCapacity(p *probe) {
	for _, t := range p.types() {
		if slices.Contains(p.TooSmall, t.Name) {
			continue
		}
		for i := range t.Offerings {
			o := &t.Offerings[i]
			room, err := t.AllocatableFor(o)
			if err != nil {
				p.fail("%v", err)
				continue
			}
			var nothing []string
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
				if room.Get(name) <= 0 {
					nothing = append(nothing, string(name))
				}
			}
			if len(nothing) > 0 {
				p.fail("%s: nothing is left of %s: allocatable is %s; correct capacity and overhead, or list the type in Harness.TooSmall",
					o.Key(t.Name), strings.Join(nothing, ", "), room)
				break // the other offerings have the same fault
			}
		}
	}
}

func catalogReservations(p *probe) {
	type holder struct {
		key  cloudprovider.OfferingKey
		left int
	}
	first := map[string]holder{}
	for _, t := range p.types() {
		for _, o := range t.Offerings {
			if o.ReservationID == "" {
				continue
			}
			h, seen := first[o.ReservationID]
			if !seen {
				first[o.ReservationID] = holder{o.Key(t.Name), o.ReservationCapacity}
			} else if h.left != o.ReservationCapacity {
				p.fail("%s says that %d are left, and %s that %d are; of one reservation both say the same",
					h.key, h.left, o.Key(t.Name), o.ReservationCapacity)
			}
		}
	}
}

func catalogStable(p *probe) {
	first, second := p.types(), p.types()
	if len(first) != len(second) {
		p.fail("of two calls the first returned %d instance types and the second %d", len(first), len(second))
		return
	}
	for i := range first {
		if a, b := describe(first[i]), describe(second[i]); a != b {
			p.fail("two calls differ at instance type %d, %s: %s", i, first[i].Name, difference(a, b))
			return
		}
	}
}

// difference shows where two texts that are not equal begin to differ.
func difference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := strings.LastIndexAny(a[:at], ";:,") + 1 // the name of what differs
	show := func(text string) string {
		const most = 60
		if rest := strings.TrimSpace(text[from:]); len(rest) > most {
			return rest[:most] + "..."
		}
		return strings.TrimSpace(text[from:])
	}
	return fmt.Sprintf("first %q, then %q", show(a), show(b))
}

// describe returns a text of an instance type without prices and stock, which may change at any
// time.
func describe(t *cloudprovider.InstanceType) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s; capacity %s; overhead %s, %s, %s; volumes %v", t.Name, t.Requirements, t.Capacity,
		t.Overhead.KubeReserved, t.Overhead.SystemReserved, t.Overhead.EvictionThreshold, t.VolumeAttachmentLimits)
	for _, d := range t.Devices {
		fmt.Fprintf(&b, "; %d devices of %s", d.Count, d.Driver)
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		fmt.Fprintf(&b, "; %s %s %s", o.Key(t.Name), o.ID, o.Requirements)
	}
	return b.String()
}

// The usual range of the price of a CPU, in USD per hour, from the smallest shared machines to
// large ones with GPUs.
const leastPerCPU, mostPerCPU = 0.001, 1.0

func catalogPrices(p *probe) {
	var perCPU []float64
	listed := map[cloudprovider.OfferingKey]float64{}
	for _, t := range p.types() {
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if o.Price <= 0 || o.CapacityType == v1.CapacityTypeReserved {
				continue
			}
			listed[o.Key(t.Name)] = o.Price
			if cpus := float64(t.Capacity.Get(corev1.ResourceCPU)) / 1000; cpus > 0 {
				perCPU = append(perCPU, o.Price/cpus)
			}
		}
	}
	if len(p.Prices) > 0 {
		for _, key := range slices.SortedFunc(maps.Keys(p.Prices), cloudprovider.OfferingKey.Compare) {
			got, want := listed[key], p.Prices[key]
			if got > nearPrice*want || want > nearPrice*got {
				p.fail("InstanceTypes: the price of %s is %v; by Harness.Prices it is %v", key, got, want)
			}
		}
		return
	}
	if len(perCPU) == 0 {
		return // another check is about this
	}
	slices.Sort(perCPU)
	if median := perCPU[len(perCPU)/2]; median < leastPerCPU || median > mostPerCPU {
		p.fail("InstanceTypes: a CPU of the median offering costs %.4g an hour; use USD per hour, and neither cents nor the price of a month. If it does cost that, list some prices in Harness.Prices",
			median)
	}
}

// nearPrice is the largest factor between a price in the catalog and that in Harness.Prices. They
// may differ because of volumes and addresses.
const nearPrice = 2

func catalogUnfiltered(p *probe) {
	all := p.types()
	p.must(len(all) > 0, "InstanceTypes: none")
	narrow := p.Pool.DeepCopy()
	narrow.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{all[0].Name}},
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"no-such-zone"}},
	}
	before := narrow.DeepCopy()
	types, err := p.Provider.InstanceTypes(p.ctx, narrow)
	p.must(err == nil, "InstanceTypes: %v", err)
	types = slices.DeleteFunc(slices.Clone(types), func(t *cloudprovider.InstanceType) bool { return t == nil })
	if len(types) != len(all) {
		p.fail("a pool that admits one type in no zone gets %d instance types; want all %d", len(types), len(all))
	}
	offerings := func(types []*cloudprovider.InstanceType) (n int) {
		for _, t := range types {
			n += len(t.Offerings)
		}
		return n
	}
	if got, want := offerings(types), offerings(all); got != want {
		p.fail("a pool that admits no zone gets %d offerings; want all %d", got, want)
	}
	if !reflect.DeepEqual(narrow, before) {
		p.fail("the pool was changed by the call; it is read-only")
	}
}
