package solve

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// sequence builds the list of pods in the order in which they can be bound.
type sequence struct {
	a      *assembler
	podIDs [][]int32 // by part: the pods placed
	done   []bool    // by pod
	out    []int32
}

// order returns the IDs of the placed pods in an order in which they can be bound: groups that must
// be the first of their kind; pods spread over nodes; pods with constraints over domains, in the
// order in which these were checked; all others; and pods that follow others to their node.
func (a *assembler) order() []int32 {
	s := &sequence{a: a, podIDs: a.podIDs(), done: make([]bool, len(a.p.Pods)), out: make([]int32, 0, len(a.p.Pods))}
	s.pinned(compile.Leading)
	s.bundles(compile.Leading)
	events := a.admittedCounts.Events
	leaders := slices.IndexFunc(events, func(e topology.Event) bool { return a.s.Units[e.Class].Phase != compile.Leading })
	if leaders < 0 {
		leaders = len(events)
	}
	waiting := s.waiting()
	s.events(events[:leaders], waiting)
	s.classes(func(d *compile.ClassRules) bool { return d.Phase == compile.BySpreadOverNodes && len(d.Spans) == 0 })
	s.events(events[leaders:], waiting)
	s.classes(func(d *compile.ClassRules) bool { return d.Phase < compile.Following })
	s.bundles(compile.Following)
	s.classes(func(*compile.ClassRules) bool { return true })
	return s.out
}

// inOrder returns pods in the order of the IDs, headroom pods last.
func (a *assembler) inOrder(podIDs []int32) []*corev1.Pod {
	out := make([]*corev1.Pod, len(podIDs))
	for i, podID := range podIDs {
		out[i] = a.p.Pods[podID]
	}
	if len(a.p.Headroom) > 0 {
		slices.SortStableFunc(out, func(x, y *corev1.Pod) int { return order.Bools(a.p.Headroom[x], a.p.Headroom[y]) })
	}
	return out
}

func (s *sequence) add(podIDs []int32) {
	for _, podID := range podIDs {
		if s.a.st.Placed[podID] && !s.done[podID] {
			s.done[podID] = true
			s.out = append(s.out, podID)
		}
	}
}

func (s *sequence) classes(which func(*compile.ClassRules) bool) {
	for c := range s.a.p.Classes {
		if which(&s.a.p.Rules.ByClass[c]) {
			s.add(s.a.p.Classes[c].Pods)
		}
	}
}

// bundles adds the bundles of a phase to which no domain was assigned.
func (s *sequence) bundles(phase compile.Phase) {
	for i, parts := range s.a.s.BundleParts {
		if len(parts) == 0 || s.a.s.Bundler.Bundles[i].Phase != phase || s.a.s.Parts[parts[0]].Unit >= 0 {
			continue
		}
		for _, part := range parts {
			s.add(s.podIDs[part])
		}
	}
}

// pinned adds the pinned pods of a phase to which no domain was assigned.
func (s *sequence) pinned(phase compile.Phase) {
	for i, part := range s.a.s.PinnedParts {
		if part >= 0 && s.a.s.Parts[part].Unit < 0 && s.a.p.Rules.ByClass[s.a.s.Bundler.Pinned[i].Class].Phase == phase {
			s.add(s.podIDs[part])
		}
	}
}

// unitCell is a cell of a unit.
type unitCell struct{ unit, cell int }

// waiting returns, by cell, the pods to which domains were assigned.
func (s *sequence) waiting() map[unitCell][]int32 {
	out := map[unitCell][]int32{}
	for i := range s.podIDs {
		if part := &s.a.s.Parts[i]; part.Unit >= 0 {
			id := unitCell{part.Unit, part.Cell}
			out[id] = append(out[id], s.podIDs[i]...)
		}
	}
	return out
}

// events adds the pods to which domains were assigned, in the order of assignment.
func (s *sequence) events(events []topology.Event, waiting map[unitCell][]int32) {
	for _, e := range events {
		id, n := unitCell{e.Class, e.Cell}, e.Count
		if s.a.s.Units[e.Class].Bundle >= 0 {
			n = len(waiting[id])
		}
		n = min(n, len(waiting[id])) // pods that were assigned may not have been packed
		s.add(waiting[id][:n])
		waiting[id] = waiting[id][n:]
	}
}

// podIDs returns, by part, the pods placed.
func (a *assembler) podIDs() [][]int32 {
	out := a.share()
	for i, podIDs := range out {
		out[i] = slices.DeleteFunc(slices.Clone(podIDs), func(podID int32) bool { return !a.st.Placed[podID] })
	}
	return out
}
