package cloudprovider_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// instant returns a clock and a function that advances it. Programs pass
// time.Now.
func instant() (now func() time.Time, advance func(time.Duration)) {
	t := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	return func() time.Time { return t }, func(d time.Duration) { t = t.Add(d) }
}

func ExampleAvailability() {
	now, advance := instant()
	availability, err := cloudprovider.NewAvailability(now, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	spot := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	availability.MarkFromError(&cloudprovider.Error{
		Kind: cloudprovider.KindInsufficientCapacity, Reason: "NoStock", Offerings: []cloudprovider.OfferingKey{spot},
	})
	show := func() {
		for _, t := range availability.Apply(newShelf().types) {
			for _, o := range t.Offerings {
				fmt.Println(o.Key(t.Name), o.Available)
			}
		}
	}
	show()
	advance(3 * time.Minute)
	show()
	// Output:
	// m5.large/zone-a/on-demand true
	// m5.large/zone-a/spot false
	// m5.large/zone-a/on-demand true
	// m5.large/zone-a/spot true
}

func ExampleNewAvailability() {
	now, _ := instant()
	availability, err := cloudprovider.NewAvailability(now, &cloudprovider.AvailabilityOptions{
		TTL:         5 * time.Minute,
		TTLByReason: map[string]time.Duration{"QuotaExceeded": time.Hour},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(availability.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "NoAddresses"))
	fmt.Println(availability.MarkUnavailable(cloudprovider.Scope{CapacityType: "spot"}, "QuotaExceeded"))
	_, err = cloudprovider.NewAvailability(nil, nil)
	fmt.Println(err)
	// Output:
	// zone=zone-a unavailable until 2026-01-02T15:05:00Z: NoAddresses
	// capacity-type=spot unavailable until 2026-01-02T16:00:00Z: QuotaExceeded
	// availability: now: nil; pass the clock, such as time.Now
}

func ExampleAvailability_MarkFromError() {
	now, _ := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	err := errors.Join(
		&cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Reason: "NoStock",
			Offerings: []cloudprovider.OfferingKey{{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}}},
		&cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Reason: "NoAddresses",
			Scopes: []cloudprovider.Scope{{Zone: "zone-b"}}},
	)
	for _, mark := range availability.MarkFromError(err) {
		fmt.Println(mark)
	}
	// Output:
	// zone=zone-b unavailable until 2026-01-02T15:03:00Z: NoAddresses
	// m5.large/zone-a/spot unavailable until 2026-01-02T15:03:00Z: NoStock
}

func ExampleAvailability_Unavailable() {
	now, _ := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	availability.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "NoAddresses")
	mark, marked := availability.Unavailable(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"})
	fmt.Println(marked, mark.Reason)
	_, marked = availability.Unavailable(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-b", CapacityType: "spot"})
	fmt.Println(marked)
	// Output:
	// true NoAddresses
	// false
}

func ExampleAvailability_Sequence() {
	now, advance := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	sequence := availability.Sequence() // before Apply, not after
	catalog := availability.Apply(newShelf().types)
	fmt.Println(len(catalog), sequence == availability.Sequence())

	availability.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "")
	fmt.Println("marked:", sequence == availability.Sequence())
	sequence = availability.Sequence()
	advance(time.Hour)
	fmt.Println("ended:", sequence == availability.Sequence())
	// Output:
	// 1 true
	// marked: false
	// ended: false
}

func ExampleAvailability_NextEnd() {
	now, _ := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	availability.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "")
	end, _ := availability.NextEnd()
	fmt.Println("ask again in", end.Sub(now()))
	// Output: ask again in 3m0s
}

func ExampleAvailability_Marks() {
	now, _ := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	availability.MarkUnavailable(cloudprovider.Scope{Zone: "zone-b"}, "NoAddresses")
	availability.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "NoAddresses")
	availability.MarkAvailable(cloudprovider.Scope{Zone: "zone-b"})
	fmt.Println(availability.Marks())
	availability.Clear()
	fmt.Println(availability.Marks())
	// Output:
	// [zone=zone-a unavailable until 2026-01-02T15:03:00Z: NoAddresses]
	// []
}

func ExampleAvailability_MarkAvailable() {
	now, _ := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	spot := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	availability.MarkUnavailable(spot.Scope(), "NoStock")
	fmt.Println(availability.MarkAvailable(spot.Scope())) // it was sold after all
	_, marked := availability.Unavailable(spot)
	fmt.Println(marked)
	// Output:
	// true
	// false
}

func ExampleScope_Covers() {
	spot := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	for _, scope := range []cloudprovider.Scope{{}, {CapacityType: "spot"}, {Zone: "zone-b"}, spot.Scope()} {
		fmt.Println(scope.Covers(spot), scope)
	}
	// Output:
	// true every offering
	// true capacity-type=spot
	// false zone=zone-b
	// true m5.large/zone-a/spot
}
