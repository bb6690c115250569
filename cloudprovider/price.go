package cloudprovider

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Cheapest returns the cheapest launchable offering of t by which a node can
// have labels that reqs admit, and false if there is none. Of offerings with
// one price the first by OfferingKey wins. The pointer is into t.Offerings.
//
// An offering is admitted when reqs and LaunchOption.Requirements overlap on
// every key that both name. Keys that only one names do not matter: labels that
// the type does not define may come from the node pool.
func (t *InstanceType) Cheapest(reqs requirements.Set) (*Offering, bool) {
	var best *Offering
	if !overlap(t.Requirements, reqs) {
		return nil, false
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if !o.Launchable() || !o.admittedBy(reqs) {
			continue
		}
		if best == nil || compareOfferings(t, o, t, best) < 0 {
			best = o
		}
	}
	return best, best != nil
}

// LaunchOptions returns every launchable offering of types by which a node can
// have labels that reqs admit (see Cheapest), cheapest first; of one price, in
// the order of OfferingKey. It is the list for a LaunchRequest where nothing but
// requirements matters, as for a pool of a fixed number of nodes. Types that are
// nil have none.
func LaunchOptions(types []*InstanceType, reqs requirements.Set) []LaunchOption {
	var options []LaunchOption
	for _, t := range types {
		if t == nil || !overlap(t.Requirements, reqs) {
			continue
		}
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Launchable() && o.admittedBy(reqs) {
				options = append(options, LaunchOption{InstanceType: t, Offering: o})
			}
		}
	}
	slices.SortStableFunc(options, LaunchOption.Compare)
	return options
}

// OrderByPrice returns types in the order of the price of their Cheapest
// offering, in a new slice. Types of one price are in the order of those
// offerings' keys; types with no launchable offering come last, by name. Types
// that are nil are left out.
func OrderByPrice(types []*InstanceType, reqs requirements.Set) []*InstanceType {
	type priced struct {
		t *InstanceType
		o *Offering
	}
	all := make([]priced, 0, len(types))
	for _, t := range types {
		if t != nil {
			o, _ := t.Cheapest(reqs)
			all = append(all, priced{t, o})
		}
	}
	slices.SortStableFunc(all, func(a, b priced) int {
		switch {
		case a.o != nil && b.o != nil:
			return compareOfferings(a.t, a.o, b.t, b.o)
		case a.o != nil:
			return -1
		case b.o != nil:
			return 1
		}
		return cmp.Compare(a.t.Name, b.t.Name)
	})
	ordered := make([]*InstanceType, len(all))
	for i := range all {
		ordered[i] = all[i].t
	}
	return ordered
}

// compareOfferings orders by price, then by key.
func compareOfferings(s *InstanceType, a *Offering, t *InstanceType, b *Offering) int {
	if c := cmp.Compare(sortPrice(a), sortPrice(b)); c != 0 {
		return c
	}
	return a.Key(s.Name).Compare(b.Key(t.Name))
}

// sortPrice keeps a price that is no number from looking like the best one.
func sortPrice(o *Offering) float64 {
	if math.IsNaN(o.Price) {
		return math.Inf(1)
	}
	return o.Price
}

// admittedBy reports whether Labels and reqs overlap, without building Labels.
func (o *Offering) admittedBy(reqs requirements.Set) bool {
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
