package compile

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// Rules are the constraints between pods, sorted by where they are kept: those
// over the name of a node by the packer, all others by the assignment of
// domains that goes before.
type Rules struct {
	selections  []workload.Selection
	bySelection [][]int // by selection: domain rules
	Domain      []DomainRule
	Node        []nodeRule
	holds       []constraint.Hold // by number less firstHold: what a node rule is about
	firstHold   int               // node rules from here on are about what pods hold of a node

	Duties []Duty // by class
	Slots  []Slot

	domainIndex map[DomainRuleKey]int
	nodeIndex   map[nodeRuleKey]int
}

// DomainRule is a constraint over a label other than the name of the node.
type DomainRule struct {
	topology.Rule
	Key   string
	Pods  int // the selection
	Like  int // class whose node selection and tolerations decide which nodes count
	Spans []string
	Term  workload.Term
	Owned bool // some class to be placed has it; else only bound pods do
	// Perhaps holds, by domain, pods of DaemonSets that the rule counts if they come: a node that
	// has been running for long may stay without them.
	Perhaps []int
}

// DomainRuleKey is what makes two domain rules one.
type DomainRuleKey struct {
	Term   workload.Term
	Filter string
}

// nodeRule is a constraint between the pods of one node: an anti-affinity or a topology
// spread over its name, something of it that pods hold, or a limit.
type nodeRule struct {
	pack.Rule
	pods int // the selection; -1 for what pods hold of a node
	// Term is zero for that and for a limit, and its kind then reads as topology.Spread: so
	// classes with ports have their turn as those that are spread over nodes do. See setPhase.
	Term workload.Term
	// Spread says that the rule stands for a topology spread: how many pods a node may have
	// while another is empty. How that stands is for the ledger to say; every other rule
	// holds as it is, whatever the plan.
	Spread bool
	limit  int // of a limit: one more than its kind of constraint
}

type nodeRuleKey struct {
	kind       pack.RuleKind
	pods       int
	most       int
	minDomains int
	limit      int // of a limit: one more than its kind of constraint
}

func spreadKey(t workload.Term) nodeRuleKey {
	return nodeRuleKey{kind: pack.AtMost, pods: t.Pods, most: t.Skew, minDomains: t.MinDomains}
}

func apartKey(t workload.Term) nodeRuleKey { return nodeRuleKey{kind: pack.Apart, pods: t.Pods} }

// Duty is what rules ask of the pods of a class.
type Duty struct {
	Owns  []int    // domain rules that its pods have
	Joins []int    // domain rules that count its pods
	Soft  []int    // domain rules that its pods would rather keep
	Spans []string // labels that decide: of the rules it owns, and of those it joins where that matters
	Parts []pack.Membership
	All   []pack.Membership // parts, with those that are put as slots
	With  []workload.Term   // required affinity over the name of the node
	Phase Phase
	Depth int // how many affinities must be met one after the other before
}

// Phase orders classes: what comes later is not seen by what comes before.
type Phase int

const (
	// leading: classes with an affinity over the name of the node that may be
	// the first of those they want to be with.
	Leading Phase = iota
	// bySpreadOverNodes: classes that are spread over nodes, and have no other
	// constraint.
	BySpreadOverNodes
	// byDomain: classes with a constraint over domains, their own or, for
	// anti-affinity, that of others.
	ByDomain
	// byPreference: classes that only have preferences over domains, worth their
	// price. No class is of this phase by itself; see wishes.
	ByPreference
	// atWill: all others, but those that follow.
	AtWill
	// following: other classes with an affinity over the name of the node.
	Following
)

// Selection returns the pods that a constraint is about, by the number in its term.
func (r *Rules) Selection(number int) *workload.Selection { return &r.selections[number] }

func newRules(p *Problem, selections []workload.Selection) *Rules {
	r := &Rules{
		selections:  selections,
		Duties:      make([]Duty, len(p.Classes)),
		domainIndex: map[DomainRuleKey]int{},
		nodeIndex:   map[nodeRuleKey]int{},
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
		r.dropCoveredAffinity(&r.Duties[c])
	}
	return r
}

// own notes that a class has a constraint.
func (r *Rules) own(p *Problem, c int, t workload.Term, key *workload.PodKey) {
	d := &r.Duties[c]
	if t.Key == corev1.LabelHostname {
		if p.Classes[c].Headroom && t.Kind == topology.Spread {
			return // room for pods of a buffer may be on one node
		}
		switch t.Kind {
		case topology.Spread:
			d.Parts = AddPart(d.Parts, r.nodeRule(spreadKey(t), t), 1, 0, 0)
		case topology.Apart:
			d.Parts = AddPart(d.Parts, r.nodeRule(apartKey(t), t), 1, 0, 0)
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

// preference notes that a class would rather keep a constraint. Those over the name
// of the node are no matter of domains: see tastes.
func (r *Rules) preference(p *Problem, c int, t workload.Term, key *workload.PodKey) {
	if t.Key == corev1.LabelHostname || p.Classes[c].Headroom {
		return
	}
	r.Duties[c].Soft = append(r.Duties[c].Soft, r.domainRule(p, c, t, key))
}

// Span notes that a label decides where pods go.
func (d *Duty) Span(key string) {
	if !slices.Contains(d.Spans, key) {
		d.Spans = append(d.Spans, key)
		slices.Sort(d.Spans)
	}
}

// domainRule returns the number of a rule. A spread counts only nodes that the
// pod may use, so that pods which differ in that do not share it.
func (r *Rules) domainRule(p *Problem, c int, t workload.Term, key *workload.PodKey) int {
	id := DomainRuleKey{Term: t}
	var spans []string
	if t.Kind == topology.Spread {
		// Pods that select other nodes, or whose volumes are elsewhere, are spread over other
		// domains, also where the constraint itself looks at all nodes.
		spans, id.Filter = SpreadKeys(p.Classes[c].Terms), SpreadFilter(p, c, t, key)+p.Classes[c].VolumeKey
		if !t.HonorAffinity && t.Weight == 0 {
			id.Filter += string(key.Where(p.Pod(c)))
		}
	}
	n, ok := r.domainIndex[id]
	if !ok {
		n = len(r.Domain)
		r.domainIndex[id] = n
		rule := topology.Rule{Kind: t.Kind, Skew: t.Skew, MinDomains: t.MinDomains, Group: t.Pods}
		r.Domain = append(r.Domain, DomainRule{Rule: rule, Key: t.Key, Pods: t.Pods, Like: c, Spans: spans, Term: t})
	}
	return n
}

// SpreadFilter tells apart what the topology spread constraints of classes look
// at.
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

// SpreadKeys are the labels that a node must have, all of them, to be looked at
// by any hard spread constraint of a pod.
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
		r.Node = append(r.Node, nodeRule{Rule: pack.Rule{Kind: key.kind, Limit: key.most}, pods: key.pods, Term: t,
			Spread: key.kind == pack.AtMost && key.limit == 0, limit: key.limit})
	}
	return n
}

// AddPart adds to what a pod counts for in a rule. Parts stay sorted.
func AddPart(parts []pack.Membership, rule, owners, members, both int) []pack.Membership {
	i, ok := slices.BinarySearchFunc(parts, rule, ComparePart)
	if !ok {
		parts = slices.Insert(parts, i, pack.Membership{Rule: rule})
	}
	parts[i].Owners += owners
	parts[i].Members += members
	parts[i].Both += both
	return parts
}

// ComparePart orders memberships by their rule.
func ComparePart(p pack.Membership, rule int) int { return cmp.Compare(p.Rule, rule) }

// join works out which rules count the pods of each class, once all rules are
// known, and with that the phase of each.
func (r *Rules) join(p *Problem) {
	r.bySelection = make([][]int, len(r.selections))
	for i := range r.Domain {
		r.bySelection[r.Domain[i].Pods] = append(r.bySelection[r.Domain[i].Pods], i)
	}
	nodeBySelection := make([][]int, len(r.selections))
	for i := range r.Node {
		if s := r.Node[i].pods; s >= 0 {
			nodeBySelection[s] = append(nodeBySelection[s], i)
		}
	}
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil {
			continue
		}
		for s := range p.Classes[c].Selected.All() {
			r.Duties[c].Joins = append(r.Duties[c].Joins, r.bySelection[s]...)
		}
		slices.Sort(r.Duties[c].Joins)
	}
	r.setDepths(p)
	for c := range p.Classes {
		r.setPhase(&r.Duties[c], p.Classes[c].Selected)
	}
	latest := r.latest()
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil {
			continue
		}
		for s := range p.Classes[c].Selected.All() {
			for _, n := range nodeBySelection[s] {
				// A spread does not count pods that have their turn after all owners.
				if !r.Node[n].Spread || r.Duties[c].Phase <= latest[n] && !p.Classes[c].Headroom {
					r.Duties[c].joinNode(n)
				}
			}
		}
	}
}

// setPhase works out when the pods of a class have their turn.
func (r *Rules) setPhase(d *Duty, selected bitset.Set) {
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
			// Whoever is kept away must know where the others are.
			d.Phase = ByDomain
			d.Span(rule.Key)
		case rule.Kind == topology.Together && rule.Owned && d.Phase == AtWill:
			d.Phase = ByDomain // somebody must lead
			d.Span(rule.Key)
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
			d.Span(r.Domain[j].Key)
		}
	}
}

// CountedOverNodes says whether any limit on what a node may have counts the
// pods of a class.
func (r *Rules) CountedOverNodes(p *Problem, c int) bool {
	return slices.ContainsFunc(r.Node, func(n nodeRule) bool {
		return n.Kind == pack.AtMost && n.pods >= 0 && p.Classes[c].Selected.Has(n.pods)
	})
}

// joinNode makes a class a member of a rule over nodes.
func (d *Duty) joinNode(n int) {
	owner := 0
	for i := range d.Parts {
		if d.Parts[i].Rule == n && d.Parts[i].Owners > 0 {
			owner = 1
		}
	}
	d.Parts = AddPart(d.Parts, n, 0, 1, owner)
}

// latest is, for each rule over nodes, the last phase in which a class has it.
func (r *Rules) latest() []Phase {
	out := make([]Phase, len(r.Node)) // leading, unless somebody is later
	for c := range r.Duties {
		d := &r.Duties[c]
		for i := range d.Parts {
			if d.Parts[i].Owners > 0 {
				out[d.Parts[i].Rule] = max(out[d.Parts[i].Rule], d.Phase)
			}
		}
	}
	return out
}

// setDepths works out which classes wait for others that they want to be with.
func (r *Rules) setDepths(p *Problem) {
	const deepest = 8 // beyond, or in a circle, the order does not help
	for range deepest {
		changed := false
		for c := range r.Duties {
			d := &r.Duties[c]
			depth := 0
			for _, o := range d.Owns {
				rule := &r.Domain[o]
				if rule.Kind != topology.Together || p.Classes[c].Selected.Has(rule.Pods) {
					continue
				}
				for other := range p.Classes {
					if p.Classes[other].Refusal == nil && p.Classes[other].Selected.Has(rule.Pods) {
						depth = max(depth, r.Duties[other].Depth+1)
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
