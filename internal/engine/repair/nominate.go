package repair

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// Nominate gives pods the places that they are nominated to, as far as that holds, and
// returns the order in which they can be bound. Whether a place holds depends on who comes
// before, so that where pods are refused, other orders are tried: of those that refuse
// fewest the first is taken.
func (st *State) Nominate() []int32 {
	var tried [][]compile.Nominated
	var best *nomination
	for _, rank := range []func(p *compile.Problem, c int) int{spreadFirst, gatherFirst, asNamed} {
		waiting := ranked(st.p, rank)
		if slices.ContainsFunc(tried, func(t []compile.Nominated) bool { return slices.Equal(t, waiting) }) {
			continue
		}
		tried = append(tried, waiting)
		if n := st.nominate(waiting); best == nil || len(n.order) > len(best.order) {
			best = n
		}
		if len(best.order) == len(waiting) {
			break
		}
	}
	for i, bin := range best.ledger.Bins[:len(st.Bound)] {
		st.Bound[i] = bin.PodIDs
	}
	for _, podID := range best.order {
		st.Placed[podID] = true
	}
	return best.order
}

// ranked are the nominated pods by the rank of their classes: the lower come first.
func ranked(p *compile.Problem, rank func(p *compile.Problem, c int) int) []compile.Nominated {
	out := slices.Clone(p.Nominated)
	slices.SortStableFunc(out, func(a, b compile.Nominated) int {
		return cmp.Compare(rank(p, p.ClassOf[a.PodID]), rank(p, p.ClassOf[b.PodID]))
	})
	return out
}

// spreadFirst has classes with most topology spreads come first. After pods that it counts,
// one with a topology spread is one too many in their domain; it keeps nobody out itself.
func spreadFirst(p *compile.Problem, c int) int {
	rank := -len(p.HostRules(c))
	for _, r := range p.Rules.Duties[c].Owns {
		if p.Rules.Domain[r].Kind == topology.Spread {
			rank--
		}
	}
	return rank
}

// gatherFirst has classes come first whose pods are to be where others of them are: the first
// of these may choose the domain, before others are elsewhere.
func gatherFirst(p *compile.Problem, c int) int {
	gathers := func(r int) bool {
		return p.Rules.Domain[r].Kind == topology.Together && p.Classes[c].Selected.Has(p.Rules.Domain[r].Pods)
	}
	if slices.ContainsFunc(p.Rules.Duties[c].Owns, gathers) {
		return math.MinInt
	}
	return spreadFirst(p, c)
}

// asNamed leaves the order as it is.
func asNamed(*compile.Problem, int) int { return 0 }

// nomination is a try to have pods where they are nominated to.
type nomination struct {
	placer
	order []int32 // of those that have their place
}

// nominate tries pods in an order, and those that are refused again after the others, as long
// as that places some.
func (st *State) nominate(order []compile.Nominated) *nomination {
	p, bins := st.p, st.Bins()
	n := &nomination{placer: placer{st: st, p: p, left: mostLooks, ledger: ledger.New(p, bins)}}
	at := make(map[string]*ledger.Bin, len(p.Nodes))
	for i := range p.Nodes {
		at[p.Nodes[i].Name()] = bins[i]
	}
	waiting := slices.Clone(order)
	for again := true; again; {
		again = false
		waiting = slices.DeleteFunc(waiting, func(w compile.Nominated) bool {
			c, b := p.ClassOf[w.PodID], at[w.Node]
			if b == nil || p.Classes[c].Refusal != nil || !n.onto(b, c) || !n.outlasts(c, b) {
				return false
			}
			n.put(b, c, w.PodID)
			n.order, again = append(n.order, w.PodID), true
			return true
		})
	}
	return n
}

// outlasts says whether the topology spreads of a class let a pod onto a bin even where
// a new node, which is a domain over the names of nodes, makes one of what is none so far:
// what will be launched is not known yet.
func (n *nomination) outlasts(c int, s *ledger.Bin) bool {
	for _, i := range n.ledger.HostsOf(c) {
		if h := &n.ledger.Hosts.Spreads[i]; len(n.p.LowOptions) > 0 && h.There[s.Number]+1 > h.Rule.Term.Skew {
			return false
		}
	}
	for _, r := range n.p.Rules.Duties[c].Owns {
		rule, count := &n.p.Rules.Domain[r], &n.ledger.Counts[r]
		if rule.Kind != topology.Spread || rule.Rule.Key < 0 {
			continue
		}
		own, opens := 0, false
		if n.p.Classes[c].Selected.Has(rule.Pods) {
			own = 1
		}
		for d := range count.Members {
			opens = opens || !n.ledger.Covers(r, d) && n.p.LookedAt(rule, false).Overlaps(n.p.InPlace(rule.Rule.Key, d))
		}
		for _, d := range s.At[rule.Rule.Key].Domains {
			if opens && count.Members[d]+own > rule.Skew {
				return false
			}
		}
	}
	return true
}
