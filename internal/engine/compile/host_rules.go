package compile

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// HostRule is a topology spread constraint over the name of the node, with what it counts
// before anything is placed. All solutions that are made of a problem begin with that.
type HostRule struct {
	DomainRule
	Looks   []bool  // by node that exists
	There   []int32 // by node that exists: pods
	Perhaps []int32 // by node that exists: how many of these are of DaemonSets, and may not come
	Gone    []int   // pods of each node that is gone and that it looks at
	Way     int     // rules with the same look at all nodes alike; they are few, from 0 on
}

// hostRules are those that were asked for, each once.
type hostRules struct {
	mu      sync.Mutex
	ofClass map[int][]*HostRule
	known   map[DomainRuleKey]*HostRule
	ways    map[hostWay]int
	key     workload.PodKey
}

// hostWay is what decides at which nodes a HostRule looks.
type hostWay struct {
	filter          string
	affinity, taint bool
}

// HostRules lists the topology spread constraints of a class over the name of the node.
// Classes that have the same constraint share it. They must not be changed.
func (p *Problem) HostRules(class int) []*HostRule {
	h := &p.Cache.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	if out, ok := h.ofClass[class]; ok {
		return out
	}
	if h.known == nil {
		h.ofClass, h.known, h.ways = map[int][]*HostRule{}, map[DomainRuleKey]*HostRule{}, map[hostWay]int{}
	}
	var out []*HostRule
	for _, t := range p.Classes[class].HostSpreads() {
		id := DomainRuleKey{Term: t, Filter: SpreadFilter(p, class, t, &h.key)}
		rule := h.known[id]
		if rule == nil {
			rule = p.newHostRule(class, t)
			way := hostWay{id.Filter, t.HonorAffinity, t.HonorTaint}
			if _, ok := h.ways[way]; !ok {
				h.ways[way] = len(h.ways)
			}
			rule.Way = h.ways[way]
			h.known[id] = rule
		}
		out = append(out, rule)
	}
	h.ofClass[class] = out
	return out
}

func (p *Problem) newHostRule(class int, t workload.Term) *HostRule {
	out := &HostRule{
		DomainRule: p.HostSpread(class, t),
		Looks:      make([]bool, len(p.Nodes)),
		There:      make([]int32, len(p.Nodes)),
		Perhaps:    make([]int32, len(p.Nodes)),
	}
	for i := range p.Nodes {
		out.Looks[i] = p.LooksAt(&out.DomainRule, &p.Nodes[i])
		out.There[i] = int32(p.MembersOf(t, p.NodeParts[i]))
		if n := &p.Nodes[i]; len(p.DaemonDuties) > 0 && !n.Settling() {
			for _, d := range p.daemonsTo(n) {
				if d.Selected.Has(t.Pods) {
					out.Perhaps[i]++
				}
			}
		}
	}
	for i := range p.Gone {
		if g := &p.Gone[i]; p.LooksAt(&out.DomainRule, &g.Existing) {
			out.Gone = append(out.Gone, p.MembersOf(t, g.Parts))
		}
	}
	return out
}

// IsMember says whether the pods of a class exist and are in a selection.
func (p *Problem) IsMember(class, selection int) bool {
	return p.Classes[class].Selected.Has(selection) && !p.Classes[class].Headroom
}

// MembersOf counts the members of a spread over the name of the node among what
// the pods of a node count for.
func (p *Problem) MembersOf(t workload.Term, parts []pack.Membership) int {
	rule := p.Rules.nodeIndex[spreadKey(t)]
	for _, part := range parts {
		if part.Rule == rule {
			return part.Members
		}
	}
	return 0
}

// HostSpreads lists the topology spread constraints over the name of the node, one for
// each class that has it, as what it looks at is its own.
func (p *Problem) HostSpreads() (out []DomainRule) {
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil || p.Classes[c].Headroom {
			continue
		}
		for _, t := range p.Classes[c].HostSpreads() {
			out = append(out, p.HostSpread(c, t))
		}
	}
	return out
}

// HostSpread is such a constraint of a class.
func (p *Problem) HostSpread(class int, t workload.Term) DomainRule {
	return DomainRule{Like: class, Spans: SpreadKeys(p.Classes[class].Terms), Term: t}
}
