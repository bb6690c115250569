package solve

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// A topology spread over the name of the node lets a node have as many pods as the
// emptiest one and maxSkew more. The packer knows a limit and not the emptiest. So
// where pods are left over, as there cannot be nodes enough for the limit, an attempt
// is tried in which a number of nodes get the same number of pods each, as a group
// that the packer sees as one pod, and no more than maxSkew beside it. Whether all
// nodes rise together in the end is checked when the pods are put in order.

// raiseTries is how many numbers of nodes are tried.
const raiseTries = 3

// raises lists the attempts to be tried for pods that a plan leaves over although
// others with the same topology spread over nodes have a place: with as many nodes
// as the plan has, and with fewer, which may be larger.
func raises(p *compile.Problem, s *attempt.Attempt, r *pack.Result, plan *Solution) []attempt.Hints {
	rules := mayRaise(p, plan)
	if len(rules) == 0 {
		return nil
	}
	var out []attempt.Hints
	for shift := range raiseTries {
		raised := make([]int, len(p.Rules.Node))
		some := false
		for _, n := range rules {
			nodes := nodesToRaise(p, n, r)
			if s.Origin != nil && nodes > 0 {
				nodes = max(nodes, nodesToRaise(p, n, s.Origin))
			}
			if nodes>>shift > 0 && (shift == 0 || nodes>>(shift-1) > 1) {
				raised[n], some = (nodes+1<<shift-1)>>shift, true
			}
		}
		if some {
			o := s.Again()
			o.Relaxed, o.IncidentalDomains, o.Raised = s.Relaxed, s.IncidentalDomains, raised
			out = append(out, o)
		}
	}
	return out
}

// mayRaise lists the rules that stand for topology spread over nodes of which some
// owners have a place in a plan, and some have none or were let in one by one.
func mayRaise(p *compile.Problem, plan *Solution) []int {
	if len(plan.Create) == 0 || len(plan.Unplaced) == 0 && plan.did.Leant == nil {
		return nil
	}
	in := placedIn(p, plan)
	left, placed := make([]int, len(p.Rules.Node)), make([]int, len(p.Rules.Node))
	for c := range p.Classes {
		if !attempt.Raisable(p, c) {
			continue
		}
		for n := range p.Rules.Node {
			if attempt.Owns(p.Rules.Duties[c].All, n) && p.Rules.Node[n].Kind == pack.AtMost {
				placed[n] += in[c]
				left[n] += len(p.Classes[c].Pods) - in[c]
			}
		}
	}
	var out []int
	for n := range left {
		if placed[n] > 0 && (left[n] > 0 || slices.Contains(plan.did.Leant, n)) {
			out = append(out, n)
		}
	}
	return out
}

// nodesToRaise is how many nodes of a packing are to rise together by a rule: its
// new ones, and those that exist and have none of its pods yet. It is 0 where a node
// cannot rise, or there are too few to rise at all.
func nodesToRaise(p *compile.Problem, n int, r *pack.Result) int {
	owners := p.HostSpreads()[n]
	nodes := 0
	for i := range r.New {
		looks := func(o compile.DomainRule) bool { return p.LookedAt(&o, false).Overlaps(r.New[i].Options) }
		if slices.ContainsFunc(owners, looks) {
			nodes += r.New[i].Copies
		}
	}
	for i := range p.Nodes {
		at := &p.Nodes[i]
		looks := func(o compile.DomainRule) bool { return p.LooksAt(&o, at) }
		if !slices.ContainsFunc(owners, looks) || p.MembersOf(owners[0].Term, p.NodeParts[i]) > 0 {
			continue
		}
		if !slices.ContainsFunc(owners, func(o compile.DomainRule) bool { return p.Copies(o.Like, at) > 0 }) {
			return 0 // it stays empty
		}
		nodes++
	}
	for i := range p.Gone {
		g := &p.Gone[i]
		if p.MembersOf(owners[0].Term, g.Parts) == 0 && slices.ContainsFunc(owners, func(o compile.DomainRule) bool { return p.LooksAt(&o, &g.Existing) }) {
			return 0
		}
	}
	if nodes < owners[0].Term.MinDomains {
		return 0
	}
	return nodes
}
