package disruption

import (
	"reflect"
	"slices"
	"sync"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/same"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// CatalogCache is what a search has read of pools and catalogs, for the next search to
// use: see Input.CatalogCache. It does not change, and any number of goroutines may use
// it. It keeps all that it was made from in memory.
type CatalogCache struct {
	in   provisioning.Input // without nodes and pods
	opts provisioning.Options
	// compiled is that input; nil where it could not be.
	compiled *provisioning.Problem
	// launches lists what a pool can launch. It is asked for by few.
	launches func() map[string][]estimate.Launch
}

// newCatalogCache keeps what a simulation was compiled from.
func newCatalogCache(w *simulation) *CatalogCache {
	in := w.in
	in.Nodes, in.Pods = nil, nil
	m := &CatalogCache{in: in, opts: w.opts, compiled: w.market}
	f := w.cluster
	m.launches = sync.OnceValue(func() map[string][]estimate.Launch { return f.launches(in.NodePools) })
	return m
}

// fits reports whether a market is that of a simulation: whether what it was made from
// says the same.
func (m *CatalogCache) fits(w *simulation) bool {
	if m == nil || m.compiled == nil || !reflect.DeepEqual(m.opts, w.opts) {
		return false
	}
	a, b := &m.in, &w.in
	return len(a.Buffers)+len(b.Buffers) == 0 && reflect.DeepEqual(a.Devices, provisioning.Devices{}) && reflect.DeepEqual(b.Devices, provisioning.Devices{}) &&
		(a.Vocabulary == b.Vocabulary || reflect.DeepEqual(a.Vocabulary, b.Vocabulary)) &&
		(slices.Equal(a.NodePools, b.NodePools) || same.Objects(same.Bare(a.NodePools), same.Bare(b.NodePools))) &&
		same.Objects(a.Overlays, b.Overlays) && same.Objects(a.DaemonSetPods, b.DaemonSetPods) && same.Objects(a.Namespaces, b.Namespaces) &&
		same.Objects(a.Volumes.Claims, b.Volumes.Claims) && same.Objects(a.Volumes.Volumes, b.Volumes.Volumes) &&
		same.Objects(a.Volumes.Classes, b.Volumes.Classes) && same.Objects(a.Volumes.CSINodes, b.Volumes.CSINodes) &&
		same.Objects(a.Services, b.Services) && same.Controllers(a.Controllers, b.Controllers) &&
		same.Catalogs(a.InstanceTypes, b.InstanceTypes)
}

// launches lists what pools can launch.
func (f *Cluster) launches(pools []*v1.NodePool) map[string][]estimate.Launch {
	out := map[string][]estimate.Launch{}
	rooms := estimate.Rooms{}
	for _, pool := range pools {
		if set, ok := f.template(pool); ok {
			out[pool.Name] = estimate.Launches(set, f.pools[pool.Name].types, rooms)
		}
	}
	return out
}

// template is what every node of a pool has, if the pool launches nodes for pods.
func (f *Cluster) template(pool *v1.NodePool) (requirements.Set, bool) {
	set, err := requirements.FromNodePool(pool, f.vocabulary)
	return set, err == nil && pool.Spec.Replicas == nil && f.pools[pool.Name].ready()
}
