package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

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
