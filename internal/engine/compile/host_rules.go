package compile

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// HostRule is a topology spread constraint over the hostname, with its counts before any pod is
// placed. All solutions of a problem start from these counts.
type HostRule struct {
	DomainRule
	Looks   []bool  // by existing node: the rule counts it
	There   []int32 // by existing node: pods that the rule counts
	Perhaps []int32 // by existing node: those of There that are of DaemonSets and may not run
	Gone    []int   // number of counted pods on each terminating node that the rule counts
}

// HostRule returns rule number n of Rules.Host with its counts, which must not be changed.
func (p *Problem) HostRule(n int) *HostRule {
	return p.Cache.hosts.of(n, func() *HostRule { return p.newHostRule(&p.Rules.Host[n]) })
}

func (p *Problem) newHostRule(rule *DomainRule) *HostRule {
	out := &HostRule{
		DomainRule: *rule,
		Looks:      make([]bool, len(p.Nodes)),
		There:      make([]int32, len(p.Nodes)),
		Perhaps:    make([]int32, len(p.Nodes)),
	}
	node := p.Rules.nodeIndex[spreadKey(rule.Term)]
	for i := range p.Nodes {
		out.Looks[i] = p.LooksAt(&out.DomainRule, &p.Nodes[i])
		out.There[i] = int32(pack.InRule(p.NodeParts[i], node).Members)
		if n := &p.Nodes[i]; len(p.ByDaemon) > 0 && !n.Settling() {
			for _, d := range p.daemonsTo(n) {
				if d.Selected.Has(rule.Term.Pods) {
					out.Perhaps[i]++
				}
			}
		}
	}
	for i := range p.Gone {
		if g := &p.Gone[i]; p.LooksAt(&out.DomainRule, &g.Existing) {
			out.Gone = append(out.Gone, pack.InRule(g.Parts, node).Members)
		}
	}
	return out
}

// IsMember says whether a selection selects the pods of a class and these are not headroom.
func (p *Problem) IsMember(class, selection int) bool {
	return p.Classes[class].Selected.Has(selection) && !p.Classes[class].Headroom
}

// HostSpread returns a topology spread constraint of a class over the hostname as a DomainRule.
func (p *Problem) HostSpread(class int, t workload.Term) DomainRule {
	return DomainRule{Like: class, Spans: SpreadKeys(p.Classes[class].Terms), Term: t}
}
