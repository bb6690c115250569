package simulation

import (
	"reflect"
	"slices"
	"sync"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/same"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// newMarket keeps the input from which a simulation was compiled.
func newMarket(w *Simulation) *Market {
	in := w.In
	in.Nodes, in.Pods = nil, nil
	m := &Market{in: in, opts: w.Opts, compiled: w.Market}
	f := w.Cluster
	m.launches = sync.OnceValue(func() map[string][]estimate.Launch { return launches(f, in.NodePools) })
	return m
}

// fits reports whether a market can be used for a simulation: whether it was made from equal input.
func (m *Market) fits(w *Simulation) bool {
	if m == nil || m.compiled == nil || !reflect.DeepEqual(m.opts, w.Opts) {
		return false
	}
	a, b := &m.in, &w.In
	return len(a.Buffers)+len(b.Buffers) == 0 && reflect.DeepEqual(a.Devices, provisioning.Devices{}) && reflect.DeepEqual(b.Devices, provisioning.Devices{}) &&
		(a.Vocabulary == b.Vocabulary || reflect.DeepEqual(a.Vocabulary, b.Vocabulary)) &&
		(slices.Equal(a.NodePools, b.NodePools) || same.Objects(same.Bare(a.NodePools), same.Bare(b.NodePools))) &&
		same.Objects(a.Overlays, b.Overlays) && same.Objects(a.DaemonSetPods, b.DaemonSetPods) && same.Objects(a.Namespaces, b.Namespaces) &&
		same.Objects(a.Volumes.Claims, b.Volumes.Claims) && same.Objects(a.Volumes.Volumes, b.Volumes.Volumes) &&
		same.Objects(a.Volumes.Classes, b.Volumes.Classes) && same.Objects(a.Volumes.CSINodes, b.Volumes.CSINodes) &&
		same.Objects(a.Volumes.CSIDrivers, b.Volumes.CSIDrivers) && same.Objects(a.Volumes.CSIStorageCapacities, b.Volumes.CSIStorageCapacities) &&
		same.Objects(a.Volumes.VolumeAttachments, b.Volumes.VolumeAttachments) &&
		same.Objects(a.Services, b.Services) && same.Controllers(a.Controllers, b.Controllers) &&
		same.Catalogs(a.InstanceTypes, b.InstanceTypes)
}

// launches returns what each pool can launch.
func launches(f *state.Cluster, pools []*v1.NodePool) map[string][]estimate.Launch {
	out := map[string][]estimate.Launch{}
	rooms := estimate.Rooms{}
	for _, pool := range pools {
		if set, ok := f.Template(pool); ok {
			out[pool.Name] = estimate.Launches(set, f.Pools[pool.Name].Types, rooms)
		}
	}
	return out
}

// Market is the compiled input of a simulation without nodes and pods, for reuse by the next
// simulation.
type Market struct {
	in   provisioning.Input // without nodes and pods
	opts provisioning.Options
	// compiled is that input compiled; nil if it is invalid.
	compiled *provisioning.Problem
	// launches returns what each pool can launch. It is computed at the first call.
	launches func() map[string][]estimate.Launch
}
