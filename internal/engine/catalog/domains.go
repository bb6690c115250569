package catalog

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// domain lists, for one pool and label key, the values that the label can have on each option. Few
// values occur on many options, so each distinct requirement is stored once.
type domain struct {
	Distinct []requirements.Requirement
	of       []int32 // by option of the pool: index in Distinct
	Free     bool    // some option allows more than one state of the label
}

// Domains computes domains on demand and caches them. It is safe for concurrent use.
type Domains struct {
	vocabulary *requirements.Vocabulary
	Pools      []Pool
	types      []typeIndex // by pool
	known      map[domainKey]*domain
	bits       map[bitsKey]bitset.Set
	naming     map[domainKey]bitset.Set // options whose type or offering names the label
	Total      int                      // options of all pools
	none       bitset.Set               // the empty set of all options

	places map[int][]int32 // by pool: see Places

	mu sync.Mutex // guards known, bits, naming and places
}

type domainKey struct {
	pool int
	key  string
}

type bitsKey struct {
	pool        int
	requirement string
	certain     bool
}

func newDomains(v *requirements.Vocabulary, pools []Pool, total int) *Domains {
	d := &Domains{vocabulary: v, Pools: pools, Total: total, none: bitset.New(total)}
	d.known, d.bits, d.naming = map[domainKey]*domain{}, map[bitsKey]bitset.Set{}, map[domainKey]bitset.Set{}
	d.places = map[int][]int32{}
	known := map[*Option]typeIndex{} // pools share lists of options
	for i := range pools {
		var first *Option
		if len(pools[i].Options) > 0 {
			first = &pools[i].Options[0]
		}
		types, ok := known[first]
		if !ok {
			types = newTypeIndex(&pools[i])
			known[first] = types
		}
		d.types = append(d.types, types)
	}
	return d
}

// inherit copies the domains of kept pools from another catalog.
func (d *Domains) inherit(like *Catalog, kept []int) {
	if like == nil {
		return
	}
	now := map[int]int{} // by pool index in like: the pool index here
	for i, before := range kept {
		if before >= 0 {
			now[before] = i
		}
	}
	like.Domains.mu.Lock()
	defer like.Domains.mu.Unlock()
	for id, known := range like.Domains.known { // each entry is independent, so the order does not matter
		if i, ok := now[id.pool]; ok {
			d.known[domainKey{i, id.key}] = known
		}
	}
}

// typeIndex numbers the instance types of the options of a pool.
type typeIndex struct {
	list []*cloudprovider.InstanceType
	of   []int32 // by option: index in list
}

func newTypeIndex(p *Pool) typeIndex {
	out := typeIndex{of: make([]int32, len(p.Options))}
	number := map[*cloudprovider.InstanceType]int32{}
	for i := range p.Options {
		t := p.Options[i].InstanceType
		id, ok := number[t]
		if !ok {
			id = int32(len(out.list))
			number[t] = id
			out.list = append(out.list, t)
		}
		out.of[i] = id
	}
	return out
}

// Places returns, by option of a pool, a number that is equal for options with equal zones and
// capacity types.
func (d *Domains) Places(pool int) []int32 {
	type place struct{ zone, capacityType string }
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.places[pool]; ok {
		return known
	}
	options := d.Pools[pool].Options
	out, number := make([]int32, len(options)), map[place]int32{}
	for i := range options {
		at := place{options[i].Offering.Zone, options[i].Offering.CapacityType}
		id, ok := number[at]
		if !ok {
			id = int32(len(number))
			number[at] = id
		}
		out[i] = id
	}
	d.places[pool] = out
	return out
}

// Of returns the domain of a key in a pool.
func (d *Domains) Of(pool int, key string) *domain {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.locked(pool, key)
}

func (d *Domains) locked(pool int, key string) *domain {
	id := domainKey{pool, key}
	if known, ok := d.known[id]; ok {
		return known
	}
	out := d.build(pool, key)
	d.known[id] = out
	return out
}

func (d *Domains) build(pool int, key string) *domain {
	p, types := &d.Pools[pool], &d.types[pool]
	out := &domain{of: make([]int32, len(p.Options))}
	index := map[string]int32{}
	byType := make([]template, len(types.list))
	for i, t := range types.list {
		byType[i] = d.ofType(p, t, key)
	}
	plain := make([]int32, len(types.list)) // by type: 1 + index of the entry for offerings that do not mention the key
	last := map[typeAndLabel]int32{}
	for i := range p.Options {
		o, typ := &p.Options[i], types.of[i]
		label := offeringLabel(o.Offering, key)
		seen := typeAndLabel{typ, label}
		if label == "" && plain[typ] > 0 {
			out.of[i] = plain[typ] - 1
			continue
		}
		if label != "" && label != otherLabel {
			if id, ok := last[seen]; ok {
				out.of[i] = id
				continue
			}
		}
		r := byType[typ].with(o.Offering, key).requirement
		id, fresh := model.Intern(index, []byte(r.String()), int32(len(out.Distinct)))
		if fresh {
			out.Distinct = append(out.Distinct, r)
			out.Free = out.Free || open(r)
		}
		if out.of[i] = id; label == "" {
			plain[typ] = id + 1
		} else {
			last[seen] = id
		}
	}
	return out
}

// typeAndLabel identifies a domain entry cheaply.
type typeAndLabel struct {
	typ   int32
	label string
}

// otherLabel marks an offering whose Requirements mention a key other than zone or capacity type.
const otherLabel = "\x00"

func offeringLabel(o *cloudprovider.Offering, key string) string {
	switch key {
	case corev1.LabelTopologyZone:
		return o.Zone
	case v1.CapacityTypeLabelKey:
		return o.CapacityType
	}
	if _, ok := o.Requirements.Get(key); ok {
		return otherLabel
	}
	return ""
}

// OfferingRequirement returns what an offering requires of a label; false if it does not mention
// the label.
func OfferingRequirement(o *cloudprovider.Offering, key string) (requirements.Requirement, bool) {
	switch key {
	case corev1.LabelTopologyZone:
		return requirements.In(key, o.Zone), true
	case v1.CapacityTypeLabelKey:
		return requirements.In(key, o.CapacityType), true
	}
	return o.Requirements.Get(key)
}

// TypeRequirement returns what an instance type requires of a label; false if it does not mention
// the label. The name of the type counts as a label even if its requirements do not list it.
func TypeRequirement(t *cloudprovider.InstanceType, key string) (requirements.Requirement, bool) {
	r, ok := t.Requirements.Get(key)
	if !ok && key == corev1.LabelInstanceTypeStable {
		return requirements.In(key, t.Name), true
	}
	return r, ok
}

// template has the values that pool, instance type and perhaps offering together allow for a label,
// and whether any of them names the label.
type template struct {
	requirement requirements.Requirement
	named       bool
}

// ofType returns what pool and instance type allow for a label. A label that neither names is open
// if it is well-known, because the provider may set it, and absent otherwise. The hostname is
// always a new one.
func (d *Domains) ofType(p *Pool, t *cloudprovider.InstanceType, key string) template {
	if key == corev1.LabelHostname {
		return template{requirements.In(key, model.NewHostname), true}
	}
	byPool, inPool := p.Template.Get(key)
	byType, inType := TypeRequirement(t, key)
	switch {
	case inPool && inType:
		return template{byPool.Intersect(byType), true}
	case inPool:
		return template{byPool, true}
	case inType:
		return template{byType, true}
	case d.vocabulary.WellKnown(key):
		return template{requirements.NotIn(key), false}
	}
	return template{requirements.DoesNotExist(key), false}
}

// with narrows a template by what an offering requires of the label.
func (t template) with(o *cloudprovider.Offering, key string) template {
	own, ok := OfferingRequirement(o, key)
	switch {
	case !ok:
		return t
	case t.named:
		return template{t.requirement.Intersect(own), true}
	}
	return template{own, true}
}

// open says whether a requirement allows more than one state.
func open(r requirements.Requirement) bool {
	values, finite := r.Values()
	return !finite || len(values) > 1 || len(values) == 1 && r.AllowsAbsent()
}

// Window returns the part of a set of options in which the options of this pool lie. Sets of
// options of a single pool are stored as windows, because a full set for each of many pools would
// take too much memory.
func (p *Pool) Window(options bitset.Set) bitset.Set { return options.Window(p.First, p.Last()) }

// Last returns the index after the last option of the pool.
func (p *Pool) Last() int { return p.First + len(p.Options) }

// All returns the set of all options of the pool, as its window.
func (p *Pool) All() bitset.Set {
	out, base := bitset.NewWindow(p.First, p.Last()), bitset.Base(p.First)
	out.AddRange(p.First-base, p.Last()-base)
	return out
}

// AdmittingAll returns, as a window, the options of a pool on which every one of some requirements
// can be satisfied.
func (d *Domains) AdmittingAll(pool int, asked requirements.Set) bitset.Set {
	out := d.Pools[pool].All()
	for r := range asked.All() {
		out.And(d.Admitting(pool, r))
	}
	return out
}

// Certain returns, as a window, the options of a pool on which a requirement is satisfied whichever
// of its possible values the label gets. The result must not be changed.
func (d *Domains) Certain(pool int, r requirements.Requirement) bitset.Set {
	return d.options(bitsKey{pool, r.String(), true}, r, func(own requirements.Requirement) bool { return own.Intersect(r).Equal(own) })
}

// Admitting returns, as a window, the options of a pool on which a requirement can be satisfied.
// The result must not be changed.
func (d *Domains) Admitting(pool int, r requirements.Requirement) bitset.Set {
	return d.options(bitsKey{pool, r.String(), false}, r, func(own requirements.Requirement) bool { return own.Overlaps(r) })
}

// options returns the options of a pool whose label passes a test. id identifies the test.
func (d *Domains) options(id bitsKey, r requirements.Requirement, passes func(requirements.Requirement) bool) bitset.Set {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.bits[id]; ok {
		return known
	}
	out := d.passing(id.pool, r.Key(), passes)
	d.bits[id] = out
	return out
}

// passing computes the options of a pool whose label passes a test. Where no option passes, it
// returns a shared empty set: many labels have values in one pool only.
func (d *Domains) passing(pool int, key string, passes func(requirements.Requirement) bool) bitset.Set {
	dom := d.locked(pool, key)
	good := make([]bool, len(dom.Distinct))
	for i := range dom.Distinct {
		good[i] = passes(dom.Distinct[i])
	}
	p := &d.Pools[pool]
	if !slices.Contains(good, true) {
		return p.Window(d.none)
	}
	out := bitset.NewWindow(p.First, p.Last())
	first := p.First - bitset.Base(p.First)
	for i, which := range dom.of {
		if good[which] {
			out.Add(first + i)
		}
	}
	return out
}

// Named says whether the type or the offering of any of the given options of a pool names a label.
// The first call for a label reads every option of the pool.
func (d *Domains) Named(pool int, key string, options bitset.Set) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := domainKey{pool, key}
	naming, ok := d.naming[id]
	if !ok {
		naming = d.namingOf(pool, key)
		d.naming[id] = naming
	}
	return naming.Overlaps(d.Pools[pool].Window(options))
}

// namingOf returns, as a window, the options of a pool whose type or offering names a label. Where
// there are none, as for most labels, it returns a shared empty set.
func (d *Domains) namingOf(pool int, key string) bitset.Set {
	p := &d.Pools[pool]
	names := func(o Option) bool { return defines(o.LaunchOption, key) }
	if !slices.ContainsFunc(p.Options, names) {
		return p.Window(d.none)
	}
	out := bitset.NewWindow(p.First, p.Last())
	first := p.First - bitset.Base(p.First)
	for i := range p.Options {
		if names(p.Options[i]) {
			out.Add(first + i)
		}
	}
	return out
}
