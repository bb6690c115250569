package fake_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

func ExampleStock() {
	cloud := small(fake.Options{Stock: []fake.Stock{
		{Scope: cloudprovider.Scope{Zone: "a", CapacityType: "spot"}, Count: 1, Every: time.Hour},
	}})
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

func ExampleRefill() {
	cloud := small(fake.Options{})
	key := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"}
	fmt.Println(cloud.Do(fake.SetStock(key.Scope(), 0)))
	fmt.Println(cloud.Free(key))
	fmt.Println(cloud.Do(fake.Refill(key.Scope(), 5)))
	fmt.Println(cloud.Free(key))
	// Output:
	// <nil>
	// 0 <nil>
	// <nil>
	// 5 <nil>
}

func ExampleReservation() {
	cloud := small(fake.Options{Reservations: []fake.Reservation{{ID: "cr-1", Capacity: 1, InstanceTypes: []string{"m5.large"}}}})
	for _, name := range []string{"one", "two"} {
		instance, err := order(cloud, name, "")
		fmt.Println(instance.OfferingKey(), err)
	}
	types, err := cloud.InstanceTypes(context.Background(), nil)
	for _, o := range types[0].Offerings {
		if o.ReservationID != "" {
			fmt.Println(o.Zone, o.Available, o.ReservationCapacity, err)
		}
	}
	// Output:
	// m5.large/a/reserved/cr-1 <nil>
	// m5.large/a/spot <nil>
	// a true 0 <nil>
	// b true 0 <nil>
}

func ExampleEndReservation() {
	cloud := small(fake.Options{Reservations: []fake.Reservation{{ID: "cr-1", Capacity: 1, InstanceTypes: []string{"m5.large"}}}})
	if _, err := order(cloud, "web", ""); err != nil {
		fmt.Println(err)
	}
	if err := cloud.Do(fake.SetReservation("cr-1", 2), fake.EndReservation("cr-1", 10*time.Minute)); err != nil {
		fmt.Println(err)
	}
	cloud.Advance(time.Hour)
	fmt.Print(cloud.Log())
	// Output:
	// +0s launched web: m5.large/a/reserved/cr-1 at 2.89e-09 USD per hour
	// +0s joined web
	// +0s registered web
	// +0s ready web
	// +0s changed reservation cr-1: capacity is 2
	// +0s changed reservation cr-1: ended
	// +0s noticed web: ReservationInterrupted in 10m0s
	// +10m0s deleting web: the reservation ends
	// +10m0s gone web
}

func ExampleSpot() {
	cloud := small(fake.Options{Seed: 3, Spot: fake.Spot{Every: 5 * time.Minute, Swing: 0.3, Lifetime: 2 * time.Hour, Advice: 10 * time.Minute}})
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
	// +2h14m27s noticed web: RebalanceRecommended
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
	if err := cloud.Do(fake.Rebalance(fake.Target{}), fake.Maintain(fake.Target{}, time.Hour), fake.Stop(fake.Target{})); err != nil {
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
