package disruption

import (
	"reflect"
	"slices"
	"sync"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Market is what a search has read of pools and catalogs, for the next search to
// use: see Input.Market. It does not change, and any number of goroutines may use
// it. It keeps all that it was made from in memory.
type Market struct {
	in   provisioning.Input // without nodes and pods
	opts provisioning.Options
	// compiled is that input; nil where it could not be.
	compiled *provisioning.Problem
	// launches lists what a pool can launch. It is asked for by few.
	launches func() map[string][]launch
}

// newMarket keeps what a world was compiled from.
func newMarket(w *world) *Market {
	in := w.in
	in.Nodes, in.Pods = nil, nil
	m := &Market{in: in, opts: w.opts, compiled: w.market}
	f := w.f
	m.launches = sync.OnceValue(func() map[string][]launch { return f.launches(in.NodePools) })
	return m
}

// fits reports whether a market is that of a world. Objects are told apart by
// their addresses, so that nothing has to be read.
func (m *Market) fits(w *world) bool {
	if m == nil || m.compiled == nil || !reflect.DeepEqual(m.opts, w.opts) {
		return false
	}
	a, b := &m.in, &w.in
	return len(a.Buffers)+len(b.Buffers) == 0 && reflect.DeepEqual(a.Devices, provisioning.Devices{}) && reflect.DeepEqual(b.Devices, provisioning.Devices{}) &&
		a.Vocabulary == b.Vocabulary && slices.Equal(a.NodePools, b.NodePools) && sameCatalogs(a.InstanceTypes, b.InstanceTypes) &&
		slices.Equal(a.Overlays, b.Overlays) && slices.Equal(a.DaemonSetPods, b.DaemonSetPods) && slices.Equal(a.Namespaces, b.Namespaces) &&
		slices.Equal(a.Volumes.Claims, b.Volumes.Claims) && slices.Equal(a.Volumes.Volumes, b.Volumes.Volumes) &&
		slices.Equal(a.Volumes.Classes, b.Volumes.Classes) && slices.Equal(a.Volumes.CSINodes, b.Volumes.CSINodes) &&
		slices.Equal(a.Services, b.Services) && slices.Equal(a.Controllers, b.Controllers)
}

func sameCatalogs(a, b map[string][]*cloudprovider.InstanceType) bool {
	if len(a) != len(b) {
		return false
	}
	for pool, types := range a { // the order does not matter
		if others, found := b[pool]; !found || !slices.Equal(types, others) {
			return false
		}
	}
	return true
}
