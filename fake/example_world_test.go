package fake_test

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// small makes a cloud with m5.large in the zones a and b. The examples below
// leave out what it and order do; see the first example of the package.
func small(opts fake.Options) *fake.Cloud {
	types, err := catalog.New(&catalog.Options{Zones: []catalog.Zone{{Name: "a"}, {Name: "b"}}, Types: []string{"m5.large"}})
	if err != nil {
		panic(err)
	}
	opts.InstanceTypes = types
	cloud, err := fake.New(&opts)
	if err != nil {
		panic(err)
	}
	return cloud
}

// order asks for a machine with labels that where admits. Name and token are the
// same.
func order(cloud *fake.Cloud, name, where string) (*cloudprovider.Instance, error) {
	types, err := cloud.InstanceTypes(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	return cloud.Create(context.Background(), cloudprovider.LaunchRequest{
		Token: name, Name: name, NodePool: "general",
		NodeClassRef: v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Options:      launch.Compatible(types, requirements.MustParse(where)),
	})
}

const (
	spot     = "karpenter.sh/capacity-type = spot"
	onDemand = "karpenter.sh/capacity-type = on-demand"
)

// A loop that keeps two nodes alive on a cloud that takes spot capacity back and
// runs out of it. This is a whole simulation: nothing sleeps, and it always
// comes out the same.
func Example_simulation() {
	ctx := context.Background()
	cloud := small(fake.Options{
		Seed:   1,
		Timing: fake.Timing{Launch: fake.Exactly(40 * time.Second), Initialization: fake.Exactly(20 * time.Second), Shutdown: fake.Exactly(30 * time.Second)},
		Stock:  []fake.Stock{{Scope: cloudprovider.Scope{CapacityType: "spot"}, Count: 1}},
		Spot:   fake.Spot{Lifetime: time.Hour},
	})
	number := 0
	for range 90 {
		notices, err := cloud.Interruptions(ctx)
		if err != nil {
			fmt.Println(err)
		}
		doomed := map[string]bool{}
		for _, n := range notices {
			doomed[n.InstanceID] = true
		}
		alive := 0
		instances, err := cloud.List(ctx)
		if err != nil {
			fmt.Println(err)
		}
		for _, i := range instances {
			if !i.Deleting && !doomed[i.ID] {
				alive++
			}
		}
		for ; alive < 2; alive++ {
			number++
			if _, err := order(cloud, fmt.Sprint("node-", number), ""); err != nil {
				fmt.Println(err)
			}
		}
		cloud.Advance(time.Minute)
	}
	fmt.Print(cloud.Log())
	stats := cloud.Stats()
	fmt.Printf("%d machines, %.1f hours\n", stats.Launched, stats.Hours)
	// Output:
	// +0s launched node-1: m5.large/a/spot at 0.0289 USD per hour
	// +0s launched node-2: m5.large/b/spot at 0.0324 USD per hour
	// +40s joined node-1
	// +40s registered node-1
	// +40s joined node-2
	// +40s registered node-2
	// +1m0s ready node-1
	// +1m0s ready node-2
	// +24m30s noticed node-1: SpotInterrupted in 2m0s
	// +25m0s launched node-3: m5.large/a/on-demand at 0.096 USD per hour
	// +25m40s joined node-3
	// +25m40s registered node-3
	// +26m0s ready node-3
	// +26m30s deleting node-1: spot capacity is taken back
	// +27m0s gone node-1
	// 3 machines, 3.0 hours
}

func ExampleCloud_Advance() {
	cloud := small(fake.Options{Timing: fake.Timing{Launch: fake.Exactly(30 * time.Second), Registration: fake.Exactly(5 * time.Second), Initialization: fake.Exactly(15 * time.Second)}})
	_, err := order(cloud, "web", onDemand)
	fmt.Println(err)
	for _, event := range cloud.Advance(time.Minute) {
		fmt.Println(event)
	}
	// Output:
	// <nil>
	// +30s joined web
	// +35s registered web
	// +50s ready web
}

func ExampleCloud_Now() {
	cloud := small(fake.Options{})
	cloud.Advance(90 * time.Minute)
	fmt.Println(cloud.Now())
	// Output: 2026-01-01 01:30:00 +0000 UTC
}

func ExampleCloud_After() {
	cloud := small(fake.Options{})
	if _, err := order(cloud, "web", spot); err != nil {
		fmt.Println(err)
	}
	err := cloud.After(time.Hour, fake.Action{Notice: cloudprovider.InterruptionSpot, Warning: 2 * time.Minute})
	fmt.Println(err)
	for _, event := range cloud.Advance(2 * time.Hour) {
		fmt.Println(event)
	}
	// Output:
	// <nil>
	// +1h0m0s noticed web: SpotInterrupted in 2m0s
	// +1h2m0s deleting web: capacity is taken back
	// +1h2m0s gone web
}

func ExampleCloud_Do() {
	cloud := small(fake.Options{})
	err := cloud.Do(
		fake.Action{Stock: &fake.Stock{Scope: cloudprovider.Scope{Zone: "c"}, Count: 1}},
		fake.Action{Reservation: fake.Reservation{ID: "cr-1", Capacity: 3}},
	)
	fmt.Println(err)
	// Output:
	// Do: denied: action 0: Stock.Scope: no offering is in zone=c; InstanceTypes has the offerings
	// Do: denied: action 1: Reservation.ID: there is no reservation "cr-1"; use one of an offering of the catalog
}

func ExampleCloud_Script() {
	cloud := small(fake.Options{})
	err := cloud.Script(
		fake.Fault{Op: "create", Nth: 2, Err: cloudprovider.ErrThrottled},
		fake.Fault{Op: "create", Zone: "a", Nth: 3, Err: fake.ErrLost},
	)
	fmt.Println(err)
	for _, name := range []string{"one", "two", "two", "two"} {
		_, err := order(cloud, name, "topology.kubernetes.io/zone = a")
		fmt.Println(name, err)
	}
	fmt.Println("machines:", cloud.Stats().Launched)
	// Output:
	// <nil>
	// one <nil>
	// two Create two: throttled
	// two Create two: unknown failure: the answer was lost; the call may have been carried out
	// two <nil>
	// machines: 2
}

func ExampleCloud_ClearScript() {
	cloud := small(fake.Options{})
	fmt.Println(cloud.Script(fake.Fault{Err: cloudprovider.ErrThrottled}))
	_, err := cloud.List(context.Background())
	fmt.Println(err)
	cloud.ClearScript()
	_, err = cloud.List(context.Background())
	fmt.Println(err)
	// Output:
	// <nil>
	// List: throttled
	// <nil>
}

// Fields hold together, and each fault counts the calls that meet its own.
func ExampleFault() {
	ctx := context.Background()
	quota := &cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Reason: "VcpuLimitExceeded", Scopes: []cloudprovider.Scope{{CapacityType: "spot"}}}
	cloud := small(fake.Options{})
	err := cloud.Script(
		fake.Fault{Op: fake.OpCreate, From: time.Hour, Until: 2 * time.Hour, Err: quota},
		fake.Fault{Op: fake.OpCreate, Pool: "gpu", Err: fake.ErrStalled},
		fake.Fault{Op: fake.OpList, Nth: 2, Times: 2, Err: cloudprovider.ErrThrottled},
		fake.Fault{Every: 5, Err: fake.Delay(10 * time.Second)},
	)
	fmt.Println(err)
	for range 4 {
		_, err := cloud.List(ctx)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// <nil>
	// List: throttled
	// List: throttled
	// <nil>
}

// The machine is there although Create said otherwise. The same token finds it.
func ExampleFault_lost() {
	cloud := small(fake.Options{})
	if err := cloud.Script(fake.Fault{Op: "create", Nth: 1, Err: fake.ErrLost}); err != nil {
		fmt.Println(err)
	}
	_, err := order(cloud, "web", onDemand)
	fmt.Println(err)
	instance, err := order(cloud, "web", onDemand)
	fmt.Println(instance.Name, err, cloud.Stats().Launched)
	// Output:
	// Create web: unknown failure: the answer was lost; the call may have been carried out
	// web <nil> 1
}

func ExampleFault_refusal() {
	cloud := small(fake.Options{})
	if err := cloud.Script(fake.Fault{Op: "create", Nth: 1, Err: fake.Refusal{Scope: cloudprovider.Scope{CapacityType: "spot"}}}); err != nil {
		fmt.Println(err)
	}
	for _, name := range []string{"one", "two"} {
		instance, err := order(cloud, name, "")
		fmt.Println(instance.OfferingKey(), err)
	}
	// Output:
	// m5.large/a/on-demand <nil>
	// m5.large/a/spot <nil>
}
