package provisioning

import (
	"cmp"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/catalog"
)

// place is where and how an offering is sold.
type place struct{ zone, capacityType string }

// box returns the most options that make up a box: all that their types, zones
// and capacity types can be combined to and be bought as now. Of several boxes
// one that misses fewer minValues is better, then one that is cheaper, then a larger
// one. Some box always exists, as one place alone makes one.
func (n *NewNode) box() []cloudprovider.LaunchOption {
	listed := map[*cloudprovider.Offering]bool{}
	for _, o := range n.Options {
		listed[o.Offering] = true
	}
	var best []cloudprovider.LaunchOption
	fewest := 0
	worse := func(inside []cloudprovider.LaunchOption, short int) bool {
		return cmp.Or(cmp.Compare(short, fewest), cmp.Compare(inside[0].Offering.Price, best[0].Offering.Price), cmp.Compare(len(best), len(inside))) >= 0
	}
	for _, p := range n.places() {
		var inside []cloudprovider.LaunchOption
		for _, o := range n.Options {
			if p.covers(o.Offering) {
				inside = append(inside, o)
			}
		}
		short := len(catalog.Missed(n.Requirements, inside))
		if best != nil && worse(inside, short) {
			continue
		}
		if isBox(inside, listed) {
			best, fewest = inside, short
		}
	}
	return best
}

// covers says whether an offering is sold there; an empty part means anywhere.
func (p place) covers(o *cloudprovider.Offering) bool {
	return (p.zone == "" || p.zone == o.Zone) && (p.capacityType == "" || p.capacityType == o.CapacityType)
}

// places lists what to try: everywhere, each zone, each capacity type, each
// place; in the order of the cheapest option of each.
func (n *NewNode) places() []place {
	out := []place{{}}
	seen := map[place]bool{{}: true}
	for _, o := range n.Options {
		zone, capacityType := o.Offering.Zone, o.Offering.CapacityType
		for _, p := range []place{{zone: zone}, {capacityType: capacityType}, {zone, capacityType}} {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// isBox says whether every launchable offering of the types, zones and
// capacity types of options is listed.
func isBox(options []cloudprovider.LaunchOption, listed map[*cloudprovider.Offering]bool) bool {
	zones, capacityTypes := map[string]bool{}, map[string]bool{}
	for _, o := range options {
		zones[o.Offering.Zone] = true
		capacityTypes[o.Offering.CapacityType] = true
	}
	seen := map[*cloudprovider.InstanceType]bool{}
	for _, o := range options {
		if seen[o.InstanceType] {
			continue
		}
		seen[o.InstanceType] = true
		for i := range o.InstanceType.Offerings {
			other := &o.InstanceType.Offerings[i]
			if other.Launchable() && zones[other.Zone] && capacityTypes[other.CapacityType] && !listed[other] {
				return false
			}
		}
	}
	return true
}
