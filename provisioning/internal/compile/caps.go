package compile

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// raiseCaps lifts the limits on what a node may have where no new node is one
// that they look at, so that the least of the nodes that exist counts and not an
// empty one: a single node is always the least itself.
func (p *Problem) raiseCaps() {
	for n, owners := range p.HostSpreads() {
		rule := &p.Rules.Node[n]
		if len(owners) == 0 || slices.ContainsFunc(owners, func(o DomainRule) bool { return !p.LookedAt(&o, false).Empty() }) {
			continue
		}
		least, nodes, fewest := p.leastOn(n, owners)
		switch {
		case rule.Term.MinDomains > fewest:
			// The least is taken for none until there are as many.
		case nodes == 1:
			rule.Limit = math.MaxInt32
		case nodes > 1:
			rule.Limit += least
		}
	}
}

// HostSpreads lists, by rule over nodes, the topology spread constraints that it
// stands for: one for each class that has it, as what it looks at is its own.
func (p *Problem) HostSpreads() [][]DomainRule {
	out := make([][]DomainRule, len(p.Rules.Node))
	for c := range p.Classes {
		if p.Classes[c].Refusal != nil || p.Classes[c].Headroom {
			continue
		}
		for _, t := range p.Classes[c].HostSpreads() {
			n := p.Rules.nodeIndex[nodeRuleKey{pack.AtMost, t.Pods, t.Skew, t.MinDomains}]
			out[n] = append(out[n], DomainRule{Like: c, Spans: SpreadKeys(p.Classes[c].Terms), Term: t})
		}
	}
	return out
}

// leastOn is the least that a rule counts on any node that one of its owners
// looks at, how many such nodes there are, and how many the owner looks at that
// looks at fewest.
func (p *Problem) leastOn(n int, owners []DomainRule) (least, nodes, fewest int) {
	least, fewest = math.MaxInt, math.MaxInt
	seen := make([]int, len(owners))
	visit := func(at *model.Existing, parts []pack.Membership) {
		looked := false
		for o := range owners {
			if p.LooksAt(&owners[o], at) {
				looked = true
				seen[o]++
			}
		}
		if looked {
			nodes++
			least = min(least, p.MembersOf(owners[0].Term, parts))
		}
	}
	for i := range p.Nodes {
		visit(&p.Nodes[i], p.NodeParts[i])
	}
	for i := range p.Gone {
		visit(&p.Gone[i].Existing, p.Gone[i].Parts)
	}
	for _, count := range seen {
		fewest = min(fewest, count)
	}
	return least, nodes, fewest
}
