package ledger

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// BinType is the set of nodes that a new node may become. Nodes with the same possibilities share
// one. NewBinType makes a BinType and Again a copy of it.
type BinType struct {
	Id      int // identifies the bin type in a plan
	Pool    int
	Options bitset.Set
	Trait   int32
	Asked   requirements.Set // requirements of the pool and of the pods on the node
	Relaxed bool
	// Wide are the options that the node could have if its pool had no limits; nil if that is not
	// needed.
	Wide bitset.Set

	List    []cloudprovider.LaunchOption
	Daemons resources.List
	Settled requirements.Set // Asked, narrowed to what the options allow
	Labels  map[string]string

	facts *facts // shared by bin types that differ only in Id and Wide
}

// facts caches what is computed from a bin type.
type facts struct {
	at    []Location // by key of the domain table
	looks []look     // by DomainRule.Way
	most  []int64    // by resource: the most that any option has
	least []int64    // by resource: the least that any option has

	daemons     []DaemonOn
	daemonsRead bool

	with map[*requirements.Set]requirements.Set // see AskedWith
}

// AskedWith returns the intersection of Asked and more, which must not change afterwards. The
// result is cached.
func (s *BinType) AskedWith(more *requirements.Set) requirements.Set {
	f := s.facts
	out, known := f.with[more]
	if !known {
		if f.with == nil {
			f.with = map[*requirements.Set]requirements.Set{}
		}
		out = s.Asked.Intersect(*more)
		f.with[more] = out
	}
	return out
}

// DaemonOn is a DaemonSet on a new node whose pods take part in constraints between pods.
type DaemonOn struct {
	Number int // index in ByDaemon of the Problem
	Rules  *compile.DaemonRules
	Sure   bool // its pod runs on every option, whatever values open labels get
}

// DaemonsOn lists the DaemonSets with rules that run, or may run, on nodes of a bin type.
func (s *BinType) DaemonsOn(p *compile.Problem) []DaemonOn {
	f := s.facts
	if !f.daemonsRead {
		f.daemonsRead = true
		for i := range p.ByDaemon {
			if d := &p.ByDaemon[i]; s.Options.Overlaps(d.On) {
				f.daemons = append(f.daemons, DaemonOn{i, d, s.Options.SubsetOf(d.Sure)})
			}
		}
	}
	return f.daemons
}

// NewBinType returns a bin type without cached facts.
func NewBinType(s BinType) *BinType {
	s.facts = &facts{}
	return &s
}

// Again returns a copy of a bin type with another Id. Both share the cached facts.
func (s *BinType) Again(id int) *BinType {
	out := *s
	out.Id = id
	return &out
}

// Alike says whether two bin types differ in nothing except Id and Wide.
func (s *BinType) Alike(other *BinType) bool { return s.facts == other.facts }

// MayHold says whether some option may have room for a request in addition to what is taken. It
// compares each resource with the largest capacity of any option, so it may return true although no
// single option has room.
func (s *BinType) MayHold(p *compile.Problem, request, taken []int64) bool {
	most := s.Greatest(p)
	for r, n := range request {
		if n > most[r]-taken[r] {
			return false
		}
	}
	return true
}

// Greatest returns, by resource, the most that any option has.
func (s *BinType) Greatest(p *compile.Problem) []int64 {
	f := s.facts
	if f.most == nil {
		f.most = make([]int64, len(p.Resources)+len(p.Rules.Slots))
		for o := range s.Options.All() {
			for r, n := range p.LowOptions[o].Capacity {
				f.most[r] = max(f.most[r], n)
			}
		}
	}
	return f.most
}

// Least returns, by resource, the least that any option has.
func (s *BinType) Least(p *compile.Problem) []int64 {
	f := s.facts
	if f.least == nil {
		for o := range s.Options.All() {
			capacity := p.LowOptions[o].Capacity
			if f.least == nil {
				f.least = slices.Clone(capacity)
			}
			for r, n := range capacity {
				f.least[r] = min(f.least[r], n)
			}
		}
	}
	return f.least
}

// Holding returns those of some options of a pool that have room for a request.
func Holding(p *compile.Problem, pool int, options bitset.Set, request []int64) bitset.Set {
	both := make(bitset.Set, 2*len(options))
	out := both[:copy(both, options):len(options)]
	all := request
	if n := len(p.Resources) + len(p.Rules.Slots); len(request) < n {
		all = make([]int64, n)
		copy(all, request)
	}
	p.Distinct.KeepHoldingIn(pool, out, all, both[len(options):])
	return out
}

// FirstHolding returns the first of some options that has room for a request, -1 if there is none.
// Within a pool it is the cheapest.
func FirstHolding(p *compile.Problem, options bitset.Set, request []int64) int {
	for o := range options.All() {
		if compile.Within(request, p.LowOptions[o].Capacity) {
			return o
		}
	}
	return -1
}

// look says whether a topology spread constraint counts nodes of a bin type.
type look struct {
	known, May, Sure bool
	in               []int // for a rule over domains: the domains in which it may count the node
	beyond           bool  // the same: it may count the node in a domain that the table does not list
}

// LooksAtBinType says whether a spread rule counts new nodes of a bin type: nodes that its owners
// may use, as far as the rule's inclusion policies require it, and that have all labels of the
// owners' spread constraints.
func LooksAtBinType(p *compile.Problem, rule *compile.DomainRule, s *BinType) look {
	like := &p.Classes[rule.Like]
	if rule.Term.HonorTaint && len(model.Untolerated(p.Pools[s.Pool].Taints, like.Tolerations)) > 0 {
		return look{known: true}
	}
	alternatives := []requirements.Alternative{{}}
	if rule.Term.HonorAffinity {
		alternatives = like.Asked
	}
	out := look{known: true}
	for _, alt := range alternatives {
		if !compile.AdmitsNewNode(alt) {
			continue
		}
		may, sure := s.Satisfies(p, alt.Set)
		for _, key := range rule.Spans {
			m, s := suits(p, s, requirements.Exists(p.Vocabulary.NormalizeKey(key)))
			may, sure = may && m, sure && s
		}
		out.May, out.Sure = out.May || may, out.Sure || sure
	}
	return out
}

// Looked says whether a spread rule may count new nodes of a bin type, and whether it certainly does.
func (s *BinType) Looked(p *compile.Problem, rule *compile.DomainRule) (may, sure bool) {
	known := s.look(p, rule)
	return known.May, known.Sure
}

// look is LooksAtBinType with a cache. For a rule over domains it also finds the domains, and asks
// the options.
func (s *BinType) look(p *compile.Problem, rule *compile.DomainRule) *look {
	f := s.facts
	if f.looks == nil {
		f.looks = make([]look, p.Rules.Ways())
	}
	known := &f.looks[rule.Way]
	if known.known {
		return known
	}
	*known = LooksAtBinType(p, rule, s)
	if rule.Key >= 0 {
		known.Sure = known.Sure || s.Options.SubsetOf(p.LookedAt(rule, true)) // either condition is enough
		known.in = lookedIn(p, rule, s)
		at := &BinTypeLocations(p, s)[rule.Key]
		known.beyond = at.Beyond && p.LookedAt(rule, false).Both(s.Options).Overlaps(p.Finder.Beyond[rule.Key])
		known.May = known.May && (len(known.in) > 0 || known.beyond || len(at.Domains) == 0)
	}
	return known
}

// Satisfies says whether the labels of new nodes of a bin type may satisfy a set of requirements,
// and whether they certainly do.
func (s *BinType) Satisfies(p *compile.Problem, set requirements.Set) (may, sure bool) {
	may, sure = true, true
	for r := range set.All() {
		m, certain := suits(p, s, r)
		may, sure = may && m, sure && certain
	}
	return may, sure
}

// suits says whether a label of new nodes of a bin type may satisfy a requirement, and whether it
// certainly does.
func suits(p *compile.Problem, s *BinType, r requirements.Requirement) (may, sure bool) {
	if value, ok := s.Labels[r.Key()]; ok && !p.Admission.Domains.Named(s.Pool, r.Key(), s.Options) {
		return r.Has(value), r.Has(value)
	}
	if own, ok := s.Settled.Get(r.Key()); ok && own.Intersect(r).Equal(own) {
		return true, true
	} else if ok && !own.Overlaps(r) {
		return false, false
	}
	d := p.Admission.Domains
	options := p.Pools[s.Pool].Window(s.Options)
	return options.Overlaps(d.Admitting(s.Pool, r)), options.SubsetOf(d.Certain(s.Pool, r))
}

// Price returns the price of the cheapest option in USD per hour.
func (s *BinType) Price() float64 { return s.List[0].Offering.Price }

// Cheapest returns the price in USD per hour of the cheapest of some options of a pool, +Inf if
// there are none.
func Cheapest(p *compile.Problem, pool int, options bitset.Set) float64 {
	if o := options.First(); o >= 0 {
		return p.Option(o).Offering.Price
	}
	return math.Inf(1)
}

// Node returns a node of the bin type without pods.
func (s *BinType) Node(p *compile.Problem) model.NewNode {
	return model.NewNode{
		Pool: p.Pools[s.Pool].Object, Requirements: s.Settled, Labels: s.Labels, Options: s.List, Daemons: s.Daemons,
		MinValuesRelaxed: s.Relaxed,
	}
}

// BinTypeLocations returns, by key of the domain table, where new nodes of a bin type may be.
func BinTypeLocations(p *compile.Problem, s *BinType) []Location {
	if s.facts.at != nil {
		return s.facts.at
	}
	out := make([]Location, len(p.Table.Keys))
	s.facts.at = out
	for k, key := range p.Table.Keys {
		key = p.Vocabulary.NormalizeKey(key)
		if value, ok := s.Labels[key]; ok && !p.Admission.Domains.Named(s.Pool, key, s.Options) {
			if d, known := p.Table.Index[k][value]; known {
				out[k].Domains = []int{d}
			} else {
				out[k].Lacks = true
			}
			continue
		}
		r, asked := s.Settled.Get(key)
		for d, value := range p.Table.Values[k] {
			if (!asked || r.Has(value)) && s.Options.Overlaps(p.InPlace(k, d)) {
				out[k].Domains = append(out[k].Domains, d)
			}
		}
		out[k].Lacks = (!asked || r.AllowsAbsent()) && s.Options.Overlaps(p.Finder.Lacking[k])
		out[k].Beyond = p.Table.AllowsBeyond(k, s.Settled) && s.Options.Overlaps(p.Finder.Beyond[k])
	}
	return out
}

// Least returns the smaller amount of each resource. A resource that is not listed has amount zero.
func Least(a, b resources.List, first bool) resources.List {
	if first {
		return b
	}
	same := true
	for name, n := range a.All() {
		same = same && 0 < n && n <= b.Get(name)
	}
	if same {
		return a
	}
	amounts := map[corev1.ResourceName]int64{}
	for name, n := range a.All() {
		if m := min(n, b.Get(name)); m > 0 {
			amounts[name] = m
		}
	}
	return resources.New(amounts)
}

// Unnamed removes requirements that a new node cannot satisfy at launch: its hostname is not known
// yet, and it must not have the labels of a registered and initialised node.
func Unnamed(set requirements.Set) requirements.Set {
	return set.Without(corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey)
}
