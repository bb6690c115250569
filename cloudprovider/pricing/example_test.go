package pricing_test

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func Example() {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	spotOf := func(zone string) cloudprovider.OfferingKey {
		return cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: zone, CapacityType: "spot"}
	}
	onDemand := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "on-demand"}
	book, err := pricing.New(pricing.Options{
		Layers: []pricing.Layer{
			{Name: "spot feed", MaxAge: time.Hour, Entries: []pricing.Entry{
				{Scope: spotOf("zone-a").Scope(), Price: 0.036, At: now.Add(-10 * time.Minute)},
				{Scope: spotOf("zone-b").Scope(), Price: 0.041, At: now.Add(-9 * time.Hour)},
			}},
			{Name: "price list", Entries: []pricing.Entry{
				{Scope: cloudprovider.Scope{InstanceType: "m5.large", CapacityType: "on-demand"}, Price: 0.1},
			}},
		},
		Adjustments: []pricing.Adjustment{{Name: "our contract", Scope: cloudprovider.Scope{CapacityType: "on-demand"}, Change: "-5%"}},
		Fees:        []pricing.Fee{{Name: "agent", Price: 0.02}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []cloudprovider.OfferingKey{onDemand, spotOf("zone-a"), spotOf("zone-b"), spotOf("zone-c")} {
		fmt.Println(book.Quote(now, key))
	}
	// Output:
	// m5.large/zone-a/on-demand: 0.115 USD/h (price list 0.1, our contract 0.095, agent 0.115)
	// m5.large/zone-a/spot: 0.056 USD/h (spot feed 0.036 of 2026-01-02T14:50:00Z, agent 0.056)
	// m5.large/zone-b/spot: 0.061 USD/h (spot feed 0.041 of 2026-01-02T06:00:00Z, agent 0.061), stale
	// m5.large/zone-c/spot: unknown price
}

func ExampleNew() {
	_, err := pricing.New(pricing.Options{
		Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{{Scope: cloudprovider.Scope{InstanceType: "m5.large"}}}}},
		Fees:   []pricing.Fee{{Price: 0.02}},
	})
	fmt.Println(err)
	// Output:
	// price book: layers[0] (list): entries[0] (instance-type=m5.large): price: 0; use USD per hour, above zero and at most 1e+09
	// price book: fees[0] (): name: empty; say where it comes from
}

func ExampleBook_Update() {
	zone := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	book, _ := pricing.New(pricing.Options{Layers: []pricing.Layer{{Name: "spot", MaxAge: time.Hour}}})
	fmt.Println(book.Quote(now, zone))
	book, err := book.Update("spot", []pricing.Entry{{Scope: zone.Scope(), Price: 0.03, At: now}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(book.Quote(now, zone))
	// Output:
	// m5.large/zone-a/spot: unknown price
	// m5.large/zone-a/spot: 0.03 USD/h (spot 0.03 of 2026-01-02T15:00:00Z)
}

func ExampleBook_Apply() {
	book, _ := pricing.New(pricing.Options{Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{
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

func ExampleBook_Account() {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	large := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "on-demand"}
	types := []*cloudprovider.InstanceType{{
		Name:         "m5.large",
		Requirements: requirements.MustParse("family = m5"),
		Offerings:    []cloudprovider.Offering{{Zone: "zone-a", CapacityType: "on-demand", Available: true}},
	}}
	book, err := pricing.New(pricing.Options{
		Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{{Scope: large.Scope(), Price: 0.1}}}},
		Commitments: []pricing.Commitment{{
			Name: "savings plan", Covers: requirements.MustParse("family = m5"), Hourly: 0.28, Discount: 0.3,
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, running := range []int{2, 3, 5} {
		s := book.Account(now, types, []pricing.Usage{{Key: large, Count: running}})
		fmt.Printf("%d cost %.3f, unused %.3f, room for %d, one more: %.3f at the rate, %.3f in fact\n", running, s.Cost,
			s.Uses[0].Left, s.Room(large), s.Next(large, pricing.BasisRate).Price, s.Next(large, pricing.BasisMarginal).Price)
	}
	// Output:
	// 2 cost 0.280, unused 0.140, room for 2, one more: 0.070 at the rate, 0.000 in fact
	// 3 cost 0.280, unused 0.070, room for 1, one more: 0.070 at the rate, 0.000 in fact
	// 5 cost 0.380, unused 0.000, room for 0, one more: 0.100 at the rate, 0.100 in fact
}
