package catalog

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Whereabouts returns requirements that list the zones and the capacity types of options.
func Whereabouts(options []cloudprovider.LaunchOption) []requirements.Requirement {
	var zones, capacityTypes []string
	lastZone, lastType := "", ""
	for _, o := range options {
		if o.Offering.Zone == lastZone && o.Offering.CapacityType == lastType {
			continue
		}
		lastZone, lastType = o.Offering.Zone, o.Offering.CapacityType
		if !slices.Contains(zones, o.Offering.Zone) {
			zones = append(zones, o.Offering.Zone)
		}
		if !slices.Contains(capacityTypes, o.Offering.CapacityType) {
			capacityTypes = append(capacityTypes, o.Offering.CapacityType)
		}
	}
	return []requirements.Requirement{
		requirements.In(corev1.LabelTopologyZone, zones...),
		requirements.In(v1.CapacityTypeLabelKey, capacityTypes...),
	}
}

// Reservations returns requirements that list the reservations of options, one for each label that
// names reservations. It returns nil if some option is not reserved, because such a requirement
// would exclude that option.
func Reservations(options []cloudprovider.LaunchOption) (out []requirements.Requirement) {
	ids := map[string][]string{} // by label
	for _, o := range options {
		if o.Offering.CapacityType != v1.CapacityTypeReserved {
			return nil
		}
		if key := reservationLabel(o.Offering); key != "" && !slices.Contains(ids[key], o.Offering.ReservationID) {
			ids[key] = append(ids[key], o.Offering.ReservationID)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, requirements.In(key, ids[key]...))
	}
	return out
}

// reservationLabel returns the label of an offering that has the reservation ID as its only value,
// "" if there is none.
func reservationLabel(o *cloudprovider.Offering) string {
	for r := range o.Requirements.All() {
		if values, finite := r.Values(); finite && len(values) == 1 && values[0] == o.ReservationID {
			return r.Key()
		}
	}
	return ""
}

// NodeLabels returns the labels of a node that do not depend on its option: the labels of the
// pool's template, and a value for each other label that asked requires to be present. Well-known
// labels are left out, and so are labels of the options, for which named returns true.
func NodeLabels(pool *Pool, asked requirements.Set, named func(key string) bool, v *requirements.Vocabulary) map[string]string {
	out := maps.Clone(pool.Object.Spec.Template.Labels)
	if out == nil {
		out = map[string]string{}
	}
	out[v1.NodePoolLabelKey] = pool.Object.Name
	if ref := pool.Object.Spec.Template.Spec.NodeClassRef; ref != nil && ref.Kind != "" {
		out[v1.NodeClassLabelKey(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})] = ref.Name
	}
	for r := range asked.All() {
		_, set := out[r.Key()]
		if set || v.WellKnown(r.Key()) || r.AllowsAbsent() || named(r.Key()) {
			continue
		}
		if value, ok := r.Any(); ok {
			out[r.Key()] = value
		}
	}
	return out
}

// Named says whether the type or the offering of any option names the label.
func Named(key string, options []cloudprovider.LaunchOption) bool {
	return slices.ContainsFunc(options, func(o cloudprovider.LaunchOption) bool {
		return defines(o, key)
	})
}

// Missed returns the requirements whose minValues is larger than the number of distinct values on
// the options.
func Missed(asked requirements.Set, options []cloudprovider.LaunchOption) []model.MissedMinValues {
	var out []model.MissedMinValues
	for r := range asked.All() {
		if r.MinValues() == 0 {
			continue
		}
		if have := distinctValues(r, options, r.MinValues()); have < r.MinValues() {
			out = append(out, model.MissedMinValues{Key: r.Key(), Want: r.MinValues(), Have: have})
		}
	}
	return out
}

// distinctValues counts the distinct values of a label on the options that a requirement on the
// label admits. It stops when there are enough.
func distinctValues(r requirements.Requirement, options []cloudprovider.LaunchOption, enough int) int {
	seen := map[string]bool{}
	for _, o := range options {
		if len(seen) >= enough {
			break
		}
		if !defines(o, r.Key()) {
			continue
		}
		have := r
		if own, ok := TypeRequirement(o.InstanceType, r.Key()); ok {
			have = have.Intersect(own)
		}
		if own, ok := OfferingRequirement(o.Offering, r.Key()); ok {
			have = have.Intersect(own)
		}
		values, _ := have.Values()
		for _, value := range values {
			seen[value] = true
		}
	}
	return len(seen)
}
