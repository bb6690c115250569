package compile

import (
	"sync"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
)

// HostRule is a topology spread constraint over the name of the node, with what it counts
// before anything is placed. All solutions that are made of a problem begin with that.
type HostRule struct {
	DomainRule
	Looks []bool  // by node that exists
	There []int32 // by node that exists: pods
	Gone  []int   // pods of each node that is gone and that it looks at
}

// hostRules are those that were asked for, each once.
type hostRules struct {
	mu      sync.Mutex
	ofClass map[int][]*HostRule
	known   map[DomainRuleKey]*HostRule
	key     workload.PodKey
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
		h.ofClass, h.known = map[int][]*HostRule{}, map[DomainRuleKey]*HostRule{}
	}
	var out []*HostRule
	for _, t := range p.Classes[class].HostSpreads() {
		id := DomainRuleKey{Term: t, Filter: SpreadFilter(p, class, t, &h.key)}
		rule := h.known[id]
		if rule == nil {
			rule = p.newHostRule(class, t)
			h.known[id] = rule
		}
		out = append(out, rule)
	}
	h.ofClass[class] = out
	return out
}

func (p *Problem) newHostRule(class int, t workload.Term) *HostRule {
	out := &HostRule{
		DomainRule: p.hostSpread(class, t),
		Looks:      make([]bool, len(p.Nodes)),
		There:      make([]int32, len(p.Nodes)),
	}
	for i := range p.Nodes {
		out.Looks[i] = p.LooksAt(&out.DomainRule, &p.Nodes[i])
		out.There[i] = int32(p.MembersOf(t, p.NodeParts[i]))
	}
	for i := range p.Gone {
		if g := &p.Gone[i]; p.LooksAt(&out.DomainRule, &g.Existing) {
			out.Gone = append(out.Gone, p.MembersOf(t, g.Parts))
		}
	}
	return out
}
