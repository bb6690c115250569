package catalog

import (
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Capacities caches the room that the options of a catalog have for pods, in the dimensions of
// recent problems: nearly all of thousands of what-ifs use the same few sets of resources. The zero
// value is empty. A cached value equals a recomputed one, so results do not depend on the cache.
type Capacities struct {
	Mu    sync.Mutex
	Known []*CapacitiesOf // the most recent, newest first
}

// MostCapacities is how many sets of resources the cache holds.
const MostCapacities = 8

// CapacitiesOf are the options in the dimensions of one problem. It is read-only once it is cached.
type CapacitiesOf struct {
	Resources     []corev1.ResourceName
	DaemonSetPods []*corev1.Pod // their requests are subtracted
	Options       [][]Option    // by pool
	OnDaemon      []bitset.Set
	Low           []pack.Option
	Distinct      *levels.Capacities
	Rates         *UnitPrices
}

// Distinguish groups the options by their capacities, which have dims dimensions.
func (c *CapacitiesOf) Distinguish(dims int) *levels.Capacities {
	firsts, first := make([]int, len(c.Options)), 0
	for i := range c.Options {
		firsts[i] = first
		first += len(c.Options[i])
	}
	return pack.NewCapacities(c.Low, firsts, dims)
}

// WithSlots returns the capacities with the counts of slots after the resources.
func (c *CapacitiesOf) WithSlots(counts []int64) *CapacitiesOf {
	out := *c
	out.Options, out.Low = nil, make([]pack.Option, 0, len(c.Low))
	known := map[*CapacityOf]*CapacityOf{}
	var list []Option
	var lists OptionLists
	for i := range c.Options {
		list = append(list[:0], c.Options[i]...)
		for j := range list {
			of := list[j].CapacityOf
			if known[of] == nil {
				known[of] = &CapacityOf{Capacity: slices.Concat(of.Capacity, counts), Daemons: of.Daemons}
			}
			list[j].CapacityOf = known[of]
			low := c.Low[len(out.Low)]
			low.Capacity = known[of].Capacity
			out.Low = append(out.Low, low)
		}
		out.Options = append(out.Options, lists.Keep(list))
	}
	out.Distinct = out.Distinguish(len(c.Resources) + len(counts))
	return &out
}

// CheckTypes reports the faults of the instance types of all pools, each type once. It adds the
// types to checked and skips those that checked has already.
func CheckTypes(pools []Pool, checked map[*cloudprovider.InstanceType]bool, f *model.Faults) {
	for i := range pools {
		p := &pools[i]
		catalog := fmt.Sprintf("InstanceTypes[%q]", p.Object.Name)
		for j, t := range p.Types {
			switch {
			case t == nil:
				f.Add(catalog, "", "holds a nil instance type; leave it out")
				continue
			case j > 0 && p.Types[j-1] != nil && p.Types[j-1].Name == t.Name:
				f.Add(catalog, "", "lists %q twice; list each instance type once", t.Name)
			}
			if checked[t] {
				continue
			}
			checked[t] = true
			if err := t.Validate(); err != nil {
				f.InField(catalog, ": ", err)
			}
		}
	}
}

// newOptions lists the options of each pool that has no list yet: the available offerings whose
// type and labels the template of the pool allows. It numbers the options of all pools in one
// sequence and returns their number.
func newOptions(pools []Pool) int {
	total := 0
	var list []Option
	var known OptionLists
	for i := range pools {
		p := &pools[i]
		p.First = total
		if p.Idle.Cause != "" {
			continue
		}
		if len(p.Options) > 0 {
			p.Options = known.share(p.Options)
			total += len(p.Options)
			continue
		}
		list = list[:0]
		p.offers(p.Template, func(o cloudprovider.LaunchOption) {
			if o.Offering.Launchable() {
				list = append(list, Option{LaunchOption: o})
			} else {
				p.soldOut = append(p.soldOut, o)
			}
		})
		slices.SortStableFunc(list, func(a, b Option) int { return a.LaunchOption.Compare(b.LaunchOption) })
		p.Options = known.Keep(list)
		if len(p.Options) == 0 {
			p.Idle = p.whyNoOptions()
		}
		total += len(p.Options)
	}
	return total
}

// offers calls each for the offerings of the pool, available or not, that a set of requirements and
// their instance type allow. It returns the number of instance types that the set allows.
func (p *Pool) offers(set requirements.Set, each func(cloudprovider.LaunchOption)) (types int) {
	of := newSaleRules(set)
	for _, t := range p.Types {
		if !OverlapsType(set, t) {
			continue
		}
		types++
		own := newSaleRules(t.Requirements)
		for i := range t.Offerings {
			if o := &t.Offerings[i]; of.allow(o) && own.allow(o) {
				each(cloudprovider.LaunchOption{InstanceType: t, Offering: o})
			}
		}
	}
	return types
}

// OptionLists are lists of options that pools share: many pools have different labels or taints and
// launch the same options.
type OptionLists map[cloudprovider.LaunchOption][][]Option // by the first option of each list

// Keep returns a list equal to the given one: a known list, or else a copy, which becomes known.
func (l *OptionLists) Keep(list []Option) []Option {
	if known, ok := l.find(list); ok {
		return known
	}
	return l.add(slices.Clone(list))
}

// share is Keep without the copy: the caller must not write to the list afterwards.
func (l *OptionLists) share(list []Option) []Option {
	if known, ok := l.find(list); ok {
		return known
	}
	return l.add(list)
}

func (l *OptionLists) find(list []Option) (known []Option, ok bool) {
	if len(list) == 0 {
		return nil, true
	}
	for _, known := range (*l)[list[0].LaunchOption] {
		if slices.Equal(known, list) {
			return known, true
		}
	}
	return nil, false
}

func (l *OptionLists) add(list []Option) []Option {
	if *l == nil {
		*l = OptionLists{}
	}
	first := list[0].LaunchOption
	(*l)[first] = append((*l)[first], list)
	return list
}

// overlapping says whether two sets of requirements have a common state for each key that both
// name.
func overlapping(a, b requirements.Set) bool {
	for r := range a.All() {
		if other, ok := b.Get(r.Key()); ok && !r.Overlaps(other) {
			return false
		}
	}
	return true
}

// OverlapsType says whether a set of requirements and the labels of an instance type have a common
// state for each key that both name.
func OverlapsType(a requirements.Set, t *cloudprovider.InstanceType) bool {
	for r := range a.All() {
		if other, ok := TypeRequirement(t, r.Key()); ok && !r.Overlaps(other) {
			return false
		}
	}
	return true
}

// saleRules are the requirements of a set on zone and capacity type, looked up once.
type saleRules struct {
	set            requirements.Set
	zone, capacity requirements.Requirement
	zoned, kinds   bool // whether the set names zone, and capacity type
}

func newSaleRules(set requirements.Set) saleRules {
	r := saleRules{set: set}
	r.zone, r.zoned = set.Get(corev1.LabelTopologyZone)
	r.capacity, r.kinds = set.Get(v1.CapacityTypeLabelKey)
	return r
}

// allow says whether an offering can satisfy the set.
func (r *saleRules) allow(o *cloudprovider.Offering) bool {
	return !(r.zoned && !r.zone.Has(o.Zone)) && !(r.kinds && !r.capacity.Has(o.CapacityType)) &&
		(o.Requirements.Len() == 0 || overlapping(o.Requirements, r.set))
}

// CapacityOf is the room that an option has for pods, and what daemons use of it.
type CapacityOf struct {
	Capacity []int64         // allocatable minus daemons, by resource of the problem
	Daemons  *resources.List // requests of the daemons
}

// CapacityKey identifies a capacity: options with equal keys share one vector.
type CapacityKey struct {
	Typ      *cloudprovider.InstanceType
	Offering *cloudprovider.Offering // set only if it has a capacity or overhead of its own
	Daemons  string
}
