package device

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Counts converts needs and devices to amounts of artificial resources, such that pods whose
// amounts fit on a node can be given their devices there.
type Counts struct {
	sets       []*selectorSet // by name
	index      map[string]int // by name of a set: its index in sets
	wholes     []whole        // by name
	tried      []string       // names of sets that a demand tries before the one it uses
	failed     bitset.Set     // sets that cannot be evaluated for some device
	dimensions []dimension    // by name
	crowded    bitset.Set     // sets with too many groups of overlapping sets
	remote     bitset.Set     // sets that match devices which several nodes can reach
	notes      []map[string]bool

	types map[*cloudprovider.InstanceType]map[string]*driverStock
	nodes map[string]map[string]*driverStock
}

// Count computes the dimensions of some needs, those of DaemonSets included, and the amounts that
// instance types and nodes have. Instance types may be listed several times; nil ones are ignored.
//
// It evaluates each selector once for each kind of device of each instance type, and once for each
// device that nodes have published.
func (x *Index) Count(needs []Need, types []*cloudprovider.InstanceType) *Counts {
	c := &Counts{
		index: map[string]int{},
		types: map[*cloudprovider.InstanceType]map[string]*driverStock{},
		nodes: map[string]map[string]*driverStock{},
	}
	c.collect(needs)
	c.crowded = bitset.New(len(c.sets))
	if len(c.sets) == 0 {
		return c
	}
	e := &evaluator{sets: c.sets, matcher: x.matcher, whole: len(c.wholes) > 0, failed: bitset.New(len(c.sets))}
	for range c.sets {
		e.notes = append(e.notes, map[string]bool{})
	}
	for _, t := range types {
		if _, done := c.types[t]; t != nil && !done {
			c.types[t] = e.stocks(promised(t))
		}
	}
	for name, n := range x.nodes {
		c.nodes[name] = e.published(n)
	}
	c.remote = e.remote(x.remote)
	c.notes, c.failed = e.notes, e.failed
	c.setDimensions()
	return c
}

// collect lists the selector sets and the requests for all devices that the needs refer to.
func (c *Counts) collect(needs []Need) {
	sets := map[string]*selectorSet{}
	wholes := map[string]whole{}
	tried := map[string]bool{}
	for i := range needs {
		for _, d := range needs[i].Demands {
			for _, w := range d.whole {
				wholes[w.name()] = w
			}
			for _, s := range slices.Concat(d.sets(), d.tried) {
				sets[s.name] = s
			}
			for _, s := range d.tried {
				tried[s.name] = true
			}
		}
	}
	c.tried = slices.Sorted(maps.Keys(tried))
	for i, name := range slices.Sorted(maps.Keys(sets)) {
		c.sets = append(c.sets, sets[name])
		c.index[name] = i
	}
	for _, name := range slices.Sorted(maps.Keys(wholes)) {
		c.wholes = append(c.wholes, wholes[name])
	}
}

// signatures lists the distinct signatures of all free devices, sorted.
func (c *Counts) signatures() []bitset.Set {
	seen := map[string]bitset.Set{}
	add := func(drivers map[string]*driverStock) {
		for _, d := range drivers {
			for _, s := range d.free {
				seen[s.sets.Key()] = s.sets
			}
		}
	}
	for _, drivers := range c.types {
		add(drivers)
	}
	for _, drivers := range c.nodes {
		add(drivers)
	}
	out := make([]bitset.Set, 0, len(seen))
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, seen[key])
	}
	return out
}

// Requests returns the amounts that a pod needs, one list for each of its demands in their order;
// the list of a demand without devices is empty. The need must be one of those given to Count. A
// node suits the pod if it has the amounts of any demand, and kube-scheduler takes the first demand
// that the node satisfies. Plans must use the same demand, so use the first demand that any
// instance type or node can satisfy at all.
//
// The refusal is that of the need, or says that its requests overlap in a way that is not modelled.
func (c *Counts) Requests(n *Need) ([]resources.List, *Refusal) {
	if n.Refusal != nil {
		return nil, n.Refusal
	}
	var out []resources.List
	for _, d := range n.Demands {
		for _, w := range d.some {
			if c.crowded.Has(c.index[w.set.name]) {
				return nil, unsupported("resource claims: devices of class %s, as too many different requests of the pods overlap in the devices they match", w.set.name)
			}
		}
		amounts := map[corev1.ResourceName]int64{}
		for i := range c.dimensions {
			dim := &c.dimensions[i]
			n := dim.asked(c, d)
			if dim.kind == soleUse && n > soleUses {
				return nil, unsupported("resource claims: all devices of class %s, and some of the same in another request", c.sets[dim.set].name)
			}
			if n > 0 {
				amounts[dim.name] = n
			}
		}
		out = append(out, resources.New(amounts))
	}
	return out, nil
}

// OfType returns the amounts of a new node of an instance type, zero amounts left out. An instance
// type that was not given to Count has no devices.
func (c *Counts) OfType(t *cloudprovider.InstanceType) resources.List {
	var parts []part
	for _, d := range c.types[t] {
		parts = append(parts, part{driverStock: d})
	}
	return c.list(parts)
}

// OfNode returns the amounts that are left on a node: its published devices that are not allocated.
// While the node is starting and t is known, the devices of the instance type count for each driver
// that has not published all of its pools there, minus the devices of the driver that are
// allocated. name is that of the Node, "" if there is none; t may be nil.
func (c *Counts) OfNode(name string, starting bool, t *cloudprovider.InstanceType) resources.List {
	published := c.nodes[name]
	var promises map[string]*driverStock
	if starting {
		promises = c.types[t]
	}
	var parts []part
	for driver, d := range published {
		if promises[driver] == nil || d.allComplete {
			parts = append(parts, part{driverStock: d})
		}
	}
	for driver, promise := range promises {
		p := part{driverStock: promise}
		if d := published[driver]; d != nil {
			if d.allComplete {
				continue
			}
			p.less = d.allocated
		}
		parts = append(parts, p)
	}
	return c.list(parts)
}

// part is the devices of one driver on a node, minus an unknown choice of less allocated ones.
type part struct {
	*driverStock
	less int64
}

// list returns the amounts of all dimensions that are not zero.
func (c *Counts) list(parts []part) resources.List {
	amounts := map[corev1.ResourceName]int64{}
	for i := range c.dimensions {
		dim := &c.dimensions[i]
		if n := dim.had(c, parts); n > 0 {
			amounts[dim.name] = n
		}
	}
	return resources.New(amounts)
}

// Drivers lists, sorted, the drivers of an instance type whose devices can satisfy some demands.
func (c *Counts) Drivers(t *cloudprovider.InstanceType, demands []Demand) []string {
	wanted := bitset.New(len(c.sets))
	for _, d := range demands {
		for _, s := range d.sets() {
			wanted.Add(c.index[s.name])
		}
	}
	var out []string
	for driver, has := range c.types[t] {
		if matching(has.free, wanted) > 0 {
			out = append(out, driver)
		}
	}
	slices.Sort(out)
	return out
}

// Notes returns reasons why a pod could use more devices than are counted: selectors that could not
// be evaluated, and devices that are not counted. They are sorted, and nil if there are none.
func (c *Counts) Notes(n *Need) []string {
	seen := map[string]bool{}
	add := func(s *selectorSet) {
		if i, ok := c.index[s.name]; ok {
			maps.Copy(seen, c.notes[i])
		}
	}
	for _, d := range n.Demands {
		for _, s := range d.sets() {
			add(s)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
