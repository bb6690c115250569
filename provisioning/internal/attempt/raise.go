package attempt

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// Raisable says whether several pods of a class may be on one node as far as other
// pods on it go.
func Raisable(p *compile.Problem, c int) bool {
	if p.Classes[c].Refusal != nil || p.Classes[c].Headroom || len(p.Rules.Duties[c].With) > 0 || p.Classes[c].HasVolumes {
		return false
	}
	for _, part := range p.Rules.Duties[c].All {
		if p.Rules.Node[part.Rule].Kind == pack.Apart && part.Owners > 0 && part.Members > 0 {
			return false
		}
	}
	for i := range p.Rules.Slots {
		if s := &p.Rules.Slots[i]; s.Takes[c] && len(s.Rules) > 1 {
			return false
		}
	}
	return len(p.Classes[c].HostSpreads()) > 0
}

// grouped takes pods out of parts, in groups of as many as each of the nodes that
// are to rise must have for all to find room.
func (s *Attempt) grouped(p *compile.Problem, parts []part) []part {
	if s.Raised == nil {
		return parts
	}
	for n, nodes := range s.Raised {
		if nodes == 0 {
			continue
		}
		var of []int
		for i := range parts {
			if parts[i].each == 0 && Raisable(p, parts[i].Class) && Owns(p.Rules.Duties[parts[i].Class].All, n) {
				of = append(of, i)
			}
		}
		skew := p.Rules.Node[n].Term.Skew
		for _, i := range of {
			parts[i].rises = true
		}
		each := level(p, parts, of, skew, nodes)
		if each == 0 {
			continue
		}
		for at, groups := range groupsOf(parts, of, each, skew, nodes) {
			if groups == 0 {
				continue
			}
			i := of[at]
			group := parts[i]
			group.Count, group.each, group.rule = groups*each, each, n
			parts[i].Count -= group.Count
			parts = append(parts, group)
		}
	}
	parts = slices.DeleteFunc(parts, func(x part) bool { return x.Count == 0 })
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.Class, b.Class) })
	return parts
}

// groupsOf is how many groups some parts are to have: as many as they need, and then
// more, as far as there are nodes that would be without one.
func groupsOf(parts []part, of []int, each, skew, nodes int) []int {
	out := make([]int, len(of))
	for at, i := range of {
		out[at] = min((parts[i].Count+each+skew-1)/(each+skew), parts[i].Count/each)
		nodes -= out[at]
	}
	for more := true; more && nodes > 0; {
		more = false
		for at, i := range of {
			if nodes > 0 && parts[i].Count >= (out[at]+1)*each {
				out[at]++
				nodes--
				more = true
			}
		}
	}
	return out
}

// Owns says whether parts make a pod the owner of a rule.
func Owns(parts []pack.Membership, rule int) bool {
	return slices.ContainsFunc(parts, func(x pack.Membership) bool { return x.Rule == rule && x.Owners > 0 })
}

// level is how many pods of some parts each of a number of nodes must have for all
// to find room, with no more than skew beside them, or as many as fit one node; 0
// if none must.
func level(p *compile.Problem, parts []part, of []int, skew, nodes int) int {
	needed := func(level int) int {
		sum := 0
		for _, i := range of {
			sum += (parts[i].Count + level + skew - 1) / (level + skew)
		}
		return sum
	}
	if len(of) == 0 || len(of) > nodes || needed(0) <= nodes {
		return 0
	}
	most := math.MaxInt
	for _, i := range of {
		most = min(most, mostOnNode(p, parts[i].Class))
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
func mostOnNode(p *compile.Problem, c int) int {
	most := 0
	room := func(capacity []int64) {
		n := int64(len(p.Classes[c].Pods))
		for r, want := range p.OfResources(p.Requests[c]) {
			if want > 0 {
				n = min(n, capacity[r]/want)
			}
		}
		most = max(most, int(n))
	}
	for o := range p.Admission.Lowered(c).All() {
		room(p.LowOptions[o].Capacity)
	}
	for i := range p.Nodes {
		if p.Copies(c, &p.Nodes[i]) > 0 {
			room(p.Nodes[i].Free)
		}
	}
	return most
}

// groupClass makes a class of single pods one of groups, of which a node takes one.
// What they count for in the rule by which they rise is on every node.
func (s *Attempt) groupClass(p *compile.Problem, part *part, class *pack.Class, exclusive int) {
	request := make([]int64, len(class.Request))
	for r, n := range class.Request {
		if n > math.MaxInt64/int64(part.each) {
			n = math.MaxInt64 / int64(part.each)
		}
		request[r] = n * int64(part.each)
	}
	for i := range p.Rules.Slots {
		if slices.Contains(p.Rules.Slots[i].Rules, part.rule) {
			request[len(p.Resources)+i] = 0
		}
	}
	class.Request, class.Count = request, part.Count/part.each
	class.Urgency *= priorityWeightStep
	fitting := p.Admission.Fits(request)
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
