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

// Whereabouts states the zones and capacity types of options.
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

// Reservations states the reservations of options, by the labels that name them. It states
// none if some option is not reserved, as a label would then rule out that one.
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

// reservationLabel is the label of an offering whose value is its reservation; empty if
// there is none.
func reservationLabel(o *cloudprovider.Offering) string {
	for r := range o.Requirements.All() {
		if values, finite := r.Values(); finite && len(values) == 1 && values[0] == o.ReservationID {
			return r.Key()
		}
	}
	return ""
}

// NodeLabels are the labels that the pool gives a node whatever it is launched
// as: those of the template, and a value for each further label that is asked
// for and that nobody else sets. named says which labels those options have that it is
// launched as.
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

// Named says whether some option has a label of its own.
func Named(key string, options []cloudprovider.LaunchOption) bool {
	return slices.ContainsFunc(options, func(o cloudprovider.LaunchOption) bool {
		return defines(o, key)
	})
}

// Missed returns the requirements of which options have fewer values than
// their minValues.
func Missed(asked requirements.Set, options []cloudprovider.LaunchOption) []model.MissedMinValues {
	var out []model.MissedMinValues
	for r := range asked.All() {
		if r.MinValues() == 0 {
			continue
		}
		if have := distinctValues(r, options); have < r.MinValues() {
			out = append(out, model.MissedMinValues{Key: r.Key(), Want: r.MinValues(), Have: have})
		}
	}
	return out
}

// distinctValues counts the values of a label that options have and that a
// requirement on it admits.
func distinctValues(r requirements.Requirement, options []cloudprovider.LaunchOption) int {
	seen := map[string]bool{}
	for _, o := range options {
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
