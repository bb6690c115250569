package compile

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// Rules are the constraints between pods. The assignment of domains runs first and observes those
// over labels other than the hostname; the packer observes those over the hostname.
type Rules struct {
	selections       []workload.Selection
	bySelection      [][]int // by selection: its domain rules
	nodesBySelection [][]int // by selection: its node rules
	Domain           []DomainRule
	Node             []nodeRule
	Host             []DomainRule      // topology spreads over the hostname; they have no domains
	holds            []constraint.Hold // by number of a node rule minus firstHold: the host port or volume that only one pod of the node may use
	firstHold        int               // node rules from this number on are for holds

	ByClass []ClassRules // rules of each class
	Slots   []Slot

	domainIndex map[DomainRuleKey]int
	nodeIndex   map[nodeRuleKey]int
	ways        map[way]int
	ofWay       []wayRule // by way: its first rule
}

// way has the properties that decide which nodes a topology spread counts, and by which label.
type way struct {
	key, filter     string // filter is that of SpreadFilter
	affinity, taint bool
}

// wayRule is a rule of Domain or Host, by its number.
type wayRule struct {
	list   *[]DomainRule
	number int
}

// DomainRule is a constraint over a label other than the hostname, or a topology spread over the
// hostname, which has no key of the domain table and no domains.
type DomainRule struct {
	topology.Rule
	Like  int // class whose node selection and tolerations decide which nodes count
	Spans []string
	Term  workload.Term
	Owned bool // a class to be placed has it; otherwise only running pods do
	Way   int  // of a spread: a number, from 0, equal for rules over one label that count the same nodes; else -1
	// Perhaps is, by domain, the number of DaemonSet pods that the rule counts if they are created:
	// a node that has been running for long may stay without them.
	Perhaps []int
}

// DomainRuleKey identifies a domain rule: equal keys mean the same rule.
type DomainRuleKey struct {
	Term   workload.Term
	Filter string
}

// nodeRule is a constraint between the pods of one node: an anti-affinity or a topology spread over
// the hostname, a hold, or a limit.
type nodeRule struct {
	nodeRuleKey
	// Term is zero for a hold or a limit. Its kind is then topology.Spread, so that setPhase puts
	// classes with ports in the phase of those spread over nodes.
	Term workload.Term
	// Spread says that the rule is for a topology spread: how many pods a node may have while
	// another is empty. The ledger checks the actual skew; every other rule holds as it is in every
	// plan.
	Spread bool
}

// nodeRuleKey identifies a rule over nodes that is no hold.
type nodeRuleKey struct {
	pack.Rule
	pods       int // index of the selection; -1 for a hold
	minDomains int // of a topology spread
	limit      int // for a limit: 1 + the index of its kind of constraint
}

func spreadKey(t workload.Term) nodeRuleKey {
	return nodeRuleKey{Rule: pack.Rule{Kind: pack.AtMost, Limit: t.Skew}, pods: t.Pods, minDomains: t.MinDomains}
}

func apartKey(t workload.Term) nodeRuleKey {
	return nodeRuleKey{Rule: pack.Rule{Kind: pack.Apart}, pods: t.Pods}
}

// ClassRules has the rules that concern the pods of a class.
type ClassRules struct {
	Owns  []int    // domain rules that its pods have
	Joins []int    // domain rules that count its pods
	Soft  []int    // domain rules that its pods prefer
	Hosts []int    // topology spreads over the hostname that its pods have
	Among []int    // topology spreads over the hostname that count its pods
	Spans []string // keys that decide where a pod of the class may go: those of the rules that it owns, and of the rules that count it, unless it may go anywhere (see setPhase)
	Parts []pack.Membership
	All   []pack.Membership // Parts, and the memberships in rules that were replaced by slots
	With  []workload.Term   // required affinity over the hostname
	Phase Phase
	Depth int // length of the chain of affinities that must be satisfied before
}

// Phase orders classes: pods of a later phase do not count when those of an earlier one are placed.
type Phase int

const (
	// Leading: classes with an affinity over the hostname whose pods may be the first of the pods
	// selected.
	Leading Phase = iota
	// BySpreadOverNodes: classes that are spread over nodes and have no other constraint.
	BySpreadOverNodes
	// ByDomain: classes with a constraint over domains, either their own or another pod's
	// anti-affinity.
	ByDomain
	// ByPreference: classes that only have preferences over domains that are worth their price.
	// setPhase does not assign this phase; weighPreferences makes units of it.
	ByPreference
	// AtWill: all other classes.
	AtWill
	// Following: other classes with an affinity over the hostname.
	Following
)

// Ways returns the number of ways of the spread rules.
func (r *Rules) Ways() int { return len(r.ofWay) }

// OfWay returns the first spread rule of a way.
func (r *Rules) OfWay(way int) *DomainRule { return &(*r.ofWay[way].list)[r.ofWay[way].number] }

// Selections returns the number of selections.
func (r *Rules) Selections() int { return len(r.selections) }

// Selection returns the pods that a constraint selects, by the number in its term.
func (r *Rules) Selection(number int) *workload.Selection { return &r.selections[number] }

func newRules(p *Problem, selections []workload.Selection) *Rules {
	r := &Rules{
		selections:  selections,
		ByClass:     make([]ClassRules, len(p.Classes)),
		domainIndex: map[DomainRuleKey]int{},
		nodeIndex:   map[nodeRuleKey]int{},
		ways:        map[way]int{},
	}
	var key workload.PodKey
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil {
			continue
		}
		for _, t := range p.Classes[c].Terms {
			if t.Weight > 0 {
				r.preference(p, c, t, &key)
				continue
			}
			r.own(p, c, t, &key)
		}
		r.addLimits(c, p.Classes[c].Limits)
		r.dropCoveredAffinity(&r.ByClass[c])
	}
	return r
}

// own adds a constraint to a class.
func (r *Rules) own(p *Problem, c int, t workload.Term, key *workload.PodKey) {
	d := &r.ByClass[c]
	if t.Key == corev1.LabelHostname {
		switch t.Kind {
		case topology.Spread:
			d.Hosts = append(d.Hosts, r.domainRule(p, c, t, key))
			if p.Classes[c].Headroom {
				return // headroom pods may be on one node
			}
			d.Parts = pack.AddPods(d.Parts, 1, pack.Membership{Rule: r.nodeRule(spreadKey(t), t), Owners: 1})
		case topology.Apart:
			d.Parts = pack.AddPods(d.Parts, 1, pack.Membership{Rule: r.nodeRule(apartKey(t), t), Owners: 1})
		case topology.Together:
			if !p.FollowsDaemons(t) {
				d.With = append(d.With, t)
			}
		}
		return
	}
	id := r.domainRule(p, c, t, key)
	r.Domain[id].Owned = true
	d.Owns = append(d.Owns, id)
	d.Span(t.Key)
}

// preference adds a soft constraint to a class. Those over the hostname do not concern domains; see
// findSoftScores.
func (r *Rules) preference(p *Problem, c int, t workload.Term, key *workload.PodKey) {
	if t.Key == corev1.LabelHostname || p.Classes[c].Headroom {
		return
	}
	r.ByClass[c].Soft = append(r.ByClass[c].Soft, r.domainRule(p, c, t, key))
}

// Span adds a label that decides where pods go.
func (d *ClassRules) Span(key string) {
	if !slices.Contains(d.Spans, key) {
		d.Spans = append(d.Spans, key)
		slices.Sort(d.Spans)
	}
}

// domainRule returns the number of a rule in Domain, or of a topology spread over the hostname in
// Host. A spread counts only nodes that the pod may use, so pods that differ in these nodes do not
// share it.
func (r *Rules) domainRule(p *Problem, c int, t workload.Term, key *workload.PodKey) int {
	id, list := DomainRuleKey{Term: t}, &r.Domain
	if t.Key == corev1.LabelHostname {
		list = &r.Host
	}
	looks := way{key: t.Key, affinity: t.HonorAffinity, taint: t.HonorTaint}
	if t.Kind == topology.Spread {
		looks.filter = SpreadFilter(p, c, t, key)
		if id.Filter = looks.filter; list == &r.Domain {
			// Pods that select other nodes, or whose volumes are elsewhere, are spread over other
			// domains, even if the constraint counts all nodes.
			id.Filter += p.Classes[c].VolumeKey
			if !t.HonorAffinity && t.Weight == 0 {
				id.Filter += string(key.Where(p.Pod(c)))
			}
		}
	}
	if n, ok := r.domainIndex[id]; ok {
		return n
	}
	n := len(*list)
	r.domainIndex[id] = n
	rule := DomainRule{Rule: topology.Rule{Kind: t.Kind, Skew: t.Skew, MinDomains: t.MinDomains, Group: t.Pods}, Like: c, Term: t, Way: -1}
	if list == &r.Host {
		rule.Key = -1
	}
	if t.Kind == topology.Spread {
		var known bool
		if rule.Way, known = r.ways[looks]; !known {
			rule.Way = len(r.ofWay)
			r.ways[looks], r.ofWay = rule.Way, append(r.ofWay, wayRule{list, n})
		}
		rule.Spans = SpreadKeys(p.Classes[c].Terms)
	}
	*list = append(*list, rule)
	return n
}

// SpreadFilter returns a key of the nodes that a topology spread constraint of a class counts.
func SpreadFilter(p *Problem, c int, t workload.Term, key *workload.PodKey) string {
	filter := fmt.Appendf(nil, "%q", SpreadKeys(p.Classes[c].Terms))
	if t.HonorAffinity {
		filter = append(filter, key.Where(p.Pod(c))...)
	}
	if t.HonorTaint {
		filter = fmt.Appendf(filter, "%+v", p.Classes[c].Tolerations)
	}
	return string(filter)
}

// SpreadKeys returns the labels that a node must all have to be counted by any required spread
// constraint of a pod.
func SpreadKeys(terms []workload.Term) []string {
	var out []string
	for _, t := range terms {
		if t.Kind == topology.Spread && t.Weight == 0 && !slices.Contains(out, t.Key) {
			out = append(out, t.Key)
		}
	}
	slices.Sort(out)
	return out
}

func (r *Rules) nodeRule(key nodeRuleKey, t workload.Term) int {
	n, ok := r.nodeIndex[key]
	if !ok {
		n = len(r.Node)
		r.nodeIndex[key] = n
		r.Node = append(r.Node, nodeRule{nodeRuleKey: key, Term: t, Spread: key.Kind == pack.AtMost && key.limit == 0})
	}
	return n
}

// NodeExcluder returns the first constraint over nodes that excludes a pod of a class from a node
// with pods of the memberships there, nil if there is none. It leaves out topology spreads, whose
// actual skew the ledger checks.
func (r *Rules) NodeExcluder(c int, there []pack.Membership) *workload.Term {
	for _, part := range r.ByClass[c].All {
		if rule := &r.Node[part.Rule]; !rule.Spread && !rule.Admits(part, there) {
			return &rule.Term
		}
	}
	return nil
}

// join finds the rules that count the pods of each class, and sets the phase of each class. All
// rules must be known.
func (r *Rules) join(p *Problem) {
	r.bySelection = make([][]int, len(r.selections))
	for i := range r.Domain {
		r.bySelection[r.Domain[i].Term.Pods] = append(r.bySelection[r.Domain[i].Term.Pods], i)
	}
	r.nodesBySelection = make([][]int, len(r.selections))
	for i := range r.Node {
		if s := r.Node[i].pods; s >= 0 {
			r.nodesBySelection[s] = append(r.nodesBySelection[s], i)
		}
	}
	hosts := make([][]int, len(r.selections))
	for i := range r.Host {
		hosts[r.Host[i].Term.Pods] = append(hosts[r.Host[i].Term.Pods], i)
	}
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil && !p.Opts.Placed {
			continue
		}
		for s := range p.Classes[c].Selected.All() {
			r.ByClass[c].Joins = append(r.ByClass[c].Joins, r.bySelection[s]...)
			if !p.Classes[c].Headroom {
				r.ByClass[c].Among = append(r.ByClass[c].Among, hosts[s]...)
			}
		}
		slices.Sort(r.ByClass[c].Joins)
	}
	r.setDepths(p)
	for c := range p.Classes {
		r.setPhase(&r.ByClass[c], p.Classes[c].Selected)
	}
	latest := r.latest()
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil && !p.Opts.Placed {
			continue
		}
		for s := range p.Classes[c].Selected.All() {
			for _, n := range r.nodesBySelection[s] {
				// A spread does not count pods that are placed after all of its owners.
				if !r.Node[n].Spread || r.ByClass[c].Phase <= latest[n] && !p.Classes[c].Headroom {
					both := min(pack.InRule(r.ByClass[c].Parts, n).Owners, 1)
					r.ByClass[c].Parts = pack.AddPods(r.ByClass[c].Parts, 1, pack.Membership{Rule: n, Members: 1, Both: both})
				}
			}
		}
	}
}

// setPhase sets the phase in which the pods of a class are placed.
func (r *Rules) setPhase(d *ClassRules, selected bitset.Set) {
	d.Phase = AtWill
	if slices.ContainsFunc(d.Parts, func(p pack.Membership) bool { return r.Node[p.Rule].Term.Kind == topology.Spread && p.Owners > 0 }) {
		d.Phase = BySpreadOverNodes
	}
	if len(d.Owns) > 0 {
		d.Phase = ByDomain
	}
	for _, j := range d.Joins {
		rule := &r.Domain[j]
		switch {
		case rule.Term.Weight > 0:
		case rule.Kind == topology.Apart:
			// Excluded pods are assigned to domains, so that they avoid the domains of the others.
			d.Phase = ByDomain
			d.Span(rule.Term.Key)
		case rule.Kind == topology.Together && rule.Owned && d.Phase == AtWill:
			d.Phase = ByDomain // some class must be first
			d.Span(rule.Term.Key)
		}
	}
	if len(d.With) > 0 {
		d.Phase = Following
		if selected.Has(d.With[0].Pods) {
			d.Phase = Leading
		}
	}
	if d.Phase == AtWill {
		return
	}
	for _, j := range d.Joins {
		if r.Domain[j].Owned {
			d.Span(r.Domain[j].Term.Key)
		}
	}
}

// CountedOverNodes says whether any limit on the pods of a node counts the pods of a class.
func (r *Rules) CountedOverNodes(p *Problem, c int) bool {
	return slices.ContainsFunc(r.Node, func(n nodeRule) bool {
		return n.Kind == pack.AtMost && n.pods >= 0 && p.Classes[c].Selected.Has(n.pods)
	})
}

// latest returns, by rule over nodes, the last phase in which a class has it.
func (r *Rules) latest() []Phase {
	out := make([]Phase, len(r.Node)) // Leading, unless a class is later
	for c := range r.ByClass {
		d := &r.ByClass[c]
		for i := range d.Parts {
			if d.Parts[i].Owners > 0 {
				out[d.Parts[i].Rule] = max(out[d.Parts[i].Rule], d.Phase)
			}
		}
	}
	return out
}

// setDepths finds the classes that must be placed after others because of their affinity.
func (r *Rules) setDepths(p *Problem) {
	const deepest = 8 // the order does not help in longer chains or cycles
	for range deepest {
		changed := false
		for c := range r.ByClass {
			d := &r.ByClass[c]
			depth := 0
			for _, o := range d.Owns {
				rule := &r.Domain[o]
				if rule.Kind != topology.Together || p.Classes[c].Selected.Has(rule.Term.Pods) {
					continue
				}
				for other := range p.Classes {
					if p.Classes[other].Refusal == nil && p.Classes[other].Selected.Has(rule.Term.Pods) {
						depth = max(depth, r.ByClass[other].Depth+1)
					}
				}
			}
			if depth > d.Depth && depth <= deepest {
				d.Depth, changed = depth, true
			}
		}
		if !changed {
			return
		}
	}
}
