package autoscaler

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
)

// Read returns the cluster as it is now.
func (a *Autoscaler) Read() (*fleet.Fleet, error) {
	now, changes := a.cluster.Now(), a.cluster.Changes()
	if a.readAt == changes && a.last.Now.Equal(now) {
		return a.last, nil
	}
	o := fleet.Objects{
		NodeClaims:           a.cluster.Claims.All(),
		Nodes:                a.cluster.Nodes.All(),
		DaemonSets:           []*appsv1.DaemonSet{a.cluster.Daemon},
		PodDisruptionBudgets: a.cluster.Budgets.All(),
	}
	for _, p := range a.cluster.Pods.All() {
		o.Pods = append(o.Pods, p.Pod)
	}
	f, err := fleet.Read(now, o, a.last.Memory)
	a.last, a.readAt = f, changes
	return f, err
}

// snapshot returns the cluster with everything else that decisions are made from.
func (a *Autoscaler) snapshot(ctx context.Context) (*fleet.Fleet, error) {
	f, err := a.Read()
	if err != nil || f.Input.InstanceTypes != nil {
		return f, err
	}
	catalogs := map[string][]*cloudprovider.InstanceType{}
	for _, pool := range a.pools {
		if catalogs[pool.Name], err = a.catalog(ctx, pool.Name); err != nil {
			return nil, err
		}
	}
	in := &f.Input
	in.NodePools, in.InstanceTypes, in.Vocabulary = a.pools, catalogs, cloudprovider.Vocabulary(a.Cloud)
	in.Drift, in.Interruptions, in.Instances, in.CatalogCache = a.drift, a.notices, a.instances, a.catalogs
	return f, nil
}

// catalog returns the instance types of a pool, without the offerings that the cloud lacked
// recently.
func (a *Autoscaler) catalog(ctx context.Context, pool string) ([]*cloudprovider.InstanceType, error) {
	i := slices.IndexFunc(a.pools, func(p *v1.NodePool) bool { return p.Name == pool })
	if i < 0 {
		return nil, fmt.Errorf("there is no NodePool %q", pool)
	}
	types, err := a.Cloud.InstanceTypes(ctx, a.pools[i])
	return a.stock.Apply(types), err
}
