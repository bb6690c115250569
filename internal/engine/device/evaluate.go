package device

import (
	"maps"
	"reflect"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// stock is a number of devices that the same selector sets match.
type stock struct {
	sets  bitset.Set // the signature
	count int64
}

// group is a number of equal devices of a driver.
type group struct {
	driver string
	device *resourcev1.Device
	count  int64
	taken  bool // a claim has it
}

// driverStock is the devices of one driver on an instance type or node.
type driverStock struct {
	free []stock
	// blocked are the sets that select a device which is not available: it is allocated, not
	// counted, or has a taint.
	blocked bitset.Set
	// failed are the sets that cannot be evaluated for some device of the node, of any driver.
	failed bitset.Set
	// See driverDevices.
	allocated   int64
	allComplete bool
}

// evaluator compares devices with all selector sets in use.
type evaluator struct {
	sets    []*selectorSet
	matcher cloudprovider.DeviceMatcher
	whole   bool              // some request is for all devices
	notes   []map[string]bool // by set
	failed  bitset.Set        // sets that could not be evaluated for some device
}

// stocks evaluates the devices of one instance type or node and returns the stock of each driver. A
// set that cannot be evaluated for one device matches none, because kube-scheduler then gives up.
func (e *evaluator) stocks(groups []group) map[string]*driverStock {
	out := map[string]*driverStock{}
	failed := bitset.New(len(e.sets))
	for _, g := range groups {
		d := out[g.driver]
		if d == nil {
			d = &driverStock{blocked: bitset.New(len(e.sets)), allComplete: true}
			out[g.driver] = d
		}
		if g.taken && !e.whole {
			continue // only requests for all devices depend on it
		}
		sets, tainted := e.signature(g.driver, g.device, failed)
		d.blocked.Or(tainted)
		why := uncounted(g.device)
		switch {
		case g.taken:
			d.blocked.Or(sets)
		case why != "":
			d.blocked.Or(sets)
			for i := range sets.All() {
				e.notes[i]["devices of driver "+g.driver+" match, but "+why] = true
			}
		case !sets.Empty():
			d.free = append(d.free, stock{sets, g.count})
		}
	}
	e.failed.Or(failed)
	for _, d := range out {
		d.free, d.failed = merged(d.free, failed), failed
	}
	return out
}

// signature returns the sets that match a device, and the sets that would match it without its
// taints. It adds to failed the sets that cannot be evaluated for it.
func (e *evaluator) signature(driver string, d *resourcev1.Device, failed bitset.Set) (match, tainted bitset.Set) {
	match, tainted = bitset.New(len(e.sets)), bitset.New(len(e.sets))
	known := map[string]verdict{}
	for i, s := range e.sets {
		ok, err := s.selects(e.matcher, driver, d, known)
		switch {
		case err != nil:
			failed.Add(i)
			e.notes[i][err.Error()] = true
		case ok && toleratesAll(s.tolerations, d.Taints):
			match.Add(i)
		case ok:
			tainted.Add(i)
		}
	}
	return match, tainted
}

// remote returns the sets that select devices which several nodes can reach, and notes that these
// devices are not counted.
func (e *evaluator) remote(devices []remoteDevice) bitset.Set {
	out := bitset.New(len(e.sets))
	for _, r := range devices {
		sets, tainted := e.signature(r.driver, r.device, bitset.New(len(e.sets)))
		out.Or(sets)
		out.Or(tainted)
		for i := range sets.All() {
			e.notes[i]["devices of driver "+r.driver+" match, but are not counted, as several nodes can reach them"] = true
		}
	}
	return out
}

// uncounted says why devices of this kind are not counted, "" if they are.
func uncounted(d *resourcev1.Device) string {
	switch {
	case len(d.ConsumesCounters) > 0:
		return "are not counted, as they draw on shared counters"
	case d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations:
		return "are not counted, as they can be allocated several times"
	case providesNodeResources(d):
		return "are not counted, as they provide resources of the node"
	}
	return ""
}

// providesNodeResources says whether a device provides resources of its node, such as CPUs. The
// field that says so has different names in Kubernetes 1.36 and 1.37, and the importing program
// decides with which of them this package is built.
func providesNodeResources(d *resourcev1.Device) bool {
	fields := reflect.ValueOf(d).Elem()
	for _, name := range []string{"NodeAllocatableResourceMappings", "NodeAllocatableResources"} {
		if f := fields.FieldByName(name); f.IsValid() && f.Len() > 0 {
			return true
		}
	}
	return false
}

// merged sums stocks with equal signatures, without the failed sets.
func merged(list []stock, failed bitset.Set) []stock {
	counts := map[string]stock{}
	for _, s := range list {
		if s.sets = s.sets.Without(failed); s.sets.Empty() {
			continue
		}
		key := s.sets.Key()
		s.count = saturatedSum(s.count, counts[key].count)
		counts[key] = s
	}
	out := make([]stock, 0, len(counts))
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, counts[key])
	}
	return out
}

// matching counts the devices that any set of a group matches.
func matching(list []stock, group bitset.Set) int64 {
	n := int64(0)
	for _, s := range list {
		if s.sets.Overlaps(group) {
			n = saturatedSum(n, s.count)
		}
	}
	return n
}

// promised lists the devices of an instance type.
func promised(t *cloudprovider.InstanceType) []group {
	out := make([]group, 0, len(t.Devices))
	for i := range t.Devices {
		d := &t.Devices[i]
		if d.Count > 0 {
			out = append(out, group{driver: d.Driver, device: &d.Device, count: min(int64(d.Count), most)})
		}
	}
	return out
}

// published evaluates the devices that the drivers of a node have published.
func (e *evaluator) published(n nodeDevices) map[string]*driverStock {
	var groups []group
	for _, driver := range slices.Sorted(maps.Keys(n)) {
		for _, d := range n[driver].free {
			groups = append(groups, group{driver: driver, device: d, count: 1})
		}
		for _, d := range n[driver].taken {
			groups = append(groups, group{driver: driver, device: d, count: 1, taken: true})
		}
	}
	stocks := e.stocks(groups)
	out := map[string]*driverStock{}
	for driver, d := range n {
		s := stocks[driver]
		if s == nil {
			s = &driverStock{blocked: bitset.New(len(e.sets)), failed: bitset.New(len(e.sets))}
		}
		s.allocated, s.allComplete = d.allocated, d.allComplete
		out[driver] = s
	}
	return out
}
