package fake_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func ExampleStock() {
	inA := cloudprovider.Scope{Zone: "a", CapacityType: "spot"}
	cloud := small(fake.Options{Stock: []fake.Stock{{Scope: inA, Count: 1}}})
	if err := cloud.After(time.Hour, fake.Action{Stock: &fake.Stock{Scope: inA, Count: 1}}); err != nil {
		fmt.Println(err)
	}
	const where = spot + ", topology.kubernetes.io/zone = a"
	for range 2 {
		for _, name := range []string{"one", "two"} {
			_, err := order(cloud, name, where)
			fmt.Println(name, err)
		}
		cloud.Advance(time.Hour)
	}
	// Output:
	// one <nil>
	// two Create two: insufficient capacity: InsufficientInstanceCapacity: m5.large/a/spot: none of the options is available
	// one <nil>
	// two <nil>
}

func ExampleCloud_Free() {
	cloud := small(fake.Options{Stock: []fake.Stock{{Scope: cloudprovider.Scope{CapacityType: "spot"}, Count: 3}}})
	if _, err := order(cloud, "web", spot+", topology.kubernetes.io/zone = a"); err != nil {
		fmt.Println(err)
	}
	key := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"}
	fmt.Println(cloud.Free(key))
	key.CapacityType = "on-demand"
	n, err := cloud.Free(key)
	fmt.Println(n == fake.Unlimited, err)
	// Output:
	// 2 <nil>
	// true <nil>
}

// A reservation comes with the offerings of the catalog. When it ends, it holds no machines,
// and those in it are announced to go.
func ExampleReservation() {
	types, err := catalog.New(&catalog.Options{Zones: []catalog.Zone{{Name: "a"}}, Types: []string{"m5.large"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	bought := requirements.In("karpenter.sh/capacity-type", "on-demand", "reserved", "spot")
	types[0].Requirements = types[0].Requirements.Without(bought.Key()).With(bought)
	types[0].Offerings = append(types[0].Offerings, cloudprovider.Offering{Zone: "a", CapacityType: "reserved", Price: 0.0001,
		Available: true, ReservationID: "cr-1", ReservationCapacity: 1})
	cloud, err := fake.New(&fake.Options{InstanceTypes: types})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"one", "two"} {
		instance, err := order(cloud, name, "")
		fmt.Println(instance.OfferingKey(), err)
	}
	err = cloud.Do(fake.Action{Reservation: fake.Reservation{ID: "cr-1"}},
		fake.Action{Notice: cloudprovider.InterruptionReservation, Warning: 10 * time.Minute})
	fmt.Println(err)
	for _, event := range cloud.Advance(time.Hour) {
		fmt.Println(event)
	}
	// Output:
	// m5.large/a/reserved/cr-1 <nil>
	// m5.large/a/spot <nil>
	// <nil>
	// +10m0s deleting one: capacity is taken back
	// +10m0s gone one
}

func ExampleSpot() {
	cloud := small(fake.Options{Seed: 3, Spot: fake.Spot{Every: 5 * time.Minute, Swing: 0.3, Lifetime: 2 * time.Hour}})
	if _, err := order(cloud, "web", spot); err != nil {
		fmt.Println(err)
	}
	key := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"}
	for range 3 {
		types, err := cloud.InstanceTypes(context.Background(), nil)
		if err != nil {
			fmt.Println(err)
		}
		o, _ := types[0].Offering(key)
		fmt.Printf("%v: %.4f\n", cloud.Now().Format(time.TimeOnly), o.Price)
		cloud.Advance(time.Hour)
	}
	cloud.Advance(24 * time.Hour)
	fmt.Print(cloud.Log())
	// Output:
	// 00:00:00: 0.0289
	// 01:00:00: 0.0270
	// 02:00:00: 0.0302
	// +0s launched web: m5.large/a/spot at 0.0289 USD per hour
	// +0s joined web
	// +0s registered web
	// +0s ready web
	// +2h24m27s noticed web: SpotInterrupted in 2m0s
	// +2h26m27s deleting web: spot capacity is taken back
	// +2h26m27s gone web
}

func ExampleCloud_Interruptions() {
	ctx := context.Background()
	cloud := small(fake.Options{})
	if _, err := order(cloud, "web", spot); err != nil {
		fmt.Println(err)
	}
	if err := cloud.Do(fake.Action{Notice: cloudprovider.InterruptionRebalance}, fake.Action{Notice: cloudprovider.InterruptionMaintenance, Warning: time.Hour}, fake.Action{Notice: cloudprovider.InterruptionStopping}); err != nil {
		fmt.Println(err)
	}
	notices, err := cloud.Interruptions(ctx)
	fmt.Println(err)
	for _, n := range notices {
		fmt.Println(n.ID, n.Kind, n.Detail)
	}
	fmt.Println(cloud.Acknowledge(ctx, notices[0].ID, notices[1].ID))
	notices, err = cloud.Interruptions(ctx)
	fmt.Println(len(notices), err)
	// Output:
	// <nil>
	// notice-2 Maintenance the machine is retired for maintenance
	// notice-1 RebalanceRecommended the risk of an interruption has grown
	// notice-3 Stopping terminated by somebody else
	// <nil>
	// 1 <nil>
}

func ExampleCloud_Acknowledge() {
	ctx := context.Background()
	cloud := small(fake.Options{})
	fmt.Println(cloud.Acknowledge(ctx, "notice-7"), "unknown ones are ignored")
	// Output: <nil> unknown ones are ignored
}
