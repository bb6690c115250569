package provisioning

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// place is the zone, capacity type and reservation of an offering. An empty field stands for all.
type place struct{ zone, capacityType, reservation string }

// placeOf returns the place of an offering.
func placeOf(o *cloudprovider.Offering) place { return place{o.Zone, o.CapacityType, o.ReservationID} }

// box returns options that form a box: every available combination of their instance types, zones,
// capacity types and reservations is one of them. It tries all options, then the options of each
// zone, of each capacity type, and of each combination of both. In each try it leaves out the
// instance types that break the box. Of several boxes it chooses the one that misses fewest
// minValues, then the cheapest, then the largest. There is always a box, because the options of one
// zone and capacity type form one: a type has one offering there, except reservations without
// distinguishing labels.
func (n *NewNode) box() []cloudprovider.LaunchOption {
	listed := map[*cloudprovider.Offering]bool{}
	for _, o := range n.Options {
		listed[o.Offering] = true
	}
	var best []cloudprovider.LaunchOption
	fewest := 0
	worse := func(inside []cloudprovider.LaunchOption) bool {
		return best != nil && cmp.Or(cmp.Compare(len(catalog.Missed(n.Requirements, inside)), fewest),
			cmp.Compare(inside[0].Offering.Price, best[0].Offering.Price), cmp.Compare(len(best), len(inside))) >= 0
	}
	for _, p := range n.places() {
		var inside []cloudprovider.LaunchOption
		for _, o := range n.Options {
			if p.covers(o.Offering) {
				inside = append(inside, o)
			}
		}
		if worse(inside) {
			continue // it does not get better with fewer options
		}
		if p != placeOf(inside[0].Offering) {
			inside = n.whole(inside, listed)
		}
		if len(inside) > 0 && !worse(inside) {
			best, fewest = inside, len(catalog.Missed(n.Requirements, inside))
		}
	}
	return best
}

// covers says whether an offering is in the place.
func (p place) covers(o *cloudprovider.Offering) bool {
	return (p.zone == "" || p.zone == o.Zone) && (p.capacityType == "" || p.capacityType == o.CapacityType) &&
		(p.reservation == "" || p.reservation == o.ReservationID)
}

// places lists the places to try: everywhere, each zone, each capacity type, each single place, in
// the order of their cheapest options.
func (n *NewNode) places() []place {
	out := []place{{}}
	seen := map[place]bool{{}: true}
	for _, o := range n.Options {
		for _, p := range []place{{zone: o.Offering.Zone}, {capacityType: o.Offering.CapacityType}, placeOf(o.Offering)} {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// whole returns the options of instance types that are complete: every available offering of the
// type, in the zones and capacity types of the options, is listed or excluded by the requirements
// of the NodeClaim.
func (n *NewNode) whole(options []cloudprovider.LaunchOption, listed map[*cloudprovider.Offering]bool) []cloudprovider.LaunchOption {
	zones, capacityTypes := map[string]bool{}, map[string]bool{}
	for _, o := range options {
		zones[o.Offering.Zone] = true
		capacityTypes[o.Offering.CapacityType] = true
	}
	asked := n.Requirements.With(catalog.Reservations(options)...)
	breaks := map[*cloudprovider.InstanceType]bool{}
	for _, o := range options {
		if _, seen := breaks[o.InstanceType]; seen {
			continue
		}
		breaks[o.InstanceType] = false
		for i := range o.InstanceType.Offerings {
			other := &o.InstanceType.Offerings[i]
			if other.Launchable() && zones[other.Zone] && capacityTypes[other.CapacityType] && !listed[other] && !rulesOut(asked, other) {
				breaks[o.InstanceType] = true
			}
		}
	}
	return slices.DeleteFunc(options, func(o cloudprovider.LaunchOption) bool { return breaks[o.InstanceType] })
}

// rulesOut says whether the requirements of an offering and those asked of the node have a label
// with no common value.
func rulesOut(asked requirements.Set, o *cloudprovider.Offering) bool {
	for own := range o.Requirements.All() {
		if r, found := asked.Get(own.Key()); found && !r.Overlaps(own) {
			return true
		}
	}
	return false
}
