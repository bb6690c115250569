package compile

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// HostRule is a topology spread constraint over the hostname, with its counts before any pod is
// placed. All solutions of a problem start from these counts. Way numbers HostRules apart from
// domain rules.
type HostRule struct {
	DomainRule
	Looks   []bool  // by existing node: the rule counts it
	There   []int32 // by existing node: pods that the rule counts
	Perhaps []int32 // by existing node: those of There that are of DaemonSets and may not run
	Gone    []int   // number of counted pods on each terminating node that the rule counts
}

// hostRules caches the distinct rules.
type hostRules struct {
	mu      sync.Mutex
	ofClass map[int][]*HostRule
	known   map[DomainRuleKey]*HostRule
	ways    map[way]int
	key     workload.PodKey
}

// HostRules lists the topology spread constraints of a class over the hostname. Classes with equal
// constraints share a HostRule, which must not be changed.
func (p *Problem) HostRules(class int) []*HostRule {
	h := &p.Cache.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	if out, ok := h.ofClass[class]; ok {
		return out
	}
	if h.known == nil {
		h.ofClass, h.known, h.ways = map[int][]*HostRule{}, map[DomainRuleKey]*HostRule{}, map[way]int{}
	}
	var out []*HostRule
	for _, t := range p.Classes[class].HostSpreads() {
		id := DomainRuleKey{Term: t, Filter: SpreadFilter(p, class, t, &h.key)}
		rule := h.known[id]
		if rule == nil {
			rule = p.newHostRule(class, t)
			looks := way{t.Key, id.Filter, t.HonorAffinity, t.HonorTaint}
			if _, ok := h.ways[looks]; !ok {
				h.ways[looks] = len(h.ways)
			}
			rule.Way = h.ways[looks]
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
		out.There[i] = int32(p.membersOf(t, p.NodeParts[i]))
		if n := &p.Nodes[i]; len(p.ByDaemon) > 0 && !n.Settling() {
			for _, d := range p.daemonsTo(n) {
				if d.Selected.Has(t.Pods) {
					out.Perhaps[i]++
				}
			}
		}
	}
	for i := range p.Gone {
		if g := &p.Gone[i]; p.LooksAt(&out.DomainRule, &g.Existing) {
			out.Gone = append(out.Gone, p.membersOf(t, g.Parts))
		}
	}
	return out
}

// IsMember says whether a selection selects the pods of a class and these are not headroom.
func (p *Problem) IsMember(class, selection int) bool {
	return p.Classes[class].Selected.Has(selection) && !p.Classes[class].Headroom
}

// membersOf returns the number of pods that a spread over the hostname counts among the memberships
// of a node.
func (p *Problem) membersOf(t workload.Term, parts []pack.Membership) int {
	rule := p.Rules.nodeIndex[spreadKey(t)]
	for _, part := range parts {
		if part.Rule == rule {
			return part.Members
		}
	}
	return 0
}

// HostSpread returns a topology spread constraint of a class over the hostname as a DomainRule.
func (p *Problem) HostSpread(class int, t workload.Term) DomainRule {
	return DomainRule{Like: class, Spans: SpreadKeys(p.Classes[class].Terms), Term: t}
}
