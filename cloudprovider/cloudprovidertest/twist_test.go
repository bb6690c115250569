package cloudprovidertest_test

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

// twist is a provider over a fake cloud in which one thing, or a few, can be
// made wrong: a field that is set takes the place of the method. Calls go over
// the wire before that, unless heedless is set.
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
	if t.types != nil {
		return t.types(ctx, pool)
	}
	return t.Cloud.InstanceTypes(ctx, pool)
}

func (t *twist) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := t.over(ctx, "Create"); err != nil {
		return nil, err
	}
	if t.create != nil {
		return t.create(ctx, req)
	}
	return t.Cloud.Create(ctx, req)
}

func (t *twist) Delete(ctx context.Context, id string) error {
	if err := t.over(ctx, "Delete"); err != nil {
		return err
	}
	if t.deleted != nil {
		return t.deleted(ctx, id)
	}
	return t.Cloud.Delete(ctx, id)
}

func (t *twist) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	if err := t.over(ctx, "Get"); err != nil {
		return nil, err
	}
	if t.get != nil {
		return t.get(ctx, id)
	}
	return t.Cloud.Get(ctx, id)
}

func (t *twist) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	if err := t.over(ctx, "List"); err != nil {
		return nil, err
	}
	if t.list != nil {
		return t.list(ctx)
	}
	return t.Cloud.List(ctx)
}

func (t *twist) Name() string {
	if t.name != nil {
		return t.name()
	}
	return t.Cloud.Name()
}

func (t *twist) SupportedNodeClasses() []schema.GroupKind {
	if t.supported != nil {
		return t.supported()
	}
	return t.Cloud.SupportedNodeClasses()
}

func (t *twist) NodeClassReady(ctx context.Context, ref v1.NodeClassReference) error {
	if t.ready != nil {
		return t.ready(ctx, ref)
	}
	return t.Cloud.NodeClassReady(ctx, ref)
}

func (t *twist) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	if t.drifted != nil {
		return t.drifted(ctx, claim)
	}
	return t.Cloud.IsDrifted(ctx, claim)
}

func (t *twist) RepairPolicies() []cloudprovider.RepairPolicy {
	if t.policies != nil {
		return t.policies()
	}
	return t.Cloud.RepairPolicies()
}

func (t *twist) Reboot(ctx context.Context, id, operation string) error {
	if t.reboot != nil {
		return t.reboot(ctx, id, operation)
	}
	return t.Cloud.Reboot(ctx, id, operation)
}

func (t *twist) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	if err := t.over(ctx, "Interruptions"); err != nil {
		return nil, err
	}
	if t.interrupted != nil {
		return t.interrupted(ctx)
	}
	return t.Cloud.Interruptions(ctx)
}

func (t *twist) Acknowledge(ctx context.Context, ids ...string) error {
	if t.acknowledged != nil {
		return t.acknowledged(ctx, ids...)
	}
	return t.Cloud.Acknowledge(ctx, ids...)
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
