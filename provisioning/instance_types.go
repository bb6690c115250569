package provisioning

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// checkTypes reports the faults of all catalogs, each type once.
func checkTypes(pools []pool, f *faults) {
	checked := map[*cloudprovider.InstanceType]bool{}
	for i := range pools {
		p := &pools[i]
		catalog := fmt.Sprintf("InstanceTypes[%q]", p.object.Name)
		for j, t := range p.types {
			switch {
			case t == nil:
				f.add(catalog, "", "holds a nil instance type; leave it out")
				continue
			case j > 0 && p.types[j-1] != nil && p.types[j-1].Name == t.Name:
				f.add(catalog, "", "lists %q twice; list each instance type once", t.Name)
			}
			if checked[t] {
				continue
			}
			checked[t] = true
			if err := t.Validate(); err != nil {
				f.split(catalog, err)
			}
		}
	}
}

// newOptions lists what each pool may launch: the offerings that can be had
// now, of the types and with the labels that the pool's template allows. It
// numbers the options of all pools in one sequence and returns their number.
func newOptions(pools []pool) int {
	total := 0
	var list []option
	var known optionLists
	for i := range pools {
		p := &pools[i]
		p.first = total
		if p.idle.Cause != "" {
			continue
		}
		of := newSaleRules(p.template)
		list = list[:0]
		for _, t := range p.types {
			if !overlapsType(p.template, t) {
				continue
			}
			own := newSaleRules(t.Requirements)
			for j := range t.Offerings {
				if o := &t.Offerings[j]; o.Launchable() && of.allow(o) && own.allow(o) {
					list = append(list, option{LaunchOption: cloudprovider.LaunchOption{InstanceType: t, Offering: o}})
				}
			}
		}
		slices.SortStableFunc(list, func(a, b option) int { return a.LaunchOption.Compare(b.LaunchOption) })
		p.options = known.keep(list)
		if len(p.options) == 0 {
			p.idle = PoolReason{NodePool: p.object.Name, Cause: CauseNoInstanceTypes, Detail: p.whyNoOptions()}
		}
		total += len(p.options)
	}
	return total
}

// optionLists are lists of options that pools share: many pools differ in what they
// ask of pods, not in what they launch.
type optionLists map[cloudprovider.LaunchOption][][]option // by the first

// keep returns a copy of a list, the same for lists that are alike.
func (l *optionLists) keep(list []option) []option {
	if len(list) == 0 {
		return nil
	}
	first := list[0].LaunchOption
	for _, known := range (*l)[first] {
		if slices.Equal(known, list) {
			return known
		}
	}
	if *l == nil {
		*l = optionLists{}
	}
	list = slices.Clone(list)
	(*l)[first] = append((*l)[first], list)
	return list
}

// overlapping says whether two sets have a state in common for each key that
// both name.
func overlapping(a, b requirements.Set) bool {
	for r := range a.All() {
		if other, ok := b.Get(r.Key()); ok && !r.Overlaps(other) {
			return false
		}
	}
	return true
}

// overlapsType says whether a set and the labels of a type have a state in
// common for each key that both name.
func overlapsType(a requirements.Set, t *cloudprovider.InstanceType) bool {
	for r := range a.All() {
		if other, ok := typeRequirement(t, r.Key()); ok && !r.Overlaps(other) {
			return false
		}
	}
	return true
}

// saleRules are what a set says of where and as what something is sold.
type saleRules struct {
	set            requirements.Set
	zone, capacity requirements.Requirement
	zoned, kinds   bool // it names them
}

func newSaleRules(set requirements.Set) saleRules {
	r := saleRules{set: set}
	r.zone, r.zoned = set.Get(corev1.LabelTopologyZone)
	r.capacity, r.kinds = set.Get(v1.CapacityTypeLabelKey)
	return r
}

// allow says whether the set agrees with an offering.
func (r *saleRules) allow(o *cloudprovider.Offering) bool {
	return !(r.zoned && !r.zone.Has(o.Zone)) && !(r.kinds && !r.capacity.Has(o.CapacityType)) &&
		(o.Requirements.Len() == 0 || overlapping(o.Requirements, r.set))
}

// allows says whether the template of the pool and the labels of the type
// agree with an offering.
func (p *pool) allows(t *cloudprovider.InstanceType, o *cloudprovider.Offering) bool {
	of, own := newSaleRules(p.template), newSaleRules(t.Requirements)
	return of.allow(o) && own.allow(o)
}

// whyNoOptions says what leaves a pool without options.
func (p *pool) whyNoOptions() string {
	suited, offered := 0, 0
	for _, t := range p.types {
		if !overlapsType(p.template, t) {
			continue
		}
		suited++
		for j := range t.Offerings {
			if p.allows(t, &t.Offerings[j]) {
				offered++
			}
		}
	}
	switch {
	case suited == 0 && len(p.types) == 1:
		return "its requirements rule out the only instance type that it has"
	case suited == 0:
		return fmt.Sprintf("its requirements rule out all %d instance types", len(p.types))
	case offered == 0:
		return fmt.Sprintf("its requirements rule out every offering of the instance types that they allow (%d)", suited)
	case offered == 1:
		return "the only offering that its requirements allow is not available now"
	}
	return fmt.Sprintf("none of the %d offerings that its requirements allow is available now", offered)
}

// setCapacities works out what each option can give to pods: the allocatable
// of the type as bought by the offering, less the daemons that run there. What
// another problem on the same catalog found out is taken over.
func (p *Problem) setCapacities(f *faults) {
	known := p.catalog.capacities.find(p)
	if known == nil {
		before := len(f.list)
		known = p.workOutCapacities(f)
		if len(f.list) == before {
			p.catalog.capacities.keep(p, known)
		}
	}
	for i := range p.pools {
		p.pools[i].options = known.options[i]
	}
	p.onDaemon, p.lowOptions, p.distinct, p.rates = known.onDaemon, known.low, known.distinct, known.rates
}

// workOutCapacities is setCapacities the first time.
func (p *Problem) workOutCapacities(f *faults) *capacitiesOf {
	d := p.catalog.domains
	out := &capacitiesOf{resources: p.resources, low: make([]pack.Option, 0, d.total)}
	for i := range p.daemons {
		out.onDaemon = append(out.onDaemon, p.daemons[i].onNew(d))
	}
	known := map[capacityKey]*capacityOf{}
	var list []option
	var lists optionLists
	failed := map[*cloudprovider.InstanceType]bool{}
	mask := bitset.New(len(p.daemons))
	for i := range p.pools {
		pl := &p.pools[i]
		list = append(list[:0], pl.options...)
		for j := range list {
			o := &list[j]
			clear(mask)
			for k := range out.onDaemon {
				if out.onDaemon[k].Has(pl.first + j) {
					mask.Add(k)
				}
			}
			key := capacityKey{typ: o.InstanceType, daemons: mask.Key()}
			if o.Offering.Capacity != nil || o.Offering.Overhead != nil {
				key.offering = o.Offering
			}
			of, ok := known[key]
			if !ok {
				var err error
				of, err = p.net(o, mask)
				if err != nil && !failed[o.InstanceType] {
					failed[o.InstanceType] = true
					f.wrap(fmt.Sprintf("InstanceTypes[%q]", pl.object.Name), "", err)
				}
				known[key] = of
			}
			o.capacityOf = of
			out.low = append(out.low, pack.Option{Price: o.Offering.Price, Capacity: o.capacity, Reservation: p.catalog.stocks.of(o)})
		}
		out.options = append(out.options, lists.keep(list))
	}
	firsts := make([]int, len(p.pools))
	for i := range firsts {
		firsts[i] = p.pools[i].first
	}
	out.distinct = pack.NewCapacities(out.low, firsts, len(p.resources)+len(p.rules.slots))
	out.rates = newUnitPrices(out.options, len(p.resources))
	return out
}

// capacityOf is what an option has for pods, and what daemons take of it.
type capacityOf struct {
	capacity []int64         // allocatable less daemons, by resource of the problem
	daemons  *resources.List // what daemons take
}

// capacityKey tells capacities apart; options with equal keys share a vector.
type capacityKey struct {
	typ      *cloudprovider.InstanceType
	offering *cloudprovider.Offering // only if it overrides something
	daemons  string
}

func (p *Problem) net(o *option, daemons bitset.Set) (*capacityOf, error) {
	var taken resources.List
	free, err := o.InstanceType.AllocatableFor(o.Offering)
	negative := len(free.Negative()) > 0
	free = free.Merge(p.extras.ofType(o.InstanceType))
	var extra resources.List
	for k := range daemons.All() {
		if err == nil {
			taken, err = taken.Add(p.daemons[k].requests)
		}
		if err == nil {
			extra, err = extra.Add(p.daemons[k].extra)
		}
	}
	if err == nil {
		free, err = free.Sub(extra)
	}
	if err == nil {
		free, err = free.Sub(taken)
	}
	if negative {
		// Nothing fits on a node that has less than nothing of something.
		free = resources.New(map[corev1.ResourceName]int64{corev1.ResourcePods: -1})
	}
	out := &capacityOf{capacity: p.vector(free), daemons: &taken}
	for i := range p.rules.slots {
		out.capacity[len(p.resources)+i] = int64(p.rules.slots[i].count)
	}
	return out, err
}

// request is what a pod of a class takes of a node, slots included.
func (p *Problem) request(c int) []int64 {
	out := p.vector(p.classes[c].requests.Merge(p.classes[c].extra))
	for i := range p.rules.slots {
		if p.rules.slots[i].takes[c] {
			out[len(p.resources)+i] = 1
		}
	}
	return out
}

// resourceNames lists the resources that any class or daemon asks for, sorted:
// the dimensions of the problem.
func resourceNames(classes []class, daemons []daemon) []corev1.ResourceName {
	seen := map[corev1.ResourceName]bool{}
	for c := range classes {
		for name := range classes[c].requests.All() {
			seen[name] = true
		}
		for name := range classes[c].extra.All() {
			seen[name] = true
		}
	}
	for i := range daemons {
		for name := range daemons[i].requests.All() {
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

// vector lays out a list by the resources of the problem, with room for the
// slots behind them. Less than nothing
// counts as nothing: a resource that is overcommitted keeps only those pods
// away that ask for some, as kube-scheduler has it.
func (p *Problem) vector(l resources.List) []int64 {
	out := make([]int64, len(p.resources)+len(p.rules.slots))
	for i, name := range p.resources {
		out[i] = max(l.Get(name), 0)
	}
	return out
}
