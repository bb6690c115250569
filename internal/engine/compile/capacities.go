package compile

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// find returns the cached capacities for the resources of a problem, without slots, or nil.
func find(c *catalog.Capacities, p *Problem) *catalog.CapacitiesOf {
	if p.countsExtras() {
		return nil
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for _, known := range c.Known {
		if slices.Equal(known.Resources, p.Resources) && model.SameList(known.DaemonSetPods, p.In.DaemonSetPods) {
			return known
		}
	}
	return nil
}

// keep caches the capacities of a problem.
func keep(c *catalog.Capacities, p *Problem, of *catalog.CapacitiesOf) {
	if p.countsExtras() || find(c, p) != nil {
		return
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Known = slices.Insert(c.Known[:min(len(c.Known), catalog.MostCapacities-1)], 0, of)
}

// countsResourcesOnly says whether resources are the only dimensions of the problem. Slots, volumes
// and devices mean something different in each problem.
func (p *Problem) countsResourcesOnly() bool { return len(p.Rules.Slots) == 0 && !p.countsExtras() }

// countsExtras says whether volumes or devices are dimensions of the problem.
func (p *Problem) countsExtras() bool { return p.Extras.Counts != nil || len(p.Extras.Drivers) > 0 }

// setCapacities computes the room of each option: the allocatable of the type with the offering,
// minus the daemons that run there. It reuses what another problem on the same catalog has
// computed.
func (p *Problem) setCapacities(f *model.Faults) {
	known := find(&p.Catalog.Capacities, p)
	if known == nil {
		before := len(f.List)
		known = p.workOutCapacities(f)
		if len(f.List) == before {
			keep(&p.Catalog.Capacities, p, known)
		}
	}
	if len(p.Rules.Slots) > 0 {
		known = known.WithSlots(p.slotCounts())
	}
	for i := range p.Pools {
		p.Pools[i].Options = known.Options[i]
	}
	p.onDaemon, p.LowOptions, p.Distinct, p.Rates = known.OnDaemon, known.Low, known.Distinct, known.Rates
}

// leastPrice is the price by which the packer reckons with a cheaper option, in USD per hour. A provider may
// write the least number above zero for what is paid already, and the packer divides by prices.
const leastPrice = 1e-30

// workOutCapacities computes the capacities without a cache, and without slots.
func (p *Problem) workOutCapacities(f *model.Faults) *catalog.CapacitiesOf {
	d := p.Catalog.Domains
	out := &catalog.CapacitiesOf{Resources: p.Resources, DaemonSetPods: p.In.DaemonSetPods, Low: make([]pack.Option, 0, d.Total)}
	for i := range p.Daemons {
		out.OnDaemon = append(out.OnDaemon, p.optionsOf(&p.Daemons[i], false))
	}
	known := map[catalog.CapacityKey]*catalog.CapacityOf{}
	taken := map[string]*resources.List{} // by set of daemons
	var list []catalog.Option
	var lists catalog.OptionLists
	failed := map[*cloudprovider.InstanceType]bool{}
	mask := bitset.New(len(p.Daemons))
	for i := range p.Pools {
		pl := &p.Pools[i]
		list = append(list[:0], pl.Options...)
		for j := range list {
			o := &list[j]
			clear(mask)
			for k := range out.OnDaemon {
				if out.OnDaemon[k].Has(pl.First + j) {
					mask.Add(k)
				}
			}
			key := catalog.CapacityKey{Typ: o.InstanceType, Daemons: mask.Key()}
			if o.Offering.Capacity != nil || o.Offering.Overhead != nil {
				key.Offering = o.Offering
			}
			of, ok := known[key]
			if !ok {
				var err error
				of, err = p.net(o, mask)
				if err != nil && !failed[o.InstanceType] {
					failed[o.InstanceType] = true
					f.Wrap(fmt.Sprintf("InstanceTypes[%q]", pl.Object.Name), "", err)
				}
				if taken[key.Daemons] == nil {
					taken[key.Daemons] = of.Daemons
				}
				of.Daemons = taken[key.Daemons] // one pointer for each set, so that loops over options can compare pointers
				known[key] = of
			}
			o.CapacityOf = of
			out.Low = append(out.Low, pack.Option{Price: max(o.Offering.Price, leastPrice), Capacity: o.Capacity, Reservation: p.Catalog.Reservations.Of(o)})
		}
		out.Options = append(out.Options, lists.Keep(list))
	}
	out.Distinct = out.Distinguish(len(p.Resources))
	out.Rates = catalog.NewUnitPrices(out.Options, len(p.Resources))
	return out
}

// slotCounts returns the number of each slot on a node.
func (p *Problem) slotCounts() (out []int64) {
	for i := range p.Rules.Slots {
		out = append(out, int64(p.Rules.Slots[i].count))
	}
	return out
}

// Allocatable returns what an option, with its number among the options of all pools, has of a
// resource for pods and DaemonSets. It is negative if the overhead exceeds the capacity.
func (p *Problem) Allocatable(o *catalog.Option, number int, name corev1.ResourceName) int64 {
	mask := bitset.New(len(p.Daemons))
	for k := range p.onDaemon {
		if p.onDaemon[k].Has(number) {
			mask.Add(k)
		}
	}
	free, _, _ := p.optionRoom(o, mask) // setCapacities reports errors
	return free.Get(name)
}

// DaemonsAsking lists the daemons on an option, by its number among the options of all pools, that
// request some of a resource, the largest request first.
func (p *Problem) DaemonsAsking(number int, name corev1.ResourceName) []*workload.Daemon {
	var out []*workload.Daemon
	for k := range p.onDaemon {
		if d := &p.Daemons[k]; p.onDaemon[k].Has(number) && d.Requests.Get(name) > 0 {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b *workload.Daemon) int { return cmp.Compare(b.Requests.Get(name), a.Requests.Get(name)) })
	return out
}

// optionRoom returns the room of an option for pods and DaemonSets, and the requests of its DaemonSets.
func (p *Problem) optionRoom(o *catalog.Option, daemons bitset.Set) (free, taken resources.List, err error) {
	free, err = o.InstanceType.AllocatableFor(o.Offering)
	negative := len(free.Negative()) > 0
	free = free.Merge(p.Extras.OfType(o.InstanceType))
	var extra resources.List
	for k := range daemons.All() {
		if err == nil {
			taken, err = taken.Add(p.Daemons[k].Requests)
		}
		if err == nil {
			extra, err = extra.Add(p.Daemons[k].Extra)
		}
	}
	if err == nil {
		free, err = free.Sub(extra)
	}
	if negative {
		// Nothing fits on a node with a negative amount of any resource.
		free = resources.New(map[corev1.ResourceName]int64{corev1.ResourcePods: -1})
	}
	return free, taken, err
}

func (p *Problem) net(o *catalog.Option, daemons bitset.Set) (*catalog.CapacityOf, error) {
	free, taken, err := p.optionRoom(o, daemons)
	if err == nil {
		free, err = free.Sub(taken)
	}
	out := &catalog.CapacityOf{Capacity: make([]int64, len(p.Resources)), Daemons: &taken}
	p.layOut(out.Capacity, free)
	return out, err
}

// request returns what a pod of a class uses of a node, slots included.
func (p *Problem) request(c int) []int64 {
	out := p.vector(p.Classes[c].Requests.Merge(p.Classes[c].Extra))
	for i := range p.Rules.Slots {
		if p.Rules.Slots[i].Takes[c] {
			out[len(p.Resources)+i] = 1
		}
	}
	return out
}

// resourceNames lists the resources that any class or daemon requests, sorted: the dimensions of
// the problem.
func resourceNames(classes []workload.Class, daemons []workload.Daemon) []corev1.ResourceName {
	seen := map[corev1.ResourceName]bool{}
	for c := range classes {
		for name := range classes[c].Requests.All() {
			seen[name] = true
		}
		for name := range classes[c].Extra.All() {
			seen[name] = true
		}
	}
	for i := range daemons {
		for name := range daemons[i].Requests.All() {
			seen[name] = true
		}
	}
	out := make([]corev1.ResourceName, 0, len(seen))
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// vector converts a list to a vector by the resources of the problem, with room for the slots at
// the end. A negative amount counts as zero: as in kube-scheduler, an overcommitted resource
// excludes only pods that request it.
func (p *Problem) vector(l resources.List) []int64 {
	out := make([]int64, len(p.Resources)+len(p.Rules.Slots))
	p.layOut(out, l)
	return out
}

// layOut is vector for a given vector of zeros.
func (p *Problem) layOut(vector []int64, l resources.List) {
	for i, name := range p.Resources {
		vector[i] = max(l.Get(name), 0)
	}
}
