package metrics

import (
	"context"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Provider returns a CloudProvider that measures calls of InstanceTypes, Create, Delete and List
// with now and passes their Call.Samples to take, with the given controller and cloudprovider.Name
// as labels. Both functions are called from any goroutine that calls the provider; take owns its
// slice. cloud, now and take must not be nil. Abilities of the cloud are found through the wrapper,
// and are not measured.
func Provider(now func() time.Time, cloud cloudprovider.CloudProvider, controller string, take func([]Sample)) cloudprovider.CloudProvider {
	return measured{cloud, controller, cloudprovider.Name(cloud), now, take}
}

type measured struct {
	cloudprovider.CloudProvider
	controller, name string
	now              func() time.Time
	take             func([]Sample)
}

// Unwrap makes the abilities of the cloud visible.
func (m measured) Unwrap() cloudprovider.CloudProvider { return m.CloudProvider }

// began starts measuring a call and returns the function that ends it, for defer.
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
