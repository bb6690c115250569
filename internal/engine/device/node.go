package device

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
)

// nodeDevices are the devices that drivers have published for one node, by driver.
type nodeDevices map[string]*driverDevices

// driverDevices are the devices of one driver on one node.
type driverDevices struct {
	// free and taken are the devices of complete pools: not allocated, and allocated.
	free, taken []*resourcev1.Device
	// allocated is the number of allocated devices, of complete and incomplete pools.
	allocated int64
	// allComplete says that every pool of the driver on the node is complete.
	allComplete bool
}

// remoteDevice is a device that several nodes can reach.
type remoteDevice struct {
	driver string
	device *resourcev1.Device
}

// poolID names a pool; deviceID a device.
type (
	poolID   struct{ driver, pool string }
	deviceID struct {
		poolID
		device string
	}
)

// allocatedDevices returns the devices that claims have. A device with administrative access stays
// available to others.
func allocatedDevices(claims []*resourcev1.ResourceClaim) map[deviceID]bool {
	out := map[deviceID]bool{}
	for _, c := range claims {
		if c == nil || c.Status.Allocation == nil {
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			if r.AdminAccess == nil || !*r.AdminAccess {
				out[deviceID{poolID{r.Driver, r.Pool}, r.Device}] = true
			}
		}
	}
	return out
}

// addSlices sorts published devices by node and reports faults of slices.
func (x *Index) addSlices(list []*resourcev1.ResourceSlice, allocated map[deviceID]bool, f *faults.List) {
	pools := map[poolID][]*resourcev1.ResourceSlice{}
	named := map[string]*resourcev1.ResourceSlice{}
	for i, s := range list {
		if !index(f, named, "ResourceSlice", "Slices", i, s, (*resourcev1.ResourceSlice).GetName) {
			continue
		}
		object := fmt.Sprintf("ResourceSlice %q", s.Name)
		if s.Spec.Driver == "" {
			f.Add(object, "spec.driver", "is empty; devices are found by driver")
		}
		if s.Spec.Pool.Name == "" {
			f.Add(object, "spec.pool.name", "is empty; devices are found by pool")
		}
		id := poolID{s.Spec.Driver, s.Spec.Pool.Name}
		pools[id] = append(pools[id], s)
	}
	taken := map[poolID]int64{}
	for id := range allocated {
		taken[id.poolID]++
	}
	x.nodes = map[string]nodeDevices{}
	ids := slices.SortedFunc(maps.Keys(pools), func(a, b poolID) int {
		return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.pool, b.pool))
	})
	for _, id := range ids {
		slices.SortFunc(pools[id], func(a, b *resourcev1.ResourceSlice) int { return cmp.Compare(a.Name, b.Name) })
		x.addPool(id, pools[id], allocated, taken[id])
	}
}

// addPool adds the devices of a pool to the nodes that it is on. A pool that lacks slices, or has
// two devices of one name, has no devices: its driver is about to publish it anew.
func (x *Index) addPool(id poolID, all []*resourcev1.ResourceSlice, allocated map[deviceID]bool, taken int64) {
	newest := newestGeneration(all)
	complete := isComplete(newest)
	for node := range nodesOf(all) {
		d := x.onNode(node, id.driver)
		d.allComplete = d.allComplete && complete
		// Once the slice of an allocated device is gone, the node of the device is not known;
		// counting it on each node of the pool is safe.
		d.allocated += taken
	}
	if !complete {
		return
	}
	for _, s := range newest {
		for i := range s.Spec.Devices {
			device := &s.Spec.Devices[i]
			node := nodeOf(s, device)
			if node == "" {
				x.remote = append(x.remote, remoteDevice{id.driver, device})
				continue
			}
			d := x.onNode(node, id.driver)
			if allocated[deviceID{id, device.Name}] {
				d.taken = append(d.taken, device)
			} else {
				d.free = append(d.free, device)
			}
		}
	}
}

// onNode returns the devices of a driver on a node, adding an empty entry if necessary.
func (x *Index) onNode(node, driver string) *driverDevices {
	n := x.nodes[node]
	if n == nil {
		n = nodeDevices{}
		x.nodes[node] = n
	}
	d := n[driver]
	if d == nil {
		d = &driverDevices{allComplete: true}
		n[driver] = d
	}
	return d
}

// newestGeneration returns the slices of the highest generation.
func newestGeneration(all []*resourcev1.ResourceSlice) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, s := range all {
		switch g := s.Spec.Pool.Generation; {
		case len(out) == 0 || g > out[0].Spec.Pool.Generation:
			out = []*resourcev1.ResourceSlice{s}
		case g == out[0].Spec.Pool.Generation:
			out = append(out, s)
		}
	}
	return out
}

// isComplete says whether slices are all slices of their pool, with distinct device names.
func isComplete(pool []*resourcev1.ResourceSlice) bool {
	names := map[string]bool{}
	for _, s := range pool {
		if s.Spec.Pool.ResourceSliceCount != int64(len(pool)) {
			return false
		}
		for i := range s.Spec.Devices {
			if names[s.Spec.Devices[i].Name] {
				return false
			}
			names[s.Spec.Devices[i].Name] = true
		}
	}
	return true
}

// nodesOf returns the set of names of the nodes that slices name.
func nodesOf(pool []*resourcev1.ResourceSlice) map[string]bool {
	out := map[string]bool{}
	for _, s := range pool {
		if node := nodeOf(s, &resourcev1.Device{}); node != "" {
			out[node] = true
		}
		for i := range s.Spec.Devices {
			if node := nodeOf(s, &s.Spec.Devices[i]); node != "" {
				out[node] = true
			}
		}
	}
	return out
}

// nodeOf returns the only node that can reach a device, "" if several can.
func nodeOf(s *resourcev1.ResourceSlice, d *resourcev1.Device) string {
	of := s.Spec.NodeName
	if s.Spec.PerDeviceNodeSelection != nil && *s.Spec.PerDeviceNodeSelection {
		of = d.NodeName
	}
	if of == nil {
		return ""
	}
	return *of
}
