package observe

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Provider is a CloudProvider that is observed. Create it with Wrap.
type Provider struct {
	inner cloudprovider.CloudProvider
	name  string
	now   func() time.Time
	sink  func(Event)
	calls atomic.Uint64
}

// Wrap returns a CloudProvider that passes every call on to inner and tells sink
// of it. now is the clock, such as time.Now. Both are called by any number of
// goroutines at once. The sink is called before a call is passed on and after it
// came back, on the goroutine of the caller, and must not call the provider. To
// have several sinks, call them one after the other in one.
//
// The error lists each argument that is nil.
func Wrap(inner cloudprovider.CloudProvider, now func() time.Time, sink func(Event)) (*Provider, error) {
	var faults []error
	for _, argument := range []struct {
		missing bool
		fault   string
	}{
		{inner == nil, "inner: nil; pass the provider to observe"},
		{now == nil, "now: nil; pass the clock, such as time.Now"},
		{sink == nil, "sink: nil; pass the function that takes the events"},
	} {
		if argument.missing {
			faults = append(faults, fmt.Errorf("observe: %s", argument.fault))
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return &Provider{inner: inner, name: cloudprovider.Name(inner), now: now, sink: sink}, nil
}

// Unwrap returns the provider that is observed.
func (p *Provider) Unwrap() cloudprovider.CloudProvider { return p.inner }

// observe makes one call. The function sets the outcome in the event.
func (p *Provider) observe(c Call, call func(*Ended)) {
	c.Number, c.Provider = p.calls.Add(1), p.name
	began := p.now()
	p.sink(Started{Call: c, At: began})
	e := Ended{Call: c, Panicked: true}
	// Deferred, so that a call which panics ends as well. The panic goes on.
	defer func() {
		if e.Panicked {
			e = Ended{Call: c, Panicked: true}
		}
		e.At = p.now()
		e.Duration = max(e.At.Sub(began), 0)
		e.Kind = cloudprovider.KindOf(e.Err)
		p.sink(e)
	}()
	call(&e)
	e.Panicked = false
}

// InstanceTypes is that of the inner provider.
func (p *Provider) InstanceTypes(ctx context.Context, pool *v1.NodePool) (types []*cloudprovider.InstanceType, err error) {
	c := Call{Op: OpInstanceTypes}
	if pool != nil {
		c.NodePool = pool.Name
	}
	p.observe(c, func(e *Ended) {
		types, err = p.inner.InstanceTypes(ctx, pool)
		e.Err, e.Count = err, len(types)
	})
	return types, err
}

// Create is that of the inner provider.
func (p *Provider) Create(ctx context.Context, req cloudprovider.LaunchRequest) (instance *cloudprovider.Instance, err error) {
	p.observe(Call{Op: OpCreate, Object: req.Name, NodePool: req.NodePool}, func(e *Ended) {
		instance, err = p.inner.Create(ctx, req)
		e.Err, e.Instance = err, instance
	})
	return instance, err
}

// Delete is that of the inner provider.
func (p *Provider) Delete(ctx context.Context, id string) (err error) {
	p.observe(Call{Op: OpDelete, Object: id}, func(e *Ended) {
		err = p.inner.Delete(ctx, id)
		e.Err = err
	})
	return err
}

// Get is that of the inner provider.
func (p *Provider) Get(ctx context.Context, id string) (instance *cloudprovider.Instance, err error) {
	p.observe(Call{Op: OpGet, Object: id}, func(e *Ended) {
		instance, err = p.inner.Get(ctx, id)
		e.Err, e.Instance = err, instance
	})
	return instance, err
}

// List is that of the inner provider.
func (p *Provider) List(ctx context.Context) (instances []*cloudprovider.Instance, err error) {
	p.observe(Call{Op: OpList}, func(e *Ended) {
		instances, err = p.inner.List(ctx)
		e.Err, e.Count = err, len(instances)
	})
	return instances, err
}
