package compile

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/disjoint"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// Slot is a rule over nodes expressed as a resource: each node has a number of slots, and each pod
// that the rule concerns takes one. That is exact if every pod that the rule counts has the rule
// itself, as for the replicas of one workload. The packer can price a slot, so it knows that a
// workload of one pod per node needs as many nodes as it has pods.
type Slot struct {
	Rules []int // rules over nodes that it replaces
	count int   // slots of each node
	Takes []bool
}

const (
	// slotShare is the least share of all pods for which a rule becomes a slot, if one node cannot
	// hold them: every resource makes packing slower.
	slotShare = 0.05
	// leastSpread is the least number of nodes that a topology spread must need. A slot limits each
	// node to what an empty one takes, but the counts of nodes may rise together: a few pods are
	// often better placed on one large node.
	leastSpread = 32
	// tangled is the number of classes from which rules that concern each other share one slot, if
	// many nodes are needed anyway.
	tangled = 256
)

// addSlots turns rules into slots, those that need most nodes first.
func (r *Rules) addSlots(p *Problem) {
	left := p.Skips(model.Slots)
	total := 0
	for c := range p.Classes {
		total += len(p.Classes[c].Pods)
	}
	taken := make([]bool, len(r.Node))
	nodes := 0.0 // nodes that the slots so far need
	for n := range r.Node {
		s, pods := r.plainSlot(p, n)
		if left || s == nil || s.count == 0 || float64(pods) < slotShare*float64(total) || len(r.Slots) == mostSlots {
			continue
		}
		if pods <= s.count || r.Node[n].Spread && pods < leastSpread*s.count {
			continue
		}
		taken[n] = true
		r.Slots = append(r.Slots, *s)
		nodes = max(nodes, float64(pods)/float64(s.count))
	}
	for _, group := range r.tangles(taken) {
		s, pods, classes := r.commonSlot(p, group)
		if left || classes < tangled || s.count == 0 || float64(pods)/float64(s.count) > nodes || len(r.Slots) == mostSlots {
			continue
		}
		for _, n := range group {
			taken[n] = true
		}
		r.Slots = append(r.Slots, *s)
	}
	for c := range r.ByClass {
		d := &r.ByClass[c]
		d.All = d.Parts
		kept := d.Parts[:0:0]
		for _, part := range d.Parts {
			if !taken[part.Rule] {
				kept = append(kept, part)
			}
		}
		d.Parts = kept
	}
}

// mostSlots is the largest number of slots.
const mostSlots = 4

// plainSlot returns a rule as a slot and the number of pods that take one, if all pods in the rule
// both have it and are counted by it.
func (r *Rules) plainSlot(p *Problem, n int) (*Slot, int) {
	s := &Slot{Rules: []int{n}, count: 1, Takes: make([]bool, len(p.Classes))}
	if r.Node[n].Kind == pack.AtMost {
		s.count = r.Node[n].Limit
	}
	pods := 0
	for c := range r.ByClass {
		switch part := pack.InRule(r.ByClass[c].Parts, n); part {
		case pack.Membership{Rule: n}:
		case pack.Membership{Rule: n, Owners: 1, Members: 1, Both: 1}:
			s.Takes[c] = true
			pods += len(p.Classes[c].Pods)
		default:
			return nil, 0
		}
	}
	return s, pods
}

// tangles groups the rules without a slot that concern a common class.
func (r *Rules) tangles(taken []bool) [][]int {
	rules := make([][]int, len(r.ByClass))
	for c := range rules {
		for _, part := range r.ByClass[c].Parts {
			if !taken[part.Rule] {
				rules[c] = append(rules[c], part.Rule)
			}
		}
	}
	_, groupOf, count := disjoint.Divide(rules, make([]int, len(r.Node)), false)
	out := make([][]int, count)
	for n, group := range groupOf {
		if group >= 0 {
			out[group] = append(out[group], n)
		}
	}
	return out
}

// commonSlot returns one slot for all pods in any rule of a group. It is stricter than the rules.
func (r *Rules) commonSlot(p *Problem, group []int) (s *Slot, pods, classes int) {
	s = &Slot{Rules: group, Takes: make([]bool, len(p.Classes))}
	in := map[int]bool{}
	for i, n := range group {
		in[n] = true
		count := 1
		if r.Node[n].Kind == pack.AtMost {
			count = r.Node[n].Limit
		}
		if i == 0 || count < s.count {
			s.count = count
		}
	}
	for c := range r.ByClass {
		for _, part := range r.ByClass[c].Parts {
			if in[part.Rule] && !s.Takes[c] {
				s.Takes[c] = true
				pods += len(p.Classes[c].Pods)
				classes++
			}
		}
	}
	return s, pods, classes
}

// setSlots sets the slots that an existing node has left, given the memberships of its pods.
func (r *Rules) setSlots(out []int64, parts []pack.Membership) {
	for i := range r.Slots {
		s := &r.Slots[i]
		left := s.count
		for _, n := range s.Rules {
			switch part := pack.InRule(parts, n); {
			case r.Node[n].Kind == pack.AtMost:
				left = min(left, s.count-part.Members)
			case part.Owners+part.Members > 0:
				left = 0
			}
		}
		out[i] = int64(max(left, 0))
	}
}
