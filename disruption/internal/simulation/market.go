package simulation

import (
	"reflect"
	"slices"

	"github.com/dovetail-sdk/dovetail/disruption/internal/same"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// newMarket keeps the input from which a simulation was compiled.
func newMarket(w *Simulation) *Market {
	in := w.In
	in.Nodes, in.Pods = nil, nil
	return &Market{in: in, opts: w.Opts, compiled: w.Market}
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

// Market is the compiled input of a simulation without nodes and pods, for reuse by the next
// simulation.
type Market struct {
	in   provisioning.Input // without nodes and pods
	opts provisioning.Options
	// compiled is that input compiled; nil if it is invalid.
	compiled *provisioning.Problem
}
