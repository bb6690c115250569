package provisioning

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// raiseCaps lifts the limits on what a node may have where no new node is one
// that they look at, so that the least of the nodes that exist counts and not an
// empty one: a single node is always the least itself.
func (p *Problem) raiseCaps() {
	for n, owners := range p.hostSpreads() {
		rule := &p.rules.node[n]
		if len(owners) == 0 || slices.ContainsFunc(owners, func(o domainRule) bool { return !p.lookedAt(&o, false).Empty() }) {
			continue
		}
		least, nodes, fewest := p.leastOn(n, owners)
		switch {
		case rule.term.minDomains > fewest:
			// The least is taken for none until there are as many.
		case nodes == 1:
			rule.Limit = math.MaxInt32
		case nodes > 1:
			rule.Limit += least
		}
	}
}

// hostSpreads lists, by rule over nodes, the topology spread constraints that it
// stands for: one for each class that has it, as what it looks at is its own.
func (p *Problem) hostSpreads() [][]domainRule {
	out := make([][]domainRule, len(p.rules.node))
	for c := range p.classes {
		if p.classes[c].refusal != nil || p.classes[c].headroom {
			continue
		}
		for _, t := range p.classes[c].hostSpreads() {
			n := p.rules.nodeIndex[nodeRuleKey{pack.AtMost, t.pods, t.skew, t.minDomains}]
			out[n] = append(out[n], domainRule{like: c, spans: spreadKeys(p.classes[c].terms), term: t})
		}
	}
	return out
}

// leastOn is the least that a rule counts on any node that one of its owners
// looks at, how many such nodes there are, and how many the owner looks at that
// looks at fewest.
func (p *Problem) leastOn(n int, owners []domainRule) (least, nodes, fewest int) {
	least, fewest = math.MaxInt, math.MaxInt
	seen := make([]int, len(owners))
	visit := func(at *existing, parts []pack.Membership) {
		looked := false
		for o := range owners {
			if p.looksAt(&owners[o], at) {
				looked = true
				seen[o]++
			}
		}
		if looked {
			nodes++
			least = min(least, p.membersOf(owners[0].term, parts))
		}
	}
	for i := range p.nodes {
		visit(&p.nodes[i], p.nodeParts[i])
	}
	for i := range p.gone {
		visit(&p.gone[i].existing, p.gone[i].parts)
	}
	for _, count := range seen {
		fewest = min(fewest, count)
	}
	return least, nodes, fewest
}
