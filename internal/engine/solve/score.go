package solve

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// score is how good a solution is. Strategies keep the one with the better score, and the
// owner of a claim is chosen by it; the preference budget looks at costs beside it, and
// priority first compares packings before they are solutions.
type score struct {
	left []int32 // priorities of the pods without a place, highest first
	cost float64 // of new nodes, with fees
}

// score is that of a solution.
func (s *Solution) score(p *compile.Problem) score {
	out := score{left: make([]int32, len(s.Unplaced)), cost: withFees(p, s)}
	for i := range s.Unplaced {
		out.left[i] = model.PriorityOf(s.Unplaced[i].Pod)
	}
	slices.Sort(out.left)
	slices.Reverse(out.left)
	return out
}

// compareLeft says which of two leaves fewer pods over, those of the highest priority
// deciding; below zero, if s does.
func (s score) compareLeft(t score) int { return slices.Compare(s.left, t.left) }

// betterThan says whether a later solution is to be taken instead of one that is there:
// if it places more pods, those of higher priority first, or as many for less.
func (s score) betterThan(t score) bool {
	return cmp.Or(s.compareLeft(t), cmp.Compare(s.cost, t.cost)) < 0
}
