package provisioning

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// rules are the constraints between pods, sorted by where they are kept: those
// over the name of a node by the packer, all others by the assignment of
// domains that goes before.
type rules struct {
	selections  []selection
	bySelection [][]int // by selection: domain rules
	domain      []domainRule
	node        []nodeRule
	ports       []hostPort // by number less firstPort: the port of a node rule
	firstPort   int        // node rules from here on are ports

	duties []duty // by class
	slots  []slot

	domainIndex map[domainRuleKey]int
	nodeIndex   map[nodeRuleKey]int
}

// domainRule is a constraint over a label other than the name of the node.
type domainRule struct {
	topology.Rule
	key   string
	pods  int // the selection
	like  int // class whose node selection and tolerations decide which nodes count
	spans []string
	term  term
	owned bool // some class to be placed has it; else only bound pods do
}

type domainRuleKey struct {
	term   term
	filter string
}

// nodeRule is a constraint between the pods of one node.
type nodeRule struct {
	pack.Rule
	pods int // the selection; -1 for ports
	term term
}

type nodeRuleKey struct {
	kind       pack.RuleKind
	pods       int
	limit      int
	minDomains int
}

// duty is what rules ask of the pods of a class.
type duty struct {
	owns  []int    // domain rules that its pods have
	joins []int    // domain rules that count its pods
	soft  []int    // domain rules that its pods would rather keep
	spans []string // labels that decide: of the rules it owns, and of those it joins where that matters
	parts []pack.Membership
	all   []pack.Membership // parts, with those that are put as slots
	with  []term            // required affinity over the name of the node
	phase phase
	depth int // how many affinities must be met one after the other before
}

// phase orders classes: what comes later is not seen by what comes before.
type phase int

const (
	// leading: classes with an affinity over the name of the node that may be
	// the first of those they want to be with.
	leading phase = iota
	// bySpreadOverNodes: classes that are spread over nodes, and have no other
	// constraint.
	bySpreadOverNodes
	// byDomain: classes with a constraint over domains, their own or, for
	// anti-affinity, that of others.
	byDomain
	// byPreference: classes that only have preferences over domains, worth their
	// price. No class is of this phase by itself; see wishes.
	byPreference
	// atWill: all others, but those that follow.
	atWill
	// following: other classes with an affinity over the name of the node.
	following
)

func newRules(p *Problem, selections []selection) *rules {
	r := &rules{
		selections:  selections,
		duties:      make([]duty, len(p.classes)),
		domainIndex: map[domainRuleKey]int{},
		nodeIndex:   map[nodeRuleKey]int{},
	}
	var key podKey
	for c := range p.classes {
		if p.classes[c].refusal != nil {
			continue
		}
		for _, t := range p.classes[c].terms {
			if t.weight > 0 {
				r.preference(p, c, t, &key)
				continue
			}
			r.own(p, c, t, &key)
		}
		r.dropCoveredAffinity(&r.duties[c])
	}
	return r
}

// own notes that a class has a constraint.
func (r *rules) own(p *Problem, c int, t term, key *podKey) {
	d := &r.duties[c]
	if p.classes[c].headroom && t.kind == topology.Spread {
		return // how pods are spread that do not exist is of no interest
	}
	if t.key == corev1.LabelHostname {
		switch t.kind {
		case topology.Spread:
			d.parts = addPart(d.parts, r.nodeRule(nodeRuleKey{pack.AtMost, t.pods, t.skew, t.minDomains}, t), 1, 0, 0)
		case topology.Apart:
			d.parts = addPart(d.parts, r.nodeRule(nodeRuleKey{pack.Apart, t.pods, 0, 0}, t), 1, 0, 0)
		case topology.Together:
			d.with = append(d.with, t)
		}
		return
	}
	id := r.domainRule(p, c, t, key)
	r.domain[id].owned = true
	d.owns = append(d.owns, id)
	d.span(t.key)
}

// preference notes that a class would rather keep a constraint. Those over the name
// of the node are no matter of domains: see tastes.
func (r *rules) preference(p *Problem, c int, t term, key *podKey) {
	if t.key == corev1.LabelHostname || p.classes[c].headroom {
		return
	}
	r.duties[c].soft = append(r.duties[c].soft, r.domainRule(p, c, t, key))
}

func (d *duty) span(key string) {
	if !slices.Contains(d.spans, key) {
		d.spans = append(d.spans, key)
		slices.Sort(d.spans)
	}
}

// domainRule returns the number of a rule. A spread counts only nodes that the
// pod may use, so that pods which differ in that do not share it.
func (r *rules) domainRule(p *Problem, c int, t term, key *podKey) int {
	id := domainRuleKey{term: t}
	var spans []string
	if t.kind == topology.Spread {
		spans, id.filter = spreadKeys(p.classes[c].terms), spreadFilter(p, c, t, key)
	}
	n, ok := r.domainIndex[id]
	if !ok {
		n = len(r.domain)
		r.domainIndex[id] = n
		rule := topology.Rule{Kind: t.kind, Skew: t.skew, MinDomains: t.minDomains, Group: t.pods}
		r.domain = append(r.domain, domainRule{Rule: rule, key: t.key, pods: t.pods, like: c, spans: spans, term: t})
	}
	return n
}

// spreadFilter tells apart what the topology spread constraints of classes look
// at.
func spreadFilter(p *Problem, c int, t term, key *podKey) string {
	filter := fmt.Appendf(nil, "%q", spreadKeys(p.classes[c].terms))
	if t.honorAffinity {
		filter = append(filter, key.where(p.pod(c))...)
	}
	if t.honorTaint {
		filter = fmt.Appendf(filter, "%+v", p.classes[c].tolerations)
	}
	return string(filter)
}

// spreadKeys are the labels that a node must have, all of them, to be looked at
// by any hard spread constraint of a pod.
func spreadKeys(terms []term) []string {
	var out []string
	for _, t := range terms {
		if t.kind == topology.Spread && t.weight == 0 && !slices.Contains(out, t.key) {
			out = append(out, t.key)
		}
	}
	slices.Sort(out)
	return out
}

func (r *rules) nodeRule(key nodeRuleKey, t term) int {
	n, ok := r.nodeIndex[key]
	if !ok {
		n = len(r.node)
		r.nodeIndex[key] = n
		r.node = append(r.node, nodeRule{Rule: pack.Rule{Kind: key.kind, Limit: key.limit}, pods: key.pods, term: t})
	}
	return n
}

// addPart adds to what a pod counts for in a rule. Parts stay sorted.
func addPart(parts []pack.Membership, rule, owners, members, both int) []pack.Membership {
	i, ok := slices.BinarySearchFunc(parts, rule, comparePart)
	if !ok {
		parts = slices.Insert(parts, i, pack.Membership{Rule: rule})
	}
	parts[i].Owners += owners
	parts[i].Members += members
	parts[i].Both += both
	return parts
}

func comparePart(p pack.Membership, rule int) int { return cmp.Compare(p.Rule, rule) }

// join works out which rules count the pods of each class, once all rules are
// known, and with that the phase of each.
func (r *rules) join(p *Problem) {
	r.bySelection = make([][]int, len(r.selections))
	for i := range r.domain {
		r.bySelection[r.domain[i].pods] = append(r.bySelection[r.domain[i].pods], i)
	}
	nodeBySelection := make([][]int, len(r.selections))
	for i := range r.node {
		if s := r.node[i].pods; s >= 0 {
			nodeBySelection[s] = append(nodeBySelection[s], i)
		}
	}
	for c := range p.classes {
		if p.classes[c].refusal != nil {
			continue
		}
		for s := range p.classes[c].selected.All() {
			r.duties[c].joins = append(r.duties[c].joins, r.bySelection[s]...)
		}
		slices.Sort(r.duties[c].joins)
	}
	r.setDepths(p)
	for c := range p.classes {
		r.setPhase(&r.duties[c], p.classes[c].selected)
	}
	latest := r.latest()
	for c := range p.classes {
		if p.classes[c].refusal != nil {
			continue
		}
		for s := range p.classes[c].selected.All() {
			for _, n := range nodeBySelection[s] {
				// Pods that have their turn after all owners are not counted.
				if r.node[n].Kind == pack.Apart || r.duties[c].phase <= latest[n] && !p.classes[c].headroom {
					r.duties[c].joinNode(n)
				}
			}
		}
	}
}

// setPhase works out when the pods of a class have their turn.
func (r *rules) setPhase(d *duty, selected bitset.Set) {
	d.phase = atWill
	if slices.ContainsFunc(d.parts, func(p pack.Membership) bool { return r.node[p.Rule].term.kind == topology.Spread && p.Owners > 0 }) {
		d.phase = bySpreadOverNodes
	}
	if len(d.owns) > 0 {
		d.phase = byDomain
	}
	for _, j := range d.joins {
		rule := &r.domain[j]
		switch {
		case rule.term.weight > 0:
		case rule.Kind == topology.Apart:
			// Whoever is kept away must know where the others are.
			d.phase = byDomain
			d.span(rule.key)
		case rule.Kind == topology.Together && rule.owned && d.phase == atWill:
			d.phase = byDomain // somebody must lead
			d.span(rule.key)
		}
	}
	if len(d.with) > 0 {
		d.phase = following
		if selected.Has(d.with[0].pods) {
			d.phase = leading
		}
	}
	if d.phase == atWill {
		return
	}
	for _, j := range d.joins {
		if r.domain[j].owned {
			d.span(r.domain[j].key)
		}
	}
}

// countedOverNodes says whether any limit on what a node may have counts the
// pods of a class.
func (r *rules) countedOverNodes(p *Problem, c int) bool {
	return slices.ContainsFunc(r.node, func(n nodeRule) bool {
		return n.Kind == pack.AtMost && n.pods >= 0 && p.classes[c].selected.Has(n.pods)
	})
}

// joinNode makes a class a member of a rule over nodes.
func (d *duty) joinNode(n int) {
	owner := 0
	for i := range d.parts {
		if d.parts[i].Rule == n && d.parts[i].Owners > 0 {
			owner = 1
		}
	}
	d.parts = addPart(d.parts, n, 0, 1, owner)
}

// latest is, for each rule over nodes, the last phase in which a class has it.
func (r *rules) latest() []phase {
	out := make([]phase, len(r.node)) // leading, unless somebody is later
	for c := range r.duties {
		d := &r.duties[c]
		for i := range d.parts {
			if d.parts[i].Owners > 0 {
				out[d.parts[i].Rule] = max(out[d.parts[i].Rule], d.phase)
			}
		}
	}
	return out
}

// setDepths works out which classes wait for others that they want to be with.
func (r *rules) setDepths(p *Problem) {
	const deepest = 8 // beyond, or in a circle, the order does not help
	for range deepest {
		changed := false
		for c := range r.duties {
			d := &r.duties[c]
			depth := 0
			for _, o := range d.owns {
				rule := &r.domain[o]
				if rule.Kind != topology.Together || p.classes[c].selected.Has(rule.pods) {
					continue
				}
				for other := range p.classes {
					if p.classes[other].refusal == nil && p.classes[other].selected.Has(rule.pods) {
						depth = max(depth, r.duties[other].depth+1)
					}
				}
			}
			if depth > d.depth && depth <= deepest {
				d.depth, changed = depth, true
			}
		}
		if !changed {
			return
		}
	}
}
