package provisioning

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// binType is what a new node may turn out to be. Nodes that are launched alike
// share one.
type binType struct {
	id      int // tells the bin types of a plan apart
	pool    int
	options bitset.Set
	trait   int32
	asked   requirements.Set // what the pool and its pods ask for
	relaxed bool
	// wide are the options that it could have but for the limits of its pool; nil if
	// that is of no matter.
	wide bitset.Set

	list    []cloudprovider.LaunchOption
	daemons resources.List
	settled requirements.Set // asked, with what the options show
	labels  map[string]string

	at    []location // by key of the domain table, once asked for
	looks []look     // by domain rule, likewise
	most  []int64    // that any option has of each resource, likewise
	least []int64    // that all options have of each, likewise
}

// mayHold says whether some option may have room for a request beside what is taken, as
// far as one resource at a time tells.
func (s *binType) mayHold(p *Problem, request, taken []int64) bool {
	most := s.greatest(p)
	for r, n := range request {
		if n > most[r]-taken[r] {
			return false
		}
	}
	return true
}

// greatest is the most that any option has of each resource.
func (s *binType) greatest(p *Problem) []int64 {
	if s.most == nil {
		s.most = make([]int64, len(p.resources)+len(p.rules.slots))
		for o := range s.options.All() {
			for r, n := range p.lowOptions[o].Capacity {
				s.most[r] = max(s.most[r], n)
			}
		}
	}
	return s.most
}

// holding returns those of some options that have room for a request.
func (p *Problem) holding(options bitset.Set, request []int64) bitset.Set {
	out := options.Clone()
	for o := range options.All() {
		if !within(request, p.lowOptions[o].Capacity) {
			out.Remove(o)
		}
	}
	return out
}

// look says how a topology spread constraint sees nodes of a bin type.
type look struct {
	known, may, sure bool
	in               []int // domains where it may, of a rule over domains
}

// looksAtBinType says whether a spread rule looks at new nodes of a bin type: one
// that its owners may use, as far as its policies say so, and that has all the
// labels they are spread over.
func (p *Problem) looksAtBinType(rule *domainRule, s *binType) look {
	like := &p.classes[rule.like]
	if rule.term.honorTaint && len(untolerated(p.pools[s.pool].taints, like.tolerations)) > 0 {
		return look{known: true}
	}
	alternatives := []requirements.Alternative{{}}
	if rule.term.honorAffinity {
		alternatives = like.asked
	}
	out := look{known: true}
	for _, alt := range alternatives {
		if !admitsNewNode(alt) {
			continue
		}
		may, sure := true, true
		for r := range alt.Set.All() {
			m, s := p.suits(s, r)
			may, sure = may && m, sure && s
		}
		for _, key := range rule.spans {
			m, s := p.suits(s, requirements.Exists(p.vocabulary.NormalizeKey(key)))
			may, sure = may && m, sure && s
		}
		out.may, out.sure = out.may || may, out.sure || sure
	}
	return out
}

// suits says whether a label of new nodes of a bin type may be as a requirement
// wants it, and whether it is sure to.
func (p *Problem) suits(s *binType, r requirements.Requirement) (may, sure bool) {
	if value, ok := s.labels[r.Key()]; ok && !fromTypes(r.Key(), s.list) {
		return r.Has(value), r.Has(value)
	}
	if own, ok := s.settled.Get(r.Key()); ok && own.Intersect(r).Equal(own) {
		return true, true
	} else if ok && !own.Overlaps(r) {
		return false, false
	}
	d := p.admission.domains
	options := p.pools[s.pool].window(s.options)
	return options.Overlaps(d.admitting(s.pool, r)), options.SubsetOf(d.certain(s.pool, r))
}

// newBinType works out what a node is like that is launched with one of some
// options of a pool and is asked for something.
func (a *assembler) newBinType(pool int, options bitset.Set, trait int32, asked requirements.Set, relaxed bool) *binType {
	list := a.options(options)
	a.binTypes++
	out := &binType{id: a.binTypes, pool: pool, options: options, trait: trait, asked: asked, relaxed: relaxed, list: list.options, daemons: list.daemons}
	out.settled = a.settled(asked, list.options).With(list.where...)
	out.labels = nodeLabels(&a.p.pools[pool], out.settled, list.options, a.p.vocabulary)
	return out
}

// price is that of the cheapest option.
func (s *binType) price() float64 { return s.list[0].Offering.Price }

// cheapest is what the cheapest of some options of a pool costs; infinite if there are
// none.
func (p *Problem) cheapest(pool int, options bitset.Set) float64 {
	pl := &p.pools[pool]
	for o := range options.All() {
		return pl.options[o-pl.first].Offering.Price
	}
	return math.Inf(1)
}

// node is a node of the bin type, without pods.
func (s *binType) node(p *Problem) NewNode {
	return NewNode{
		Pool: p.pools[s.pool].object, Requirements: s.settled, Labels: s.labels, Options: s.list, Daemons: s.daemons,
		MinValuesRelaxed: s.relaxed,
	}
}

// binTypeLocations works out where new nodes of a bin type may be.
func (p *Problem) binTypeLocations(s *binType) []location {
	if s.at != nil {
		return s.at
	}
	s.at = make([]location, len(p.table.keys))
	for k, key := range p.table.keys {
		key = p.vocabulary.NormalizeKey(key)
		if value, ok := s.labels[key]; ok && !fromTypes(key, s.list) {
			if d, known := p.table.index[k][value]; known {
				s.at[k].domains = []int{d}
			} else {
				s.at[k].lacks = true
			}
			continue
		}
		r, asked := s.settled.Get(key)
		for d, value := range p.table.values[k] {
			if (!asked || r.Has(value)) && s.options.Overlaps(p.inPlace(k, d)) {
				s.at[k].domains = append(s.at[k].domains, d)
			}
		}
		s.at[k].lacks = (!asked || r.AllowsAbsent()) && s.options.Overlaps(p.finder.lacking[k])
	}
	return s.at
}

// optionList is a list of options and the least that daemons take on any.
type optionList struct {
	options []cloudprovider.LaunchOption
	daemons resources.List
	where   []requirements.Requirement // zones and capacity types
}

// options lists the options in a set, and what daemons take at least; equal
// sets share a list.
func (a *assembler) options(set bitset.Set) optionList {
	key := set.Key()
	if known, ok := a.lists[key]; ok {
		return known
	}
	out := optionList{options: make([]cloudprovider.LaunchOption, 0, set.Len())}
	seen := map[*resources.List]bool{}
	var last *resources.List
	p := a.p.poolOf(set)
	for o := range set.All() {
		option := &p.options[o-p.first]
		out.options = append(out.options, option.LaunchOption)
		if option.daemons != last && !seen[option.daemons] {
			out.daemons = least(out.daemons, *option.daemons, len(seen) == 0)
			seen[option.daemons] = true
		}
		last = option.daemons
	}
	out.where = whereabouts(out.options)
	a.lists[key] = out
	return out
}

// poolOf returns the pool that a set of options of one pool is of.
func (p *Problem) poolOf(set bitset.Set) *pool {
	for o := range set.All() {
		for i := range p.pools {
			if pl := &p.pools[i]; o < pl.first+len(pl.options) {
				return pl
			}
		}
	}
	return nil
}

// least is the smaller amount of each resource, one that is not listed being
// none.
func least(a, b resources.List, first bool) resources.List {
	if first {
		return b
	}
	amounts := map[corev1.ResourceName]int64{}
	for name, n := range a.All() {
		if m := min(n, b.Get(name)); m > 0 {
			amounts[name] = m
		}
	}
	return resources.New(amounts)
}

// settled takes back labels that a node need not have and that pods are spread
// over: with a value that nobody asked for it would be a domain to be filled.
func (a *assembler) settled(set requirements.Set, options []cloudprovider.LaunchOption) requirements.Set {
	for _, key := range a.p.table.keys {
		key = a.p.vocabulary.NormalizeKey(key)
		r, ok := set.Get(key)
		if ok && r.AllowsAbsent() && r.AllowsPresent() && !a.p.vocabulary.WellKnown(key) && !fromTypes(key, options) {
			set = set.Intersect(requirements.NewSet(requirements.DoesNotExist(key)))
		}
	}
	return set
}

// whereabouts states the zones and capacity types of options.
func whereabouts(options []cloudprovider.LaunchOption) []requirements.Requirement {
	var zones, capacityTypes []string
	lastZone, lastType := "", ""
	for _, o := range options {
		if o.Offering.Zone == lastZone && o.Offering.CapacityType == lastType {
			continue
		}
		lastZone, lastType = o.Offering.Zone, o.Offering.CapacityType
		if !slices.Contains(zones, o.Offering.Zone) {
			zones = append(zones, o.Offering.Zone)
		}
		if !slices.Contains(capacityTypes, o.Offering.CapacityType) {
			capacityTypes = append(capacityTypes, o.Offering.CapacityType)
		}
	}
	return []requirements.Requirement{
		requirements.In(corev1.LabelTopologyZone, zones...),
		requirements.In(v1.CapacityTypeLabelKey, capacityTypes...),
	}
}
