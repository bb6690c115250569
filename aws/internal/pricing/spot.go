package pricing

import (
	"fmt"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// SpotPrice is the spot price of an instance type in a zone.
type SpotPrice struct {
	// InstanceType and Zone are its name and that of the zone.
	InstanceType, Zone string
	// Price is per hour, in the Currency of the region.
	Price float64
}

// ParseSpot reads all pages of DescribeSpotPriceHistory. It uses entries that have an instance
// type, a zone by name, one of SpotProducts, and a price above zero. Of several for one type and
// zone the latest counts; of two with the same instant the lower price. The result is sorted by
// type and zone. The second result lists the other entries, in the order of the input.
func ParseSpot(history []ec2types.SpotPrice) ([]SpotPrice, []Skipped) {
	type latest struct {
		price float64
		at    time.Time
	}
	by := map[[2]string]latest{}
	var skipped []Skipped
	for i := range history {
		h := &history[i]
		name, zone := string(h.InstanceType), awssdk.ToString(h.AvailabilityZone)
		price, ok := parsePrice(awssdk.ToString(h.SpotPrice))
		fault := typeFault(name)
		switch {
		case fault != "":
			fault = "instance type: " + fault
		case zone == "":
			fault = name + " without the name of a zone"
		case !slices.Contains(SpotProducts(), string(h.ProductDescription)):
			fault = fmt.Sprintf("%s in %s is for %q, want one of %q", name, zone, h.ProductDescription, SpotProducts())
		case !ok:
			fault = fmt.Sprintf("%s in %s: price %q is no number above zero", name, zone, awssdk.ToString(h.SpotPrice))
		}
		if fault != "" {
			skipped = append(skipped, Skipped{i, fault})
			continue
		}
		next := latest{price: price}
		if h.Timestamp != nil {
			next.at = *h.Timestamp
		}
		key := [2]string{name, zone}
		old, found := by[key]
		if !found || next.at.After(old.at) || next.at.Equal(old.at) && next.price < old.price {
			by[key] = next
		}
	}
	out := make([]SpotPrice, 0, len(by))
	for key, l := range by {
		out = append(out, SpotPrice{key[0], key[1], l.price})
	}
	slices.SortFunc(out, func(a, b SpotPrice) int { return a.scope().Compare(b.scope()) })
	return out, skipped
}

func (s SpotPrice) scope() cloudprovider.Scope {
	return cloudprovider.Scope{InstanceType: s.InstanceType, Zone: s.Zone, CapacityType: karpv1.CapacityTypeSpot}
}

func (p Product) scope() cloudprovider.Scope {
	return cloudprovider.Scope{InstanceType: p.InstanceType, CapacityType: karpv1.CapacityTypeOnDemand}
}

// entries are prices by their scope.
type entries map[cloudprovider.Scope]pricing.Entry

func (e entries) add(scope cloudprovider.Scope, price float64, at time.Time) {
	e[scope] = pricing.Entry{Scope: scope, Price: price, At: at}
}
