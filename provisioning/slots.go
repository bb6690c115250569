package provisioning

import (
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// slot is a rule over nodes put as a resource: each node has so many slots, and
// each pod that the rule is about takes one. That says all there is to say
// where every pod that the rule counts has the rule itself, as for the replicas
// of one workload. The packer can price a slot, so that it knows that a
// workload of one pod a node needs as many nodes as it has pods.
type slot struct {
	rules []int // rules over nodes that it stands for
	count int   // of each node
	takes []bool
}

const (
	// slotShare is the share of all pods from which on a rule is worth a slot:
	// every resource makes packing slower.
	slotShare = 0.05
	// leastSeated is the least number of nodes that such a rule asks for.
	leastSeated = 32
	// tangled is the number of classes from which on rules that concern each
	// other are told apart no more, if nodes enough are needed anyhow.
	tangled = 256
)

// addSlots turns rules into slots, those that ask for most nodes first.
func (r *rules) addSlots(p *Problem) {
	left := p.skips(slots)
	total := 0
	for c := range p.classes {
		total += len(p.classes[c].pods)
	}
	taken := make([]bool, len(r.node))
	nodes := 0.0 // that the slots so far ask for
	for n := range r.node {
		s, pods := r.plainSlot(p, n)
		if left || s == nil || pods < leastSeated*s.count || float64(pods) < slotShare*float64(total) || len(r.slots) == mostSlots {
			continue
		}
		taken[n] = true
		r.slots = append(r.slots, *s)
		nodes = max(nodes, float64(pods)/float64(s.count))
	}
	for _, group := range r.tangles(taken) {
		s, pods, classes := r.commonSlot(p, group)
		if left || classes < tangled || s.count == 0 || float64(pods)/float64(s.count) > nodes || len(r.slots) == mostSlots {
			continue
		}
		for _, n := range group {
			taken[n] = true
		}
		r.slots = append(r.slots, *s)
	}
	for c := range r.duties {
		d := &r.duties[c]
		d.all = d.parts
		kept := d.parts[:0:0]
		for _, part := range d.parts {
			if !taken[part.Rule] {
				kept = append(kept, part)
			}
		}
		d.parts = kept
	}
}

// mostSlots bounds the resources that are added.
const mostSlots = 4

// plainSlot returns a rule as a slot, and the pods that take one, if all who
// take part in it take part alike.
func (r *rules) plainSlot(p *Problem, n int) (*slot, int) {
	s := &slot{rules: []int{n}, count: 1, takes: make([]bool, len(p.classes))}
	if r.node[n].Kind == pack.AtMost {
		s.count = r.node[n].Limit
	}
	pods := 0
	for c := range r.duties {
		for _, part := range r.duties[c].parts {
			if part.Rule != n {
				continue
			}
			if part.Owners != 1 || part.Members != 1 || part.Both != 1 {
				return nil, 0
			}
			s.takes[c] = true
			pods += len(p.classes[c].pods)
		}
	}
	return s, pods
}

// tangles groups the rules that are not taken and concern some class together.
func (r *rules) tangles(taken []bool) [][]int {
	group := make([]int, len(r.node))
	for n := range group {
		group[n] = n
	}
	root := func(n int) int {
		for group[n] != n {
			n = group[n]
		}
		return n
	}
	for c := range r.duties {
		first := -1
		for _, part := range r.duties[c].parts {
			switch {
			case taken[part.Rule]:
			case first < 0:
				first = root(part.Rule)
			default:
				group[root(part.Rule)] = first
			}
		}
	}
	var out [][]int
	at := map[int]int{}
	for n := range r.node {
		if taken[n] {
			continue
		}
		g := root(n)
		if _, ok := at[g]; !ok {
			at[g] = len(out)
			out = append(out, nil)
		}
		out[at[g]] = append(out[at[g]], n)
	}
	return out
}

// commonSlot is one slot for all who take part in any rule of a group. It is
// stricter than the rules are.
func (r *rules) commonSlot(p *Problem, group []int) (s *slot, pods, classes int) {
	s = &slot{rules: group, takes: make([]bool, len(p.classes))}
	in := map[int]bool{}
	for i, n := range group {
		in[n] = true
		count := 1
		if r.node[n].Kind == pack.AtMost {
			count = r.node[n].Limit
		}
		if i == 0 || count < s.count {
			s.count = count
		}
	}
	for c := range r.duties {
		for _, part := range r.duties[c].parts {
			if in[part.Rule] && !s.takes[c] {
				s.takes[c] = true
				pods += len(p.classes[c].pods)
				classes++
			}
		}
	}
	return s, pods, classes
}

// slotsOn says how many slots of each kind an existing node has left, given
// what its pods count for.
func (r *rules) slotsOn(parts []pack.Membership) []int64 {
	out := make([]int64, len(r.slots))
	for i := range r.slots {
		s := &r.slots[i]
		left := s.count
		for _, n := range s.rules {
			for _, part := range parts {
				switch {
				case part.Rule != n:
				case r.node[n].Kind == pack.AtMost:
					left = min(left, s.count-part.Members)
				default:
					left = 0
				}
			}
		}
		out[i] = int64(max(left, 0))
	}
	return out
}
