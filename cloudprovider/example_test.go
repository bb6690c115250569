package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// shelf is the least a provider can be: one instance type, machines in a map.
// A real one talks to a cloud; a complete small one is package fake.
type shelf struct {
	types    []*cloudprovider.InstanceType
	machines map[string]*cloudprovider.Instance // by ID
}

func newShelf() *shelf {
	return &shelf{machines: map[string]*cloudprovider.Instance{}, types: []*cloudprovider.InstanceType{{
		Name:         "m5.large",
		Requirements: requirements.MustParse("node.kubernetes.io/instance-type = m5.large, kubernetes.io/arch = amd64"),
		Capacity:     resources.MustParse("cpu=2, memory=8Gi, pods=29"),
		Overhead:     cloudprovider.Overhead{KubeReserved: resources.MustParse("cpu=70m, memory=512Mi")},
		Offerings: []cloudprovider.Offering{
			{Zone: "zone-a", CapacityType: v1.CapacityTypeOnDemand, Price: 0.096, Available: true},
			{Zone: "zone-a", CapacityType: v1.CapacityTypeSpot, Price: 0.035, Available: true},
		},
	}}}
}

func (s *shelf) Name() string { return "shelf" }

func (s *shelf) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return s.types, nil
}

func (s *shelf) Create(_ context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	id := "shelf://" + req.Token
	if made, found := s.machines[id]; found {
		return made, nil
	}
	option := req.Options[0]
	s.machines[id] = &cloudprovider.Instance{
		ID: id, Name: req.Name, NodePool: req.NodePool,
		Type: option.InstanceType.Name, Zone: option.Offering.Zone, CapacityType: option.Offering.CapacityType,
		Labels: option.NodeLabels(), Price: option.Offering.Price,
	}
	return s.machines[id], nil
}

func (s *shelf) Delete(ctx context.Context, id string) error {
	if _, err := s.Get(ctx, id); err != nil {
		return err
	}
	delete(s.machines, id)
	return nil
}

func (s *shelf) Get(_ context.Context, id string) (*cloudprovider.Instance, error) {
	if i, found := s.machines[id]; found {
		return i, nil
	}
	return nil, &cloudprovider.Error{Op: "Get", Kind: cloudprovider.KindNotFound, Object: id}
}

func (s *shelf) List(context.Context) ([]*cloudprovider.Instance, error) {
	var all []*cloudprovider.Instance
	for _, i := range s.machines {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

func ExampleCloudProvider() {
	ctx := context.Background()
	var p cloudprovider.CloudProvider = newShelf()
	types, err := p.InstanceTypes(ctx, &v1.NodePool{})
	if err != nil {
		fmt.Println(err)
		return
	}
	instance, err := p.Create(ctx, cloudprovider.LaunchRequest{
		Token:        "5f1c",
		NodeClassRef: v1.NodeClassReference{Name: "default"},
		Options:      launch.Compatible(types, requirements.Set{}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(instance.ID, instance.OfferingKey())
	fmt.Println(p.Delete(ctx, instance.ID))
	err = p.Delete(ctx, instance.ID)
	fmt.Println(errors.Is(err, cloudprovider.ErrNotFound), err)
	// Output:
	// shelf://5f1c m5.large/zone-a/spot
	// <nil>
	// true Get shelf://5f1c: not found
}

func ExampleInstanceType_Allocatable() {
	t := &cloudprovider.InstanceType{
		Name:     "m5.large",
		Capacity: resources.MustParse("cpu=2, memory=8Gi, hugepages-2Mi=1Gi, pods=29"),
		Overhead: cloudprovider.Overhead{
			KubeReserved:      resources.MustParse("cpu=70m, memory=412Mi"),
			EvictionThreshold: resources.MustParse("memory=100Mi"),
		},
	}
	fmt.Println(t.Allocatable())
	// Output: cpu=1930m, hugepages-2Mi=1Gi, memory=6656Mi, pods=29 <nil>
}

func ExampleInstanceType_AllocatableFor() {
	t := &cloudprovider.InstanceType{
		Name:     "m5.large",
		Capacity: resources.MustParse("cpu=2, memory=8Gi, pods=29"),
		Overhead: cloudprovider.Overhead{KubeReserved: resources.MustParse("cpu=70m, memory=512Mi")},
	}
	capacity, overhead := resources.MustParse("pods=110"), resources.MustParse("memory=1Gi")
	fmt.Println(t.AllocatableFor(&cloudprovider.Offering{Capacity: &capacity, Overhead: &overhead}))
	// Output: cpu=1930m, memory=7Gi, pods=110 <nil>
}

func ExampleOverhead_Total() {
	overhead := cloudprovider.Overhead{
		KubeReserved:      resources.MustParse("cpu=70m, memory=412Mi"),
		SystemReserved:    resources.MustParse("cpu=30m"),
		EvictionThreshold: resources.MustParse("memory=100Mi"),
	}
	fmt.Println(overhead.Total())
	// Output: cpu=100m, memory=512Mi <nil>
}

func ExampleInstanceType_Validate() {
	t := newShelf().types[0].Clone()
	fmt.Println(t.Validate())
	t.Offerings[0].Price = -1
	t.Offerings[1].Zone = ""
	fmt.Println(t.Validate())
	// Output:
	// <nil>
	// instance type m5.large: offering 0 (m5.large/zone-a/on-demand): price: -1; use a price in USD per hour, above zero and at most 1e+09
	// instance type m5.large: offering 1 (m5.large/?/spot): zone: empty; set it to the value of topology.kubernetes.io/zone
}

func ExampleInstanceType_Offering() {
	t := newShelf().types[0]
	running := &cloudprovider.Instance{Type: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	if offering, found := t.Offering(running.OfferingKey()); found {
		fmt.Println(offering.Price)
	}
	// Output: 0.035
}

func ExampleInstanceType_Clone() {
	t := newShelf().types[0]
	copied := t.Clone()
	copied.Offerings[0].Price *= 0.7 // a negotiated rate
	fmt.Printf("%.3f %.3f\n", t.Offerings[0].Price, copied.Offerings[0].Price)
	// Output: 0.096 0.067
}

func ExampleLaunchOption_NodeLabels() {
	t := newShelf().types[0]
	option := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[1]}
	labels := option.NodeLabels()
	fmt.Println(labels["karpenter.sh/capacity-type"], labels["kubernetes.io/arch"], len(labels))
	// Output: spot amd64 4
}

func ExampleLaunchOption_Requirements() {
	t := newShelf().types[0]
	option := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[1]}
	zone, _ := option.Requirements().Get("topology.kubernetes.io/zone")
	fmt.Println(zone.Has("zone-a"), zone.Has("zone-b"))
	// Output: true false
}

func ExampleLaunchOption_Compare() {
	t := newShelf().types[0]
	onDemand := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[0]}
	spot := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[1]}
	fmt.Println(spot.Compare(onDemand))
	// Output: -1
}

func ExampleLaunchRequest_Validate() {
	req := cloudprovider.LaunchRequest{Token: "5f1c", NodeClassRef: v1.NodeClassReference{Name: "default"}}
	fmt.Println(req.Validate())
	// Output: Create: denied: launch request: options: none; give at least one offering to launch
}

func ExampleOffering_Launchable() {
	reservation := cloudprovider.Offering{CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1", Available: true, ReservationCapacity: 1}
	fmt.Println(reservation.Launchable())
	reservation.ReservationCapacity = 0 // full, and still healthy
	fmt.Println(reservation.Launchable())
	// Output:
	// true
	// false
}

func ExampleOffering_Labels() {
	o := cloudprovider.Offering{Zone: "zone-a", CapacityType: "spot"}
	for r := range o.Labels().All() {
		fmt.Println(r.Key(), r.Has("zone-a"), r.Has("spot"))
	}
	// Output:
	// karpenter.sh/capacity-type false true
	// topology.kubernetes.io/zone true false
}

func ExampleOffering_Key() {
	o := cloudprovider.Offering{Zone: "zone-a", CapacityType: "reserved", ReservationID: "cr-1"}
	fmt.Println(o.Key("m5.large"))
	// Output: m5.large/zone-a/reserved/cr-1
}

func ExampleOfferingKey_Compare() {
	keys := []cloudprovider.OfferingKey{
		{InstanceType: "m5.large", Zone: "zone-b", CapacityType: "spot"},
		{InstanceType: "c5.large", Zone: "zone-b", CapacityType: "spot"},
		{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"},
	}
	slices.SortFunc(keys, cloudprovider.OfferingKey.Compare)
	fmt.Println(keys)
	// Output: [c5.large/zone-b/spot m5.large/zone-a/spot m5.large/zone-b/spot]
}

func ExampleError() {
	err := fmt.Errorf("launching web: %w", &cloudprovider.Error{
		Op: "Create", Object: "web-x7",
		Kind: cloudprovider.KindInsufficientCapacity, Reason: "InsufficientInstanceCapacity",
		Offerings: []cloudprovider.OfferingKey{{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}},
		Err:       errors.New("no stock"),
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, cloudprovider.ErrInsufficientCapacity), errors.Is(err, cloudprovider.ErrNotFound))
	// Output:
	// launching web: Create web-x7: insufficient capacity: InsufficientInstanceCapacity: m5.large/zone-a/spot: no stock
	// true false
}

func ExampleKindOf() {
	err := error(&cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindThrottled, RetryAfter: time.Second})
	switch cloudprovider.KindOf(err) {
	case cloudprovider.KindInsufficientCapacity:
		fmt.Println("mark the offerings and decide anew")
	case cloudprovider.KindThrottled:
		fmt.Println("repeat after", cloudprovider.RetryAfter(err))
	case cloudprovider.KindDenied:
		fmt.Println("tell the user")
	}
	// Output: repeat after 1s
}

func ExampleRetryAfter() {
	err := fmt.Errorf("x: %w", &cloudprovider.Error{Kind: cloudprovider.KindThrottled, RetryAfter: 30 * time.Second})
	fmt.Println(cloudprovider.RetryAfter(err), cloudprovider.RetryAfter(nil))
	// Output: 30s 0s
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

// rack is a provider with abilities, behind a wrapper as it would be in use.
type rack struct{ *shelf }

func (rack) SupportedNodeClasses() []schema.GroupKind {
	return []schema.GroupKind{{Group: "example.com", Kind: "RackClass"}}
}

func (rack) NodeClassReady(_ context.Context, ref v1.NodeClassReference) error {
	if ref.Name == "default" {
		return nil
	}
	return &cloudprovider.Error{Op: "NodeClassReady", Kind: cloudprovider.KindNotReady, Object: ref.Name, Err: errors.New("no image yet")}
}

func (rack) IsDrifted(_ context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	if claim.Status.ImageID == "image-2" {
		return cloudprovider.Drift{}, nil
	}
	return cloudprovider.Drift{Reason: "ImageDrift", Detail: "runs " + claim.Status.ImageID + ", would run image-2"}, nil
}

func (rack) Reboot(_ context.Context, id, operation string) error {
	fmt.Println("restarting", id, "for", operation)
	return nil
}

func (rack) RepairPolicies() []cloudprovider.RepairPolicy {
	return []cloudprovider.RepairPolicy{{
		ConditionType: "Ready", ConditionStatus: "False", TolerationDuration: 30 * time.Minute, Action: cloudprovider.ReplaceNode,
	}}
}

func (rack) Interruptions(context.Context) ([]cloudprovider.Interruption, error) {
	return []cloudprovider.Interruption{{ID: "m-1", InstanceID: "i-1", Kind: cloudprovider.InterruptionMaintenance}}, nil
}

func (rack) Acknowledge(_ context.Context, ids ...string) error {
	fmt.Println("dropping", ids)
	return nil
}

func newRack() cloudprovider.CloudProvider { return wrapper{rack{newShelf()}} }

func ExampleName() {
	fmt.Printf("%q %q\n", cloudprovider.Name(newRack()), cloudprovider.Name(plain{}))
	// Output: "shelf" ""
}

func ExampleVocabulary() {
	fmt.Println(cloudprovider.Vocabulary(newRack()).WellKnown("topology.kubernetes.io/zone"))
	// Output: true
}

func ExampleSupportsNodeClass() {
	p := newRack()
	fmt.Println(cloudprovider.SupportsNodeClass(p, schema.GroupKind{Group: "example.com", Kind: "RackClass"}))
	fmt.Println(cloudprovider.SupportsNodeClass(p, schema.GroupKind{Group: "example.com", Kind: "Other"}))
	// Output:
	// true
	// false
}

func ExampleNodeClassReady() {
	ctx, p := context.Background(), newRack()
	for _, ref := range []v1.NodeClassReference{
		{Group: "example.com", Kind: "RackClass", Name: "default"},
		{Group: "example.com", Kind: "RackClass", Name: "new"},
		{Group: "example.com", Kind: "Other", Name: "default"},
	} {
		fmt.Println(cloudprovider.NodeClassReady(ctx, p, ref))
	}
	// Output:
	// <nil>
	// NodeClassReady new: not ready: no image yet
	// NodeClassReady Other.example.com default: unsupported: provider shelf cannot do that: unsupported operation
}

func ExampleIsDrifted() {
	claim := &v1.NodeClaim{Status: v1.NodeClaimStatus{ImageID: "image-1"}}
	drift, err := cloudprovider.IsDrifted(context.Background(), newRack(), claim)
	fmt.Println(drift.Reason, "-", drift.Detail, err)
	// Output: ImageDrift - runs image-1, would run image-2 <nil>
}

func ExampleReboot() {
	ctx := context.Background()
	fmt.Println(cloudprovider.Reboot(ctx, newRack(), "i-1", "repair-7"))
	err := cloudprovider.Reboot(ctx, newShelf(), "i-1", "repair-7")
	fmt.Println(errors.Is(err, cloudprovider.ErrUnsupported), err)
	// Output:
	// restarting i-1 for repair-7
	// <nil>
	// true Reboot i-1: unsupported: provider shelf cannot do that: unsupported operation
}

func ExampleRepairPolicies() {
	for _, policy := range cloudprovider.RepairPolicies(newRack()) {
		fmt.Println(policy.ConditionType, policy.ConditionStatus, policy.TolerationDuration, policy.Action)
	}
	// Output: Ready False 30m0s ReplaceNode
}

func ExampleValidateRepairPolicies() {
	policies := cloudprovider.RepairPolicies(newRack())
	fmt.Println(cloudprovider.ValidateRepairPolicies(policies))
	policies[0].Action = cloudprovider.RebootNode
	fmt.Println(cloudprovider.ValidateRepairPolicies(policies))
	// Output:
	// <nil>
	// repair policy 0: action: RebootNode on the fallback; use ReplaceNode
}

func ExampleInterruptions() {
	ctx, p := context.Background(), newRack()
	notices, err := cloudprovider.Interruptions(ctx, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range notices {
		fmt.Println(n.InstanceID, n.Kind)
	}
	// Once what follows from them is on record:
	fmt.Println(cloudprovider.Acknowledge(ctx, p, notices...))
	// Output:
	// i-1 Maintenance
	// dropping [m-1]
	// <nil>
}

func ExampleAcknowledge() {
	ctx := context.Background()
	notice := cloudprovider.Interruption{ID: "m-1"}
	fmt.Println(cloudprovider.Acknowledge(ctx, newRack(), notice))
	fmt.Println(cloudprovider.Acknowledge(ctx, newShelf(), notice))                       // it has no notices
	fmt.Println(cloudprovider.Acknowledge(ctx, newShelf(), cloudprovider.Interruption{})) // without an ID
	// Output:
	// dropping [m-1]
	// <nil>
	// Acknowledge m-1: unsupported: provider shelf cannot do that: unsupported operation
	// <nil>
}

func ExampleAs() {
	type quoter interface{ Quota(zone string) int } // an ability of the caller's own
	_, found := cloudprovider.As[quoter](newRack())
	fmt.Println(found)
	_, found = cloudprovider.As[cloudprovider.Rebooter](newRack())
	fmt.Println(found)
	// Output:
	// false
	// true
}
