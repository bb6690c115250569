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

// Capacities remembers what the options of a catalog have for pods, as problems
// on it had it: of thousands of what-ifs nearly all ask about the same few sets of
// resources. The zero value remembers nothing. What it gives is what would be
// worked out anew, so that nobody can tell who asked before.
type Capacities struct {
	Mu    sync.Mutex
	Known []*CapacitiesOf // the last ones kept, newest first
}

// MostCapacities is how many sets of resources are remembered.
const MostCapacities = 8

// CapacitiesOf are the options in the dimensions of one problem. They are not
// written once they are kept.
type CapacitiesOf struct {
	Resources     []corev1.ResourceName
	DaemonSetPods []*corev1.Pod // their room is taken off
	Options       [][]Option    // by pool
	OnDaemon      []bitset.Set
	Low           []pack.Option
	Distinct      *levels.Capacities
	Rates         *UnitPrices
}

// CheckTypes reports the faults of all catalogs, each type once, and notes that it was
// looked at. Types that were before are passed over.
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
				f.Split(catalog, err)
			}
		}
	}
}

// newOptions lists what each pool may launch: the offerings that can be had
// now, of the types and with the labels that the pool's template allows, unless
// that is listed already. It numbers the options of all pools in one sequence and returns
// their number.
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
		of := newSaleRules(p.Template)
		list = list[:0]
		for _, t := range p.Types {
			if !OverlapsType(p.Template, t) {
				continue
			}
			own := newSaleRules(t.Requirements)
			for j := range t.Offerings {
				o := &t.Offerings[j]
				if !of.allow(o) || !own.allow(o) {
					continue
				}
				if option := (cloudprovider.LaunchOption{InstanceType: t, Offering: o}); o.Launchable() {
					list = append(list, Option{LaunchOption: option})
				} else {
					p.soldOut = append(p.soldOut, option)
				}
			}
		}
		slices.SortStableFunc(list, func(a, b Option) int { return a.LaunchOption.Compare(b.LaunchOption) })
		p.Options = known.Keep(list)
		if len(p.Options) == 0 {
			p.Idle = p.whyNoOptions()
		}
		total += len(p.Options)
	}
	return total
}

// OptionLists are lists of options that pools share: many pools differ in what they
// ask of pods, not in what they launch.
type OptionLists map[cloudprovider.LaunchOption][][]Option // by the first

// Keep returns a copy of a list, the same for lists that are alike.
func (l *OptionLists) Keep(list []Option) []Option {
	if known, ok := l.find(list); ok {
		return known
	}
	return l.add(slices.Clone(list))
}

// share returns a list that nobody writes to, the same for lists that are alike.
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

// Overlapping says whether two sets have a state in common for each key that
// both name.
func Overlapping(a, b requirements.Set) bool {
	for r := range a.All() {
		if other, ok := b.Get(r.Key()); ok && !r.Overlaps(other) {
			return false
		}
	}
	return true
}

// OverlapsType says whether a set and the labels of a type have a state in
// common for each key that both name.
func OverlapsType(a requirements.Set, t *cloudprovider.InstanceType) bool {
	for r := range a.All() {
		if other, ok := TypeRequirement(t, r.Key()); ok && !r.Overlaps(other) {
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
		(o.Requirements.Len() == 0 || Overlapping(o.Requirements, r.set))
}

// CapacityOf is what an option has for pods, and what daemons take of it.
type CapacityOf struct {
	Capacity []int64         // allocatable less daemons, by resource of the problem
	Daemons  *resources.List // what daemons take
}

// CapacityKey tells capacities apart; options with equal keys share a vector.
type CapacityKey struct {
	Typ      *cloudprovider.InstanceType
	Offering *cloudprovider.Offering // only if it overrides something
	Daemons  string
}
