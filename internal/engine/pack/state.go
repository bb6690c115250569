package pack

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// state is the part of a solver that a greedy run changes.
type state struct {
	left         []int
	limits       [][]int64
	reservations []int
}

func (s *solver) save() state {
	return state{slices.Clone(s.left), cloneLimits(s.limits), slices.Clone(s.reservations)}
}

// restore returns to a saved state. The saved state does not change and can be used again.
func (s *solver) restore(to state) {
	copy(s.left, to.left)
	s.limits = cloneLimits(to.limits)
	copy(s.reservations, to.reservations)
}

func cloneLimits(limits [][]int64) [][]int64 {
	out := make([][]int64, len(limits))
	for i := range limits {
		out[i] = slices.Clone(limits[i])
	}
	return out
}

// anyLeft says whether any pod has no place yet.
func (s *solver) anyLeft() bool {
	return slices.ContainsFunc(s.left, func(n int) bool { return n > 0 })
}

// complete says whether no pod is left that the tier could serve.
func (s *solver) complete(t *tier) bool {
	for class, n := range s.left {
		if n > 0 && t.groupOf[class] >= 0 {
			return false
		}
	}
	return true
}

// remaining returns the set of classes with pods left.
func (s *solver) remaining() bitset.Set {
	out := bitset.New(len(s.p.Classes))
	for c, n := range s.left {
		if n > 0 {
			out.Add(c)
		}
	}
	return out
}

func (s *solver) remove(shares []Share, copies int) {
	for _, sh := range shares {
		s.left[sh.Class] -= sh.Count * copies
	}
}

// copies returns how often shares can be taken from the pods left.
func (s *solver) copies(shares []Share) int {
	if len(shares) == 0 {
		return 0
	}
	n := -1
	for i := 0; i < len(shares); {
		c, sum := shares[i].Class, 0
		for ; i < len(shares) && shares[i].Class == c; i++ {
			sum += shares[i].Count
		}
		if m := s.left[c] / sum; n < 0 || m < n {
			n = m
		}
	}
	return n
}

// Work is the name under which a run reports progress, and reportStep the number of patterns
// between two reports.
const (
	Work       = "provisioning.Solve"
	reportStep = 1000
)

// step counts a pattern.
func (s *solver) step() {
	s.steps++
	if s.report != nil && s.steps%reportStep == 0 {
		s.report(progress.Event{Work: Work, Stage: "packing", Done: s.steps, Total: s.maxSteps, Unit: "steps"})
	}
}
