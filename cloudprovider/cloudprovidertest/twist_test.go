package cloudprovidertest_test

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

// twist is a provider over a fake cloud in which one thing, or a few, can be made wrong: each method
// calls the field for it, which newTwist sets to that of the cloud. Calls go over the wire before that,
// unless heedless is set.
type twist struct {
	*fake.Cloud
	neighbor *fake.Cloud
	wire     *wire
	heedless bool // does not end when its context does
	// locked holds a lock while it waits for the cloud.
	locked bool
	lock   chan struct{} // that of a mutex; in a bubble none waits for one that waits for time
	// withoutReboot takes the ability away.
	withoutReboot bool

	types        func(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error)
	create       func(context.Context, cloudprovider.LaunchRequest) (*cloudprovider.Instance, error)
	deleted      func(context.Context, string) error
	get          func(context.Context, string) (*cloudprovider.Instance, error)
	list         func(context.Context) ([]*cloudprovider.Instance, error)
	name         func() string
	supported    func() []schema.GroupKind
	ready        func(context.Context, v1.NodeClassReference) error
	drifted      func(context.Context, *v1.NodeClaim) (cloudprovider.Drift, error)
	policies     func() []cloudprovider.RepairPolicy
	reboot       func(context.Context, string, string) error
	interrupted  func(context.Context) ([]cloudprovider.Interruption, error)
	acknowledged func(context.Context, ...string) error
}

func newTwist(cloud, neighbor *fake.Cloud, w *wire) *twist {
	return &twist{
		Cloud: cloud, neighbor: neighbor, wire: w, lock: make(chan struct{}, 1),
		types: cloud.InstanceTypes, create: cloud.Create, deleted: cloud.Delete, get: cloud.Get, list: cloud.List, name: cloud.Name,
		supported: cloud.SupportedNodeClasses, ready: cloud.NodeClassReady, drifted: cloud.IsDrifted, policies: cloud.RepairPolicies,
		reboot: cloud.Reboot, interrupted: cloud.Interruptions, acknowledged: cloud.Acknowledge,
	}
}

// over sends a call over the wire.
func (t *twist) over(ctx context.Context, method string) error {
	if t.locked {
		t.lock <- struct{}{}
		defer func() { <-t.lock }()
	}
	if t.heedless {
		ctx = context.WithoutCancel(ctx)
	}
	return t.wire.pass(ctx, method)
}

func (t *twist) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if err := t.over(ctx, "InstanceTypes"); err != nil {
		return nil, err
	}
	return t.types(ctx, pool)
}

func (t *twist) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := t.over(ctx, "Create"); err != nil {
		return nil, err
	}
	return t.create(ctx, req)
}

func (t *twist) Delete(ctx context.Context, id string) error {
	if err := t.over(ctx, "Delete"); err != nil {
		return err
	}
	return t.deleted(ctx, id)
}

func (t *twist) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	if err := t.over(ctx, "Get"); err != nil {
		return nil, err
	}
	return t.get(ctx, id)
}

func (t *twist) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	if err := t.over(ctx, "List"); err != nil {
		return nil, err
	}
	return t.list(ctx)
}

func (t *twist) Name() string {
	return t.name()
}

func (t *twist) SupportedNodeClasses() []schema.GroupKind {
	return t.supported()
}

func (t *twist) NodeClassReady(ctx context.Context, ref v1.NodeClassReference) error {
	return t.ready(ctx, ref)
}

func (t *twist) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	return t.drifted(ctx, claim)
}

func (t *twist) RepairPolicies() []cloudprovider.RepairPolicy {
	return t.policies()
}

func (t *twist) Reboot(ctx context.Context, id, operation string) error {
	return t.reboot(ctx, id, operation)
}

func (t *twist) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	if err := t.over(ctx, "Interruptions"); err != nil {
		return nil, err
	}
	return t.interrupted(ctx)
}

func (t *twist) Acknowledge(ctx context.Context, ids ...string) error {
	return t.acknowledged(ctx, ids...)
}

// begin returns a name for the process that the provider lives in.
func (t *twist) begin() string {
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	t.wire.processes++
	return strconv.Itoa(t.wire.processes)
}

// foreign reports whether an instance is the neighbor's.
func (t *twist) foreign(id string) bool {
	_, err := t.neighbor.Get(context.Background(), id)
	return err == nil
}
