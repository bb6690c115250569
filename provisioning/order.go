package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// sequence lists pods in the order they can be bound.
type sequence struct {
	a      *assembler
	podIDs [][]int32 // by part: the pods that were placed
	done   []bool    // by pod
	out    []int32
}

// order lists the pods that have a place as they can be bound: groups that must
// be the first of their kind; pods to be spread over nodes; those with
// constraints over domains in the order in which these were checked; all
// others; and those that follow others to their node.
func (a *assembler) order() []int32 {
	s := &sequence{a: a, podIDs: a.podIDs(), done: make([]bool, len(a.p.pods)), out: make([]int32, 0, len(a.p.pods))}
	s.pinned(leading)
	s.bundles(leading)
	events := a.admittedCounts.events
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

// inOrder lists pods in an order of pod IDs, those that do not exist last.
func (a *assembler) inOrder(podIDs []int32) []*corev1.Pod {
	out := make([]*corev1.Pod, len(podIDs))
	for i, podID := range podIDs {
		out[i] = a.p.pods[podID]
	}
	if len(a.p.headroom) > 0 {
		slices.SortStableFunc(out, func(x, y *corev1.Pod) int { return compareBools(a.p.headroom[x], a.p.headroom[y]) })
	}
	return out
}

func (s *sequence) add(podIDs []int32) {
	for _, podID := range podIDs {
		if s.a.placed[podID] && !s.done[podID] {
			s.done[podID] = true
			s.out = append(s.out, podID)
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
			s.add(s.podIDs[part])
		}
	}
}

// pinned adds the pods of a phase that can only go to one node, and that no
// domain was assigned to.
func (s *sequence) pinned(phase phase) {
	for i, part := range s.a.s.pinnedParts {
		if part >= 0 && s.a.s.parts[part].unit < 0 && s.a.p.rules.duties[s.a.s.bundler.pinned[i].class].phase == phase {
			s.add(s.podIDs[part])
		}
	}
}

// unitCell is a cell of a unit.
type unitCell struct{ unit, cell int }

// waiting lists the pods that domains were assigned to by place.
func (s *sequence) waiting() map[unitCell][]int32 {
	out := map[unitCell][]int32{}
	for i := range s.podIDs {
		if part := &s.a.s.parts[i]; part.unit >= 0 {
			id := unitCell{part.unit, part.cell}
			out[id] = append(out[id], s.podIDs[i]...)
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
		n = min(n, len(waiting[id])) // what is assigned may not have been packed
		s.add(waiting[id][:n])
		waiting[id] = waiting[id][n:]
	}
}

// podIDs lists, by part, the pods that were placed.
func (a *assembler) podIDs() [][]int32 {
	out := make([][]int32, len(a.s.parts))
	next := make([]int, len(a.p.classes))
	for i := range a.s.parts {
		part := &a.s.parts[i]
		for _, podID := range a.p.classes[part.class].pods[next[part.class] : next[part.class]+part.count] {
			if a.placed[podID] {
				out[i] = append(out[i], podID)
			}
		}
		next[part.class] += part.count
	}
	return out
}
