package availability_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
)

// instant returns a clock and a function that advances it. Programs pass
// time.Now.
func instant() (now func() time.Time, advance func(time.Duration)) {
	t := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	return func() time.Time { return t }, func(d time.Duration) { t = t.Add(d) }
}

func Example() {
	now, advance := instant()
	cache, err := availability.New(now, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	spot := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	cache.MarkFromError(&cloudprovider.Error{
		Kind: cloudprovider.KindInsufficientCapacity, Reason: "NoStock", Offerings: []cloudprovider.OfferingKey{spot},
	})
	show := func() {
		for _, t := range cache.Apply(catalog()) {
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

func ExampleNew() {
	now, _ := instant()
	cache, err := availability.New(now, &availability.Options{
		TTL:         5 * time.Minute,
		TTLByReason: map[string]time.Duration{"QuotaExceeded": time.Hour},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cache.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "NoAddresses"))
	fmt.Println(cache.MarkUnavailable(cloudprovider.Scope{CapacityType: "spot"}, "QuotaExceeded"))
	_, err = availability.New(nil, nil)
	fmt.Println(err)
	// Output:
	// zone=zone-a unavailable until 2026-01-02T15:05:00Z: NoAddresses
	// capacity-type=spot unavailable until 2026-01-02T16:00:00Z: QuotaExceeded
	// availability: now: nil; pass the clock, such as time.Now
}

func ExampleCache_MarkFromError() {
	now, _ := instant()
	cache, _ := availability.New(now, nil)
	err := errors.Join(
		&cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Reason: "NoStock",
			Offerings: []cloudprovider.OfferingKey{{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}}},
		&cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Reason: "NoAddresses",
			Scopes: []cloudprovider.Scope{{Zone: "zone-b"}}},
	)
	for _, mark := range cache.MarkFromError(err) {
		fmt.Println(mark)
	}
	// Output:
	// zone=zone-b unavailable until 2026-01-02T15:03:00Z: NoAddresses
	// m5.large/zone-a/spot unavailable until 2026-01-02T15:03:00Z: NoStock
}

func ExampleCache_Unavailable() {
	now, _ := instant()
	cache, _ := availability.New(now, nil)
	cache.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "NoAddresses")
	mark, marked := cache.Unavailable(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"})
	fmt.Println(marked, mark.Reason)
	_, marked = cache.Unavailable(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-b", CapacityType: "spot"})
	fmt.Println(marked)
	// Output:
	// true NoAddresses
	// false
}

func ExampleCache_Marks() {
	now, _ := instant()
	cache, _ := availability.New(now, nil)
	cache.MarkUnavailable(cloudprovider.Scope{Zone: "zone-b"}, "NoAddresses")
	cache.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "NoAddresses")
	for _, mark := range cache.Marks() {
		fmt.Println(mark)
	}
	// Output:
	// zone=zone-a unavailable until 2026-01-02T15:03:00Z: NoAddresses
	// zone=zone-b unavailable until 2026-01-02T15:03:00Z: NoAddresses
}

func ExampleCache_Admit() {
	now, _ := instant()
	cache, _ := availability.New(now, nil)
	cache.MarkUnavailable(cloudprovider.Scope{CapacityType: "spot"}, "QuotaExceeded")
	var options []cloudprovider.LaunchOption
	for _, t := range catalog() {
		for i := range t.Offerings {
			options = append(options, cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]})
		}
	}
	fmt.Println(cache.Admit(options))
	// Output:
	// [m5.large/zone-a/on-demand at 0.096 USD/h]
}

func ExampleCache_Launched() {
	now, advance := instant()
	cache, _ := availability.New(now, &availability.Options{MaxTTL: time.Hour})
	zone := cloudprovider.Scope{Zone: "zone-a"}
	refused := func() {
		mark := cache.MarkUnavailable(zone, "NoAddresses")
		fmt.Println(mark.Until.Sub(now()))
		advance(mark.Until.Sub(now()))
	}
	refused()
	refused()
	refused()
	cache.Launched(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"})
	refused()
	// Output:
	// 3m0s
	// 6m0s
	// 12m0s
	// 6m0s
}

func ExampleCache_MarkFromInterruption() {
	now, _ := instant()
	cache, _ := availability.New(now, nil)
	instance := &cloudprovider.Instance{ID: "i-1", Type: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	mark, _ := cache.MarkFromInterruption(instance, cloudprovider.Interruption{
		InstanceID: "i-1", Kind: cloudprovider.InterruptionSpot,
	})
	fmt.Println(mark)
	// Output:
	// m5.large/zone-a/spot unavailable until 2026-01-02T15:03:00Z: SpotInterrupted
}

// catalog returns one instance type with two offerings.
func catalog() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{{Name: "m5.large", Offerings: []cloudprovider.Offering{
		{Zone: "zone-a", CapacityType: "on-demand", Price: 0.096, Available: true},
		{Zone: "zone-a", CapacityType: "spot", Price: 0.035, Available: true},
	}}}
}
