package repair

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// Nominate places pods on their nominated nodes, as far as constraints allow, and returns the order
// in which they can be bound. Whether a place is valid depends on the pods bound before, so it
// tries several orders if pods are refused. It takes the first of the orders in which fewest pods
// are refused.
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

// ranked returns the nominated pods sorted by the rank of their classes, the lowest first.
func ranked(p *compile.Problem, rank func(p *compile.Problem, c int) int) []compile.Nominated {
	out := slices.Clone(p.Nominated)
	slices.SortStableFunc(out, func(a, b compile.Nominated) int {
		return cmp.Compare(rank(p, p.ClassOf[a.PodID]), rank(p, p.ClassOf[b.PodID]))
	})
	return out
}

// spreadFirst ranks classes by their number of topology spreads, most first. A pod with a topology
// spread may be one too many in its domain after pods that the spread counts, but it excludes no
// other pod itself.
func spreadFirst(p *compile.Problem, c int) int {
	rank := -len(p.Rules.ByClass[c].Hosts)
	for _, r := range p.Rules.ByClass[c].Owns {
		if p.Rules.Domain[r].Kind == topology.Spread {
			rank--
		}
	}
	return rank
}

// gatherFirst ranks classes first whose pods must be in the domain of another pod of the class: the
// first of them may choose the domain before other pods are elsewhere.
func gatherFirst(p *compile.Problem, c int) int {
	gathers := func(r int) bool {
		return p.Rules.Domain[r].Kind == topology.Together && p.Classes[c].Selected.Has(p.Rules.Domain[r].Term.Pods)
	}
	if slices.ContainsFunc(p.Rules.ByClass[c].Owns, gathers) {
		return math.MinInt
	}
	return spreadFirst(p, c)
}

// asNamed keeps the given order.
func asNamed(*compile.Problem, int) int { return 0 }

// nomination is one attempt to place pods on their nominated nodes.
type nomination struct {
	placer
	order []int32 // of the pods that have their place
}

// nominate tries pods in an order, and refused pods again after the others, as long as that places
// any.
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
			n.put(b, w.PodID)
			n.order, again = append(n.order, w.PodID), true
			return true
		})
	}
	return n
}

// outlasts says whether the topology spreads of a class would still allow a pod on a bin if a new
// node were launched: the new node would be an empty domain over the hostname, and what will be
// launched is not known yet.
func (n *nomination) outlasts(c int, s *ledger.Bin) bool {
	for _, i := range n.ledger.HostsOf(c) {
		if len(n.p.LowOptions) > 0 && n.ledger.HostRelies(i, c, s, false) {
			return false
		}
	}
	return !slices.ContainsFunc(n.p.Rules.ByClass[c].Owns, func(r int) bool { return n.ledger.DomainRelies(r, c, s, false) && n.mayOpen(r) })
}

// mayOpen says whether a new node may be in a domain that a topology spread does not count yet.
func (n *nomination) mayOpen(r int) bool {
	rule := &n.p.Rules.Domain[r]
	for d := range rule.Counted {
		if !n.ledger.Covers(r, d) && n.p.LookedAt(rule, false).Overlaps(n.p.InPlace(rule.Key, d)) {
			return true
		}
	}
	return n.p.LookedAt(rule, false).Overlaps(n.p.Finder.Beyond[rule.Key])
}
