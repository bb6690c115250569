package provisioning

import (
	"cmp"
	"context"
	"math"
	"slices"

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

// raise returns a plan, or a better one in which the pods of some topology spread
// over nodes are on several nodes alike: where pods of it are left over, or were let
// in one by one as no node was empty.
func (p *Problem) raise(ctx context.Context, s *attempt, r *pack.Result, plan *Plan) (*Plan, error) {
	for i, o := range p.raises(s, r, plan) {
		if i > 0 && len(plan.Unplaced) == 0 || p.skips(evenNodes) {
			break
		}
		var err error
		if plan, err = p.better(ctx, plan, p.newAttempt(o)); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// raises lists the attempts to be tried for pods that a plan leaves over although
// others with the same topology spread over nodes have a place: with as many nodes
// as the plan has, and with fewer, which may be larger.
func (p *Problem) raises(s *attempt, r *pack.Result, plan *Plan) []hints {
	rules := p.mayRaise(plan)
	if len(rules) == 0 {
		return nil
	}
	var out []hints
	for shift := range raiseTries {
		raised := make([]int, len(p.rules.node))
		some := false
		for _, n := range rules {
			nodes := p.nodesToRaise(n, r)
			if s.origin != nil && nodes > 0 {
				nodes = max(nodes, p.nodesToRaise(n, s.origin))
			}
			if nodes>>shift > 0 && (shift == 0 || nodes>>(shift-1) > 1) {
				raised[n], some = (nodes+1<<shift-1)>>shift, true
			}
		}
		if some {
			o := s.again()
			o.relaxed, o.incidentalDomains, o.raised = s.relaxed, s.incidentalDomains, raised
			out = append(out, o)
		}
	}
	return out
}

// mayRaise lists the rules that stand for topology spread over nodes of which some
// owners have a place in a plan, and some have none or were let in one by one.
func (p *Problem) mayRaise(plan *Plan) []int {
	if len(plan.Create) == 0 || len(plan.Unplaced) == 0 && plan.leant == nil {
		return nil
	}
	in := p.placedIn(plan)
	left, placed := make([]int, len(p.rules.node)), make([]int, len(p.rules.node))
	for c := range p.classes {
		if !p.raisable(c) {
			continue
		}
		for n := range p.rules.node {
			if owns(p.rules.duties[c].all, n) && p.rules.node[n].Kind == pack.AtMost {
				placed[n] += in[c]
				left[n] += len(p.classes[c].pods) - in[c]
			}
		}
	}
	var out []int
	for n := range left {
		if placed[n] > 0 && (left[n] > 0 || slices.Contains(plan.leant, n)) {
			out = append(out, n)
		}
	}
	return out
}

// raisable says whether several pods of a class may be on one node as far as other
// pods on it go.
func (p *Problem) raisable(c int) bool {
	if p.classes[c].refusal != nil || p.classes[c].headroom || len(p.rules.duties[c].with) > 0 || p.classes[c].hasVolumes {
		return false
	}
	for _, part := range p.rules.duties[c].all {
		if p.rules.node[part.Rule].Kind == pack.Apart && part.Owners > 0 && part.Members > 0 {
			return false
		}
	}
	for i := range p.rules.slots {
		if s := &p.rules.slots[i]; s.takes[c] && len(s.rules) > 1 {
			return false
		}
	}
	return len(p.classes[c].hostSpreads()) > 0
}

// nodesToRaise is how many nodes of a packing are to rise together by a rule: its
// new ones, and those that exist and have none of its pods yet. It is 0 where a node
// cannot rise, or there are too few to rise at all.
func (p *Problem) nodesToRaise(n int, r *pack.Result) int {
	owners := p.hostSpreads()[n]
	nodes := 0
	for i := range r.New {
		looks := func(o domainRule) bool { return p.lookedAt(&o, false).Overlaps(r.New[i].Options) }
		if slices.ContainsFunc(owners, looks) {
			nodes += r.New[i].Copies
		}
	}
	for i := range p.nodes {
		at := &p.nodes[i]
		looks := func(o domainRule) bool { return p.looksAt(&o, at) }
		if !slices.ContainsFunc(owners, looks) || p.membersOf(owners[0].term, p.nodeParts[i]) > 0 {
			continue
		}
		if !slices.ContainsFunc(owners, func(o domainRule) bool { return p.copies(o.like, at) > 0 }) {
			return 0 // it stays empty
		}
		nodes++
	}
	for i := range p.gone {
		g := &p.gone[i]
		if p.membersOf(owners[0].term, g.parts) == 0 && slices.ContainsFunc(owners, func(o domainRule) bool { return p.looksAt(&o, &g.existing) }) {
			return 0
		}
	}
	if nodes < owners[0].term.minDomains {
		return 0
	}
	return nodes
}

// grouped takes pods out of parts, in groups of as many as each of the nodes that
// are to rise must have for all to find room.
func (s *attempt) grouped(p *Problem, parts []part) []part {
	if s.raised == nil {
		return parts
	}
	for n, nodes := range s.raised {
		if nodes == 0 {
			continue
		}
		var of []int
		for i := range parts {
			if parts[i].each == 0 && p.raisable(parts[i].class) && owns(p.rules.duties[parts[i].class].all, n) {
				of = append(of, i)
			}
		}
		skew := p.rules.node[n].term.skew
		for _, i := range of {
			parts[i].rises = true
		}
		each := p.level(parts, of, skew, nodes)
		if each == 0 {
			continue
		}
		for at, groups := range groupsOf(parts, of, each, skew, nodes) {
			if groups == 0 {
				continue
			}
			i := of[at]
			group := parts[i]
			group.count, group.each, group.rule = groups*each, each, n
			parts[i].count -= group.count
			parts = append(parts, group)
		}
	}
	parts = slices.DeleteFunc(parts, func(x part) bool { return x.count == 0 })
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.class, b.class) })
	return parts
}

// groupsOf is how many groups some parts are to have: as many as they need, and then
// more, as far as there are nodes that would be without one.
func groupsOf(parts []part, of []int, each, skew, nodes int) []int {
	out := make([]int, len(of))
	for at, i := range of {
		out[at] = min((parts[i].count+each+skew-1)/(each+skew), parts[i].count/each)
		nodes -= out[at]
	}
	for more := true; more && nodes > 0; {
		more = false
		for at, i := range of {
			if nodes > 0 && parts[i].count >= (out[at]+1)*each {
				out[at]++
				nodes--
				more = true
			}
		}
	}
	return out
}

// owns says whether parts make a pod the owner of a rule.
func owns(parts []pack.Membership, rule int) bool {
	return slices.ContainsFunc(parts, func(x pack.Membership) bool { return x.Rule == rule && x.Owners > 0 })
}

// level is how many pods of some parts each of a number of nodes must have for all
// to find room, with no more than skew beside them, or as many as fit one node; 0
// if none must.
func (p *Problem) level(parts []part, of []int, skew, nodes int) int {
	needed := func(level int) int {
		sum := 0
		for _, i := range of {
			sum += (parts[i].count + level + skew - 1) / (level + skew)
		}
		return sum
	}
	if len(of) == 0 || len(of) > nodes || needed(0) <= nodes {
		return 0
	}
	most := math.MaxInt
	for _, i := range of {
		most = min(most, p.mostOnNode(parts[i].class))
	}
	low, high := 0, most // high may be enough
	for low+1 < high {
		if middle := low + (high-low)/2; needed(middle) <= nodes {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// mostOnNode is how many pods of a class fit a node, at most.
func (p *Problem) mostOnNode(c int) int {
	most := 0
	room := func(capacity []int64) {
		n := int64(len(p.classes[c].pods))
		for r, want := range p.requests[c][:len(p.resources)] {
			if want > 0 {
				n = min(n, capacity[r]/want)
			}
		}
		most = max(most, int(n))
	}
	for o := range p.admission.lowered(c).All() {
		room(p.lowOptions[o].Capacity)
	}
	for i := range p.nodes {
		if p.copies(c, &p.nodes[i]) > 0 {
			room(p.nodes[i].free)
		}
	}
	return most
}

// groupClass makes a class of single pods one of groups, of which a node takes one.
// What they count for in the rule by which they rise is on every node.
func (s *attempt) groupClass(p *Problem, part *part, class *pack.Class, exclusive int) {
	request := make([]int64, len(class.Request))
	for r, n := range class.Request {
		if n > math.MaxInt64/int64(part.each) {
			n = math.MaxInt64 / int64(part.each)
		}
		request[r] = n * int64(part.each)
	}
	for i := range p.rules.slots {
		if slices.Contains(p.rules.slots[i].rules, part.rule) {
			request[len(p.resources)+i] = 0
		}
	}
	class.Request, class.Count = request, part.count/part.each
	class.Urgency *= priorityWeightStep
	fitting := p.admission.fits(request)
	variants := slices.Clone(class.Variants)
	for i := range variants {
		options := variants[i].Options.Clone()
		options.And(fitting)
		variants[i].Options = options
	}
	class.Variants = variants
	var parts []pack.Membership
	for _, x := range class.Memberships {
		if x.Rule != part.rule {
			parts = append(parts, pack.Membership{Rule: x.Rule, Owners: x.Owners * part.each, Members: x.Members * part.each, Both: x.Both * part.each})
		}
	}
	class.Memberships = append(parts, pack.Membership{Rule: exclusive, Owners: 1, Members: 1, Both: 1})
}
