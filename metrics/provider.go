package metrics

import (
	"context"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Provider is a CloudProvider whose calls of InstanceTypes, Create, Delete and List are
// timed by now and given to take as Call.Samples, under the name of the controller that
// calls and that of cloudprovider.Name. Both functions are called from any goroutine that
// calls the provider; take gets a slice of its own each time. None of the three may be
// nil. Abilities of the cloud are found through it, and are not measured.
func Provider(cloud cloudprovider.CloudProvider, controller string, now func() time.Time, take func([]Sample)) cloudprovider.CloudProvider {
	return measured{cloud, controller, cloudprovider.Name(cloud), now, take}
}

// measured is what Provider returns.
type measured struct {
	cloudprovider.CloudProvider
	controller, name string
	now              func() time.Time
	take             func([]Sample)
}

// Unwrap lets abilities of the cloud be found.
func (m measured) Unwrap() cloudprovider.CloudProvider { return m.CloudProvider }

// began is to be deferred, with what it returns called at the end.
func (m measured) began(method, pool string, err *error) func() {
	at := m.now()
	return func() {
		m.take(Call{Controller: m.controller, Method: method, Provider: m.name, NodePool: pool, Took: m.now().Sub(at), Err: *err}.Samples())
	}
}

func (m measured) InstanceTypes(ctx context.Context, pool *v1.NodePool) (types []*cloudprovider.InstanceType, err error) {
	name := ""
	if pool != nil {
		name = pool.Name
	}
	defer m.began("GetInstanceTypes", name, &err)()
	return m.CloudProvider.InstanceTypes(ctx, pool)
}

func (m measured) Create(ctx context.Context, req cloudprovider.LaunchRequest) (i *cloudprovider.Instance, err error) {
	defer m.began("Create", req.NodePool, &err)()
	return m.CloudProvider.Create(ctx, req)
}

func (m measured) Delete(ctx context.Context, id string) (err error) {
	defer m.began("Delete", "", &err)()
	return m.CloudProvider.Delete(ctx, id)
}

func (m measured) List(ctx context.Context) (list []*cloudprovider.Instance, err error) {
	defer m.began("List", "", &err)()
	return m.CloudProvider.List(ctx)
}
