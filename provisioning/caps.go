package provisioning

import (
	"math"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// raiseCaps lifts the limits on what a node may have where no new node is one
// that they look at, so that the least of the nodes that exist counts and not an empty one:
// a single node is always the least itself.
func (p *Problem) raiseCaps() {
	if p.leaving > 0 {
		return
	}
	for n := range p.rules.node {
		rule := &p.rules.node[n]
		if rule.Kind != pack.AtMost || rule.pods < 0 || p.mayLook(n) {
			continue
		}
		least, nodes := math.MaxInt, 0
		for i := range p.nodes {
			if !p.hosts(n, &p.nodes[i]) {
				continue
			}
			nodes++
			here := 0
			for _, part := range p.nodeParts[i] {
				if part.Rule == n {
					here = part.Members
				}
			}
			least = min(least, here)
		}
		switch {
		case rule.term.minDomains > nodes:
			// The least is taken for none until there are as many.
		case nodes == 1:
			rule.Limit = math.MaxInt32
		case nodes > 1:
			rule.Limit += least
		}
	}
}

// mayLook says whether pods that have a rule select some new node, whatever its
// taints.
func (p *Problem) mayLook(n int) bool {
	for c := range p.rules.duties {
		for _, part := range p.rules.duties[c].parts {
			if part.Rule != n || part.Owners == 0 {
				continue
			}
			anywhere := p.classes[c]
			anywhere.tolerations = tolerateAll
			out := bitset.New(p.admission.domains.total)
			for _, alt := range anywhere.asked {
				if admitsNewNode(alt) {
					p.admission.addOptions(out, &anywhere, alt)
				}
			}
			if !out.Empty() {
				return true
			}
		}
	}
	return false
}

// hosts says whether pods that have a rule select a node, whatever its taints.
func (p *Problem) hosts(n int, node *existing) bool {
	for c := range p.rules.duties {
		for _, part := range p.rules.duties[c].parts {
			if part.Rule == n && part.Owners > 0 && node.verdict.selects.Has(c) {
				return true
			}
		}
	}
	return false
}
