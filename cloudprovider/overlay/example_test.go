package overlay_test

import (
	"fmt"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
)

// A discount on everything, a correction for one zone, and an accelerator that
// the provider does not know of.
func Example() {
	pools := []*v1.NodePool{overlayPool("general", "")}
	overlays := []*v1.NodeOverlay{
		newOverlay("discount", 1, "karpenter.sh/capacity-type = on-demand", "-20%"),
		newOverlay("zone-b", 10, "topology.kubernetes.io/zone = b", "+0.05"),
		newOverlay("card", 0, "node.kubernetes.io/instance-type = m5.large", "example.com/card=2"),
	}
	types, statuses, err := overlay.Apply(overlays, pools, overlayCatalogs(pools, overlayType("m5.large", "", 0.10)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	large := types["general"][0]
	for _, o := range large.Offerings {
		fmt.Printf("%s %.3f %q\n", o.Key(large.Name), o.Price, o.PriceOverlay)
	}
	fmt.Println(large.Capacity)
	for _, s := range statuses {
		fmt.Printf("%s: %d offerings, %d priced, %d types resized\n", s.Name, s.Offerings, s.Priced, s.Resized)
	}

	// Output:
	// m5.large/a/on-demand 0.080 "discount"
	// m5.large/a/spot 0.050 ""
	// m5.large/b/on-demand 0.150 "zone-b"
	// m5.large/b/spot 0.100 "zone-b"
	// cpu=4, example.com/card=2, memory=16Gi, pods=58
	// card: 4 offerings, 0 priced, 1 types resized
	// discount: 2 offerings, 1 priced, 0 types resized
	// zone-b: 2 offerings, 2 priced, 0 types resized
}

// What becomes of a price, and of one that would be nothing.
func ExampleAdjustPrice() {
	for _, adjustment := range []string{"+10%", "-0.05", "-100%", "ten"} {
		price, err := overlay.AdjustPrice(0.2, adjustment)
		fmt.Println(price, err)
	}

	// Output:
	// 0.22 <nil>
	// 0.15000000000000002 <nil>
	// 2e-08 <nil>
	// 0.2 spec.priceAdjustment: Invalid value: "ten": want a sign and an amount ("+0.05", "-1.2"), or a sign and a percentage ("+10%", "-15.5%", at the least "-100%")
}

// An overlay that has to give way in one place still counts in all others.
func ExampleStatus_Conditions() {
	pools := []*v1.NodePool{overlayPool("general", "")}
	_, statuses, err := overlay.Apply([]*v1.NodeOverlay{
		newOverlay("agreed", 0, "karpenter.sh/capacity-type = spot, topology.kubernetes.io/zone = a", "0.03"),
		newOverlay("spot", 0, "karpenter.sh/capacity-type = spot", "-10%"),
	}, pools, overlayCatalogs(pools, overlayType("m5.large", "", 0.10)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range statuses {
		c := s.Conditions()[1]
		fmt.Printf("%s, %d priced: %s=%s %s\n", s.Name, s.Priced, c.Type, c.Status, c.Reason)
		if c.Message != "" {
			fmt.Println(" ", c.Message)
		}
	}

	// Output:
	// agreed, 1 priced: ValidationSucceeded=True ValidationSucceeded
	// spot, 1 priced: ValidationSucceeded=False Conflict
	//   price of m5.large/a/spot in NodePool "general": NodeOverlay "agreed" counts; give this overlay a weight that differs from those of agreed
}

// A NodeClaim says whether overlays had a hand in its launch.
func ExampleAnnotations() {
	priced := &cloudprovider.Offering{Zone: "a", CapacityType: "spot", Price: 1, PriceOverlay: "discount"}
	fmt.Println(overlay.Annotations([]cloudprovider.LaunchOption{{InstanceType: &cloudprovider.InstanceType{}, Offering: priced}}))

	// Output:
	// map[karpenter.sh/price-overlay-applied:true]
}
