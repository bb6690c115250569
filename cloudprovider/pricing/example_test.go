package pricing_test

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

func Example() {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	spotOf := func(zone string) cloudprovider.OfferingKey {
		return cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: zone, CapacityType: "spot"}
	}
	onDemand := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "on-demand"}
	book, err := pricing.New(&pricing.Options{
		Layers: []pricing.Layer{
			{Name: "spot feed", MaxAge: time.Hour, Entries: []pricing.Entry{
				{Scope: spotOf("zone-a").Scope(), Price: 0.036, At: now.Add(-10 * time.Minute)},
				{Scope: spotOf("zone-b").Scope(), Price: 0.041, At: now.Add(-9 * time.Hour)},
			}},
			{Name: "price list", Entries: []pricing.Entry{
				{Scope: cloudprovider.Scope{InstanceType: "m5.large", CapacityType: "on-demand"}, Price: 0.1},
			}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []cloudprovider.OfferingKey{onDemand, spotOf("zone-a"), spotOf("zone-b"), spotOf("zone-c")} {
		fmt.Println(book.Quote(now, key))
	}
	// Output:
	// m5.large/zone-a/on-demand: 0.1 USD/h (price list 0.1)
	// m5.large/zone-a/spot: 0.036 USD/h (spot feed 0.036 of 2026-01-02T14:50:00Z)
	// m5.large/zone-b/spot: 0.041 USD/h (spot feed 0.041 of 2026-01-02T06:00:00Z), stale
	// m5.large/zone-c/spot: unknown price
}

func ExampleNew() {
	_, err := pricing.New(&pricing.Options{
		Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{{Scope: cloudprovider.Scope{InstanceType: "m5.large"}}}}},
	})
	fmt.Println(err)
	// Output:
	// price book: layers[0] (list): entries[0] (instance-type=m5.large): price: 0; use USD per hour, above zero and at most 1e+09
}

// A pool whose nodes have a volume for half a cent an hour, and an agent for two.
func ExampleAddNodeCost() {
	types := []*cloudprovider.InstanceType{{Name: "m5.large", Offerings: []cloudprovider.Offering{
		{Zone: "zone-a", CapacityType: "on-demand", Price: 0.096, Available: true},
	}}}
	for _, t := range pricing.AddNodeCost(types, func(*cloudprovider.InstanceType) float64 { return 0.005 + 0.02 }) {
		o := t.Offerings[0]
		fmt.Printf("%s %.3f USD/h, %.3f of it beside the instance\n", o.Key(t.Name), o.Price, o.NodeCost)
	}
	// Output:
	// m5.large/zone-a/on-demand 0.121 USD/h, 0.025 of it beside the instance
}

func ExampleBook_Apply() {
	book, _ := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{
		{Scope: cloudprovider.Scope{CapacityType: "on-demand"}, Price: 0.1},
	}}}})
	types, report := book.Apply(time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC), []*cloudprovider.InstanceType{{
		Name: "m5.large",
		Offerings: []cloudprovider.Offering{
			{Zone: "zone-a", CapacityType: "on-demand", Available: true},
			{Zone: "zone-a", CapacityType: "spot", Available: true},
		},
	}})
	for _, o := range types[0].Offerings {
		fmt.Println(o.CapacityType, o.Price, o.Available)
	}
	fmt.Println("unknown:", report.Unknown)
	// Output:
	// on-demand 0.1 true
	// spot 0 false
	// unknown: [m5.large/zone-a/spot]
}
