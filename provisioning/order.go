package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// sequence lists pods in the order they can be bound.
type sequence struct {
	a     *assembler
	ranks [][]int32 // by part: the pods that were placed
	done  []bool    // by pod
	out   []int32
}

// order lists the pods that have a place as they can be bound: groups that must
// be the first of their kind; pods to be spread over nodes; those with
// constraints over domains in the order in which these were checked; all
// others; and those that follow others to their node.
func (a *assembler) order() []int32 {
	s := &sequence{a: a, ranks: a.ranks(), done: make([]bool, len(a.p.pods)), out: make([]int32, 0, len(a.p.pods))}
	s.fixed(leading)
	s.bundles(leading)
	events := a.seal.events
	leaders := slices.IndexFunc(events, func(e topology.Event) bool { return a.s.units[e.Class].phase != leading })
	if leaders < 0 {
		leaders = len(events)
	}
	waiting := s.waiting()
	s.events(events[:leaders], waiting)
	s.classes(func(d *duty) bool { return d.phase == bySpreadOverNodes && len(d.spans) == 0 })
	s.events(events[leaders:], waiting)
	s.classes(func(d *duty) bool { return d.phase < following })
	s.bundles(following)
	s.classes(func(*duty) bool { return true })
	return s.out
}

// inOrder lists pods in an order of ranks, those that do not exist last.
func (a *assembler) inOrder(ranks []int32) []*corev1.Pod {
	out := make([]*corev1.Pod, len(ranks))
	for i, rank := range ranks {
		out[i] = a.p.pods[rank]
	}
	if len(a.p.virtual) > 0 {
		slices.SortStableFunc(out, func(x, y *corev1.Pod) int { return compareBools(a.p.virtual[x], a.p.virtual[y]) })
	}
	return out
}

func (s *sequence) add(ranks []int32) {
	for _, rank := range ranks {
		if s.a.placed[rank] && !s.done[rank] {
			s.done[rank] = true
			s.out = append(s.out, rank)
		}
	}
}

func (s *sequence) classes(which func(*duty) bool) {
	for c := range s.a.p.classes {
		if which(&s.a.p.rules.duties[c]) {
			s.add(s.a.p.classes[c].pods)
		}
	}
}

// bundles adds the bundles of a phase that no domain was assigned to.
func (s *sequence) bundles(phase phase) {
	for i, parts := range s.a.s.bundleParts {
		if len(parts) == 0 || s.a.s.bundler.bundles[i].phase != phase || s.a.s.parts[parts[0]].unit >= 0 {
			continue
		}
		for _, part := range parts {
			s.add(s.ranks[part])
		}
	}
}

// fixed adds the pods of a phase that can only go to one node, and that no
// domain was assigned to.
func (s *sequence) fixed(phase phase) {
	for i, part := range s.a.s.fixedParts {
		if part >= 0 && s.a.s.parts[part].unit < 0 && s.a.p.rules.duties[s.a.s.bundler.fixed[i].class].phase == phase {
			s.add(s.ranks[part])
		}
	}
}

// unitCell is a cell of a unit.
type unitCell struct{ unit, cell int }

// waiting lists the pods that domains were assigned to by place.
func (s *sequence) waiting() map[unitCell][]int32 {
	out := map[unitCell][]int32{}
	for i := range s.ranks {
		if part := &s.a.s.parts[i]; part.unit >= 0 {
			id := unitCell{part.unit, part.cell}
			out[id] = append(out[id], s.ranks[i]...)
		}
	}
	return out
}

// events adds the pods that domains were assigned to, in that order.
func (s *sequence) events(events []topology.Event, waiting map[unitCell][]int32) {
	for _, e := range events {
		id, n := unitCell{e.Class, e.Cell}, e.Count
		if s.a.s.units[e.Class].bundle >= 0 {
			n = len(waiting[id])
		}
		s.add(waiting[id][:n])
		waiting[id] = waiting[id][n:]
	}
}

// ranks lists, by part, the pods that were placed.
func (a *assembler) ranks() [][]int32 {
	out := make([][]int32, len(a.s.parts))
	next := make([]int, len(a.p.classes))
	for i := range a.s.parts {
		part := &a.s.parts[i]
		for _, rank := range a.p.classes[part.class].pods[next[part.class] : next[part.class]+part.count] {
			if a.placed[rank] {
				out[i] = append(out[i], rank)
			}
		}
		next[part.class] += part.count
	}
	return out
}
