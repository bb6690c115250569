package launch

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Compatible returns every launchable offering of types whose labels satisfy reqs, cheapest first;
// with equal prices, in the order of cloudprovider.OfferingKey. It is the list for a LaunchRequest
// that depends on requirements alone, as for a pool with a fixed number of nodes. Nil types are
// ignored.
//
// The labels of an offering satisfy reqs if reqs and LaunchOption.Requirements overlap on every key
// that both name. Keys that only one of them names are ignored: labels that the type does not
// define may come from the node pool.
func Compatible(types []*cloudprovider.InstanceType, reqs requirements.Set) []cloudprovider.LaunchOption {
	var options []cloudprovider.LaunchOption
	for _, t := range types {
		if t == nil || !overlap(t.Requirements, reqs) {
			continue
		}
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Launchable() && admitted(o, reqs) {
				options = append(options, cloudprovider.LaunchOption{InstanceType: t, Offering: o})
			}
		}
	}
	slices.SortStableFunc(options, cloudprovider.LaunchOption.Compare)
	return options
}

// admitted reports whether the labels of an offering and reqs overlap, without
// building the labels.
func admitted(o *cloudprovider.Offering, reqs requirements.Set) bool {
	if zone, found := reqs.Get(corev1.LabelTopologyZone); found && o.Zone != "" && !zone.Has(o.Zone) {
		return false
	}
	if capacityType, found := reqs.Get(v1.CapacityTypeLabelKey); found && o.CapacityType != "" && !capacityType.Has(o.CapacityType) {
		return false
	}
	return overlap(o.Requirements, reqs)
}

// overlap reports whether a and b have a state in common on every key that
// both name.
func overlap(a, b requirements.Set) bool {
	if b.Len() < a.Len() {
		a, b = b, a // a type has some dozens of labels, a request few
	}
	for r := range a.All() {
		if s, found := b.Get(r.Key()); found && !r.Overlaps(s) {
			return false
		}
	}
	return true
}
