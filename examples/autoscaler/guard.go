package main

import (
	"context"
	"fmt"
	"runtime/debug"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// guarded is a CloudProvider that does not take the loop down: a call in which the
// inner provider panics fails with a *panicked, as if the cloud had given no
// answer. What was asked for may have happened then.
//
// The abilities that the loop calls are guarded as well. The package functions
// that they go through say what holds where the inner provider has none of them.
type guarded struct {
	inner cloudprovider.CloudProvider
}

// panicked is a panic of a provider as an error. It is of cloudprovider.KindUnknown.
type panicked struct {
	op    string
	value any
	stack []byte // for whoever writes it into a log
}

func (p *panicked) Error() string { return fmt.Sprintf("%s: the provider panicked: %v", p.op, p.value) }

// catch makes an error of a panic. It is to be deferred.
func catch(op string, err *error) {
	if value := recover(); value != nil {
		*err = &panicked{op: op, value: value, stack: debug.Stack()}
	}
}

func (g guarded) Unwrap() cloudprovider.CloudProvider { return g.inner }

func (g guarded) InstanceTypes(ctx context.Context, pool *v1.NodePool) (types []*cloudprovider.InstanceType, err error) {
	defer catch("InstanceTypes", &err)
	return g.inner.InstanceTypes(ctx, pool)
}

func (g guarded) Create(ctx context.Context, req cloudprovider.LaunchRequest) (i *cloudprovider.Instance, err error) {
	defer catch("Create", &err)
	return g.inner.Create(ctx, req)
}

func (g guarded) Delete(ctx context.Context, id string) (err error) {
	defer catch("Delete", &err)
	return g.inner.Delete(ctx, id)
}

func (g guarded) Get(ctx context.Context, id string) (i *cloudprovider.Instance, err error) {
	defer catch("Get", &err)
	return g.inner.Get(ctx, id)
}

func (g guarded) List(ctx context.Context) (list []*cloudprovider.Instance, err error) {
	defer catch("List", &err)
	return g.inner.List(ctx)
}

func (g guarded) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (d cloudprovider.Drift, err error) {
	defer catch("IsDrifted", &err)
	return cloudprovider.IsDrifted(ctx, g.inner, claim)
}

func (g guarded) Interruptions(ctx context.Context) (notices []cloudprovider.Interruption, err error) {
	defer catch("Interruptions", &err)
	return cloudprovider.Interruptions(ctx, g.inner)
}

func (g guarded) Acknowledge(ctx context.Context, ids ...string) (err error) {
	defer catch("Acknowledge", &err)
	source, ok := cloudprovider.As[cloudprovider.InterruptionAcknowledger](g.inner)
	if !ok {
		return nil
	}
	return source.Acknowledge(ctx, ids...)
}
