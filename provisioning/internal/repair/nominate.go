package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// Nominate gives pods the places that they are nominated to, as far as that holds, and
// returns the order in which they can be bound. Those with topology spreads of their own
// come first: whoever comes later may make their domain one of too many, and they keep
// nobody out. Those that are refused are tried again after the others, as long as that
// places some.
func (st *State) Nominate() []int32 {
	p, bins := st.p, st.Bins()
	at := make(map[string]*ledger.Bin, len(p.Nodes))
	for i := range p.Nodes {
		at[p.Nodes[i].Name()] = bins[i]
	}
	g := &inserter{placer: placer{st: st, p: p, left: mostLooks, ledger: ledger.New(p, bins)}}
	waiting := slices.Clone(p.Nominated)
	slices.SortStableFunc(waiting, func(a, b compile.Nominated) int {
		return g.ownSpreads(p.ClassOf[b.PodID]) - g.ownSpreads(p.ClassOf[a.PodID])
	})
	for again := true; again; {
		again = false
		waiting = slices.DeleteFunc(waiting, func(n compile.Nominated) bool {
			c, b := p.ClassOf[n.PodID], at[n.Node]
			if b == nil || p.Classes[c].Refusal != nil || !g.onto(b, c) || !g.outlasts(c, b) {
				return false
			}
			g.put(b, c, n.PodID)
			again = true
			return true
		})
	}
	for i := range bins {
		st.Bound[i] = bins[i].PodIDs
	}
	return g.order
}

// ownSpreads is how many topology spreads a class has.
func (g *placer) ownSpreads(c int) int {
	n := len(g.ledger.HostsOf(c))
	for _, r := range g.p.Rules.Duties[c].Owns {
		if g.p.Rules.Domain[r].Kind == topology.Spread {
			n++
		}
	}
	return n
}

// outlasts says whether the topology spreads of a class let a pod onto a bin even where
// a new node, which is a domain over the names of nodes, makes one of what is none so far:
// what will be launched is not known yet.
func (g *placer) outlasts(c int, s *ledger.Bin) bool {
	for _, i := range g.ledger.HostsOf(c) {
		if h := &g.ledger.Hosts.Spreads[i]; len(g.p.LowOptions) > 0 && h.There[s.Number]+1 > h.Rule.Term.Skew {
			return false
		}
	}
	for _, r := range g.p.Rules.Duties[c].Owns {
		rule, count := &g.p.Rules.Domain[r], &g.ledger.Counts[r]
		if rule.Kind != topology.Spread || rule.Rule.Key < 0 {
			continue
		}
		own, opens := 0, false
		if g.p.Classes[c].Selected.Has(rule.Pods) {
			own = 1
		}
		for d := range count.Is {
			opens = opens || !count.Is[d] && g.p.LookedAt(rule, false).Overlaps(g.p.InPlace(rule.Rule.Key, d))
		}
		for _, d := range s.At[rule.Rule.Key].Domains {
			if opens && count.Most[d]+own > rule.Skew {
				return false
			}
		}
	}
	return true
}
