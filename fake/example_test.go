package fake_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func Example() {
	ctx := context.Background()
	cloud, err := fake.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	types, err := cloud.InstanceTypes(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	wanted := requirements.MustParse("karpenter.k8s.aws/instance-family = m5, karpenter.k8s.aws/instance-cpu = 4, " +
		"karpenter.sh/capacity-type = on-demand")
	instance, err := cloud.Create(ctx, cloudprovider.LaunchRequest{
		Token:        "6f1e",
		Name:         "general-x7k2p",
		NodePool:     "general",
		NodeClassRef: v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Requirements: wanted,
		Options:      launch.Compatible(types, wanted),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(instance.ID)
	fmt.Println(instance.OfferingKey(), "at", instance.Price, "USD per hour")
	fmt.Println(instance.Allocatable)
	// Output:
	// fake:///us-east-1a/i-0c974a822b7ae955d
	// m5.xlarge/us-east-1a/on-demand at 0.192 USD per hour
	// cpu=3920m, ephemeral-storage=17Gi, memory=14162Mi, pods=58, vpc.amazonaws.com/pod-eni=18
}

// The example of package fake/catalog shows what a type has.
func ExampleCatalog() {
	fmt.Println(len(fake.Catalog()), "types")
	// Output: 989 types
}

func ExampleVocabulary() {
	v := fake.Vocabulary()
	fmt.Println(v.WellKnown("karpenter.k8s.aws/instance-family"))
	fmt.Println(requirements.DefaultVocabulary().WellKnown("karpenter.k8s.aws/instance-family"))
	// Output:
	// true
	// false
}

func ExampleNew() {
	types, err := catalog.New(&catalog.Options{Families: []string{"m5", "m6g"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	cloud, err := fake.New(&fake.Options{
		InstanceTypes: types,
		Now:           func() time.Time { return time.Date(2026, time.March, 29, 1, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sold, err := cloud.InstanceTypes(context.Background(), nil)
	fmt.Println(cloud.Name(), "sells", len(sold), "types", err)
	// Output:
	// fake sells 18 types <nil>
}

func ExampleCloud_List() {
	ctx := context.Background()
	cloud := small(fake.Options{})
	for _, token := range []string{"one", "two", "one"} {
		ordered(cloud, token, onDemand)
	}
	instances, err := cloud.List(ctx)
	for _, i := range instances {
		fmt.Println(i.Name, i.CreatedAt.Format(time.RFC3339))
	}
	fmt.Println(err, cloud.Delete(ctx, instances[0].ID), cloud.Delete(ctx, instances[1].ID))
	_, err = cloud.Get(ctx, instances[0].ID)
	fmt.Println(cloudprovider.KindOf(err))
	// Output:
	// two 2026-01-01T00:00:00Z
	// one 2026-01-01T00:00:00Z
	// <nil> <nil> <nil>
	// not found
}

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
	ordered(cloud, "web", spot+", topology.kubernetes.io/zone = a")
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
	ordered(cloud, "web", spot)
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
	ordered(cloud, "web", spot)
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

func ExampleCloud_Nodes() {
	cloud := small(fake.Options{Timing: fake.Timing{Launch: fake.Exactly(30 * time.Second), Initialization: fake.Exactly(30 * time.Second)}})
	ordered(cloud, "web", onDemand)
	for range 3 {
		fmt.Println(cloud.Now().Format(time.TimeOnly), len(cloud.Nodes()), "nodes")
		for _, node := range cloud.Nodes() {
			fmt.Println(node.Name, node.Labels[corev1.LabelInstanceTypeStable], node.Status.Allocatable.Cpu(), len(node.Spec.Taints), "taints")
		}
		cloud.Advance(30 * time.Second)
	}
	// Output:
	// 00:00:00 0 nodes
	// 00:00:30 1 nodes
	// i-0ba29376927931589 m5.large 1930m 2 taints
	// 00:01:00 1 nodes
	// i-0ba29376927931589 m5.large 1930m 0 taints
}

func ExampleNodeFault() {
	ctx := context.Background()
	cloud := small(fake.Options{Timing: fake.Timing{Reboot: fake.Exactly(time.Minute)}})
	instance := ordered(cloud, "web", onDemand)
	stuck := fake.NodeFault{Type: "KernelReady", Status: corev1.ConditionFalse, Reason: "SoftLockup", CuredByReboot: true}
	if err := cloud.Do(fake.Action{Target: fake.Target{NodePool: "general"}, Break: stuck}); err != nil {
		fmt.Println(err)
	}
	for _, policy := range cloudprovider.RepairPolicies(cloud) {
		if policy.ConditionType == stuck.Type {
			fmt.Println(policy.Action, "after", policy.TolerationDuration)
		}
	}
	cloud.Advance(10 * time.Minute)
	fmt.Println(cloud.Reboot(ctx, instance.ID, "repair-1"), cloud.Reboot(ctx, instance.ID, "repair-1"))
	for _, event := range cloud.Advance(time.Hour) {
		fmt.Println(event)
	}
	// Output:
	// RebootNode after 10m0s
	// <nil> <nil>
	// +11m0s mended web: KernelReady
	// +11m0s rebooted web
}

func ExampleAction() {
	cloud := small(fake.Options{})
	ordered(cloud, "web", onDemand)
	silent := fake.NodeFault{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}
	fmt.Println(cloud.Do(fake.Action{Break: silent}), cloud.Nodes()[0].Spec.Taints[0].Key)
	fmt.Println(cloud.Do(fake.Action{Mend: true}), len(cloud.Nodes()[0].Spec.Taints))
	// Output:
	// <nil> node.kubernetes.io/unreachable
	// <nil> 0
}

func ExampleImage() {
	ctx := context.Background()
	cloud := small(fake.Options{})
	instance, err := order(cloud, "web", onDemand)
	fmt.Println(instance.ImageID, err)
	claim := &v1.NodeClaim{Status: v1.NodeClaimStatus{ProviderID: instance.ID}}
	fmt.Println(cloud.Do(fake.Action{Image: fake.Image{ID: "ami-2", Architecture: "x86_64"}}))
	fmt.Println(cloud.IsDrifted(ctx, claim))
	fmt.Println(cloud.Do(fake.Action{Image: fake.Image{ID: "ami-2", Architecture: "x86_64", DeprecationTime: cloud.Now()}}))
	fmt.Println(cloud.IsDrifted(ctx, claim))
	// Output:
	// image-amd64 <nil>
	// <nil>
	// {ImageDrift image is image-amd64, today it would be ami-2} <nil>
	// <nil>
	// { } <nil>
}

func ExampleNodeClass() {
	ctx := context.Background()
	ref := v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	cloud := small(fake.Options{NodeClasses: []fake.NodeClass{{Name: "default", Hash: "1"}}})
	instance, err := order(cloud, "web", onDemand)
	fmt.Println(err, cloud.NodeClassReady(ctx, ref))
	fmt.Println(cloud.Do(fake.Action{NodeClass: fake.NodeClass{Name: "default", Hash: "2", NotReady: "no subnet matches"}}))
	fmt.Println(cloud.NodeClassReady(ctx, ref))
	fmt.Println(cloud.IsDrifted(ctx, &v1.NodeClaim{Status: v1.NodeClaimStatus{ProviderID: instance.ID}}))
	fmt.Println(cloud.SupportedNodeClasses())
	// Output:
	// <nil> <nil>
	// <nil>
	// NodeClassReady default: not ready: no subnet matches
	// {NodeClassDrift node class default is at "2", the machine was launched at "1"} <nil>
	// [EC2NodeClass.karpenter.k8s.aws]
}

func ExampleOptions_listLag() {
	ctx := context.Background()
	cloud := small(fake.Options{ListLag: 5 * time.Second})
	instance := ordered(cloud, "web", onDemand)
	list, err := cloud.List(ctx)
	fmt.Println(len(list), err)
	cloud.Advance(5 * time.Second)
	list, err = cloud.List(ctx)
	fmt.Println(len(list), err)
	fmt.Println(cloud.Delete(ctx, instance.ID))
	list, err = cloud.List(ctx)
	fmt.Println(len(list), err)
	// Output:
	// 0 <nil>
	// 1 <nil>
	// <nil>
	// 1 <nil>
}

func ExampleCloud_Events() {
	cloud := small(fake.Options{})
	ordered(cloud, "web", onDemand)
	for _, event := range cloud.Events() {
		if event.Kind == fake.EventLaunched {
			fmt.Println(event.InstanceID, event.Detail)
		}
	}
	// Output:
	// fake:///a/i-0ba29376927931589 m5.large/a/on-demand at 0.096 USD per hour
}

func ExampleCloud_Log() {
	ctx := context.Background()
	cloud := small(fake.Options{})
	instance := ordered(cloud, "web", onDemand)
	cloud.Advance(time.Hour)
	fmt.Println(cloud.Delete(ctx, instance.ID))
	fmt.Print(cloud.Log())
	// Output:
	// <nil>
	// +0s launched web: m5.large/a/on-demand at 0.096 USD per hour
	// +0s joined web
	// +0s registered web
	// +0s ready web
	// +1h0m0s deleting web: asked for
	// +1h0m0s gone web
}

func ExampleCloud_Stats() {
	cloud := small(fake.Options{})
	ordered(cloud, "web", onDemand)
	cloud.Advance(24 * time.Hour)
	fmt.Printf("%+v\n", cloud.Stats())
	// Output:
	// {Launched:1 Terminated:0 Interrupted:0 Hours:24}
}

func ExampleSpan() {
	cloud := small(fake.Options{Seed: 9, Timing: fake.Timing{Launch: fake.Span{Min: 20 * time.Second, Max: time.Minute}, Registration: fake.Exactly(2 * time.Second)}})
	for _, name := range []string{"one", "two"} {
		if _, err := order(cloud, name, onDemand); err != nil {
			fmt.Println(err)
		}
	}
	for _, event := range cloud.Advance(time.Hour) {
		fmt.Println(event)
	}
	// Output:
	// +35.471s joined two
	// +36.668s joined one
	// +37.471s registered two
	// +37.471s ready two
	// +38.668s registered one
	// +38.668s ready one
}

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

// ordered asks for a machine that there is.
func ordered(cloud *fake.Cloud, name, where string) *cloudprovider.Instance {
	instance, err := order(cloud, name, where)
	if err != nil {
		panic(err)
	}
	return instance
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
	ordered(cloud, "web", spot)
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
