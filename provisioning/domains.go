package provisioning

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// newHostname stands for the name of a node that does not exist yet. No label
// can have this value, so that In never admits it and NotIn always does.
const newHostname = "\x00a new node"

// domain is, for one pool and label key, what values the label can have on
// each option. Few values occur on many options, so each is kept once.
type domain struct {
	distinct []requirements.Requirement
	of       []int32 // by option of the pool
	free     bool    // some option leaves more than one state open
}

// domains works out domains when first asked for. It is safe for concurrent
// use.
type domains struct {
	vocabulary *requirements.Vocabulary
	pools      []pool
	types      []typeIndex // by pool
	known      map[domainKey]*domain
	bits       map[bitsKey]bitset.Set
	total      int        // options of all pools
	none       bitset.Set // of them

	mu sync.Mutex // guards known and bits
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

func newDomains(v *requirements.Vocabulary, pools []pool, total int) *domains {
	d := &domains{vocabulary: v, pools: pools, known: map[domainKey]*domain{}, bits: map[bitsKey]bitset.Set{}, total: total, none: bitset.New(total)}
	known := map[*option]typeIndex{} // pools share lists of options
	for i := range pools {
		var first *option
		if len(pools[i].options) > 0 {
			first = &pools[i].options[0]
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

// typeIndex is the types of the options of a pool.
type typeIndex struct {
	list []*cloudprovider.InstanceType
	of   []int32 // by option: which of list
}

func newTypeIndex(p *pool) typeIndex {
	out := typeIndex{of: make([]int32, len(p.options))}
	number := map[*cloudprovider.InstanceType]int32{}
	for i := range p.options {
		t := p.options[i].InstanceType
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

// of returns the domain of a key in a pool.
func (d *domains) of(pool int, key string) *domain {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.locked(pool, key)
}

func (d *domains) locked(pool int, key string) *domain {
	id := domainKey{pool, key}
	if known, ok := d.known[id]; ok {
		return known
	}
	out := d.build(pool, key)
	d.known[id] = out
	return out
}

func (d *domains) build(pool int, key string) *domain {
	p, types := &d.pools[pool], &d.types[pool]
	out := &domain{of: make([]int32, len(p.options))}
	index := map[string]int32{}
	byType := make([]template, len(types.list))
	for i, t := range types.list {
		byType[i] = d.ofType(p, t, key)
	}
	plain := make([]int32, len(types.list)) // one more than the entry of offerings that say nothing of the key
	last := map[typeAndLabel]int32{}
	for i := range p.options {
		o, typ := &p.options[i], types.of[i]
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
		base := &byType[typ]
		r := base.requirement
		if own, ok := offeringRequirement(o.Offering, key); ok {
			r = own
			if base.named {
				r = base.requirement.Intersect(own)
			}
		}
		id, fresh := intern(index, []byte(r.String()), int32(len(out.distinct)))
		if fresh {
			out.distinct = append(out.distinct, r)
			out.free = out.free || open(r)
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

// otherLabel marks an offering that says something of its own about a key in
// its Requirements.
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

func offeringRequirement(o *cloudprovider.Offering, key string) (requirements.Requirement, bool) {
	switch key {
	case corev1.LabelTopologyZone:
		return requirements.In(key, o.Zone), true
	case v1.CapacityTypeLabelKey:
		return requirements.In(key, o.CapacityType), true
	}
	return o.Requirements.Get(key)
}

// typeRequirement is what a type says of a label. Its name is a label even if
// its requirements do not list it.
func typeRequirement(t *cloudprovider.InstanceType, key string) (requirements.Requirement, bool) {
	r, ok := t.Requirements.Get(key)
	if !ok && key == corev1.LabelInstanceTypeStable {
		return requirements.In(key, t.Name), true
	}
	return r, ok
}

// typeLabels is what a type says of all labels.
func typeLabels(t *cloudprovider.InstanceType) requirements.Set {
	if name, ok := typeRequirement(t, corev1.LabelInstanceTypeStable); ok {
		return t.Requirements.With(name)
	}
	return t.Requirements
}

// template is what pool and type together leave open for a label, and whether
// either of them names it.
type template struct {
	requirement requirements.Requirement
	named       bool
}

// ofType returns what pool and type say of a label. If neither names it, it is
// open if it is well known, as the provider may set it, and absent if not. The
// hostname is always a new one.
func (d *domains) ofType(p *pool, t *cloudprovider.InstanceType, key string) template {
	if key == corev1.LabelHostname {
		return template{requirements.In(key, newHostname), true}
	}
	byPool, inPool := p.template.Get(key)
	byType, inType := typeRequirement(t, key)
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

// open says whether more than one state is left.
func open(r requirements.Requirement) bool {
	values, finite := r.Values()
	return !finite || len(values) > 1 || len(values) == 1 && r.AllowsAbsent()
}

// window is the part of a set of options that the options of a pool lie in. Sets of
// the options of one pool are kept as such windows: there are as many of them as
// pools.
func (p *pool) window(options bitset.Set) bitset.Set { return options.Window(p.first, p.last()) }

// last is the index after that of the last option.
func (p *pool) last() int { return p.first + len(p.options) }

// all returns all options of the pool, as its window.
func (p *pool) all() bitset.Set {
	out, base := bitset.NewWindow(p.first, p.last()), bitset.Base(p.first)
	out.AddRange(p.first-base, p.last()-base)
	return out
}

// admittingAll returns the options of a pool whose labels can satisfy each of some
// requirements, as its window.
func (d *domains) admittingAll(pool int, asked requirements.Set) bitset.Set {
	out := d.pools[pool].all()
	for r := range asked.All() {
		out.And(d.admitting(pool, r))
	}
	return out
}

// certain returns the options of a pool whose label satisfies a requirement
// whatever it turns out to be, as its window. The result must not be changed.
func (d *domains) certain(pool int, r requirements.Requirement) bitset.Set {
	return d.options(bitsKey{pool, r.String(), true}, r, func(own requirements.Requirement) bool { return own.Intersect(r).Equal(own) })
}

// admitting returns the options of a pool whose label can satisfy a
// requirement, as its window. The result must not be changed.
func (d *domains) admitting(pool int, r requirements.Requirement) bitset.Set {
	return d.options(bitsKey{pool, r.String(), false}, r, func(own requirements.Requirement) bool { return own.Overlaps(r) })
}

// options returns the options of a pool whose label passes a test, which id
// identifies.
func (d *domains) options(id bitsKey, r requirements.Requirement, passes func(requirements.Requirement) bool) bitset.Set {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.bits[id]; ok {
		return known
	}
	out := d.passing(id.pool, r.Key(), passes)
	d.bits[id] = out
	return out
}

// passing works out the options of a pool whose label passes a test. Of one label
// there may be a value for each pool, which all the others lack: none is kept once.
func (d *domains) passing(pool int, key string, passes func(requirements.Requirement) bool) bitset.Set {
	dom := d.locked(pool, key)
	good := make([]bool, len(dom.distinct))
	for i := range dom.distinct {
		good[i] = passes(dom.distinct[i])
	}
	p := &d.pools[pool]
	if !slices.Contains(good, true) {
		return p.window(d.none)
	}
	out := bitset.NewWindow(p.first, p.last())
	first := p.first - bitset.Base(p.first)
	for i, which := range dom.of {
		if good[which] {
			out.Add(first + i)
		}
	}
	return out
}
