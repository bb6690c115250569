package compile

import (
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
)

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
			out = append(out, p.hostSpread(c, t))
		}
	}
	return out
}

// hostSpread is such a constraint of a class.
func (p *Problem) hostSpread(class int, t workload.Term) DomainRule {
	return DomainRule{Like: class, Spans: SpreadKeys(p.Classes[class].Terms), Term: t}
}
