package provisioning

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// place is where and how an offering is sold, and the reservation that it draws on.
type place struct{ zone, capacityType, reservation string }

// placeOf is the one place of an offering.
func placeOf(o *cloudprovider.Offering) place { return place{o.Zone, o.CapacityType, o.ReservationID} }

// box returns options that make up a box: all that their types, zones, capacity types and
// reservations can be combined to and be bought as now. Tried are all options, and those of a
// zone, a capacity type, or a place, each without the types that break the box. Of several
// boxes one that misses fewer minValues is better, then one that is cheaper, then a larger
// one. Some box always exists, as one place alone makes one: of a type nothing else is sold
// there, but for reservations that no label tells apart.
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
			continue // and no better without some
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

// covers says whether an offering is sold there; an empty part means anywhere.
func (p place) covers(o *cloudprovider.Offering) bool {
	return (p.zone == "" || p.zone == o.Zone) && (p.capacityType == "" || p.capacityType == o.CapacityType) &&
		(p.reservation == "" || p.reservation == o.ReservationID)
}

// places lists what to try: everywhere, each zone, each capacity type, each
// place; in the order of the cheapest option of each.
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

// whole returns those options of whose types every launchable offering in the zones and
// capacity types of the options is listed, or is ruled out by what the NodeClaim requires.
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

// rulesOut says whether no node has a label that the offering has and that is asked for.
func rulesOut(asked requirements.Set, o *cloudprovider.Offering) bool {
	for own := range o.Requirements.All() {
		if r, found := asked.Get(own.Key()); found && !r.Overlaps(own) {
			return true
		}
	}
	return false
}
