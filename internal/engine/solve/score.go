package solve

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// score is the quality of a solution. Strategies keep the solution with the better score, and it
// decides the owner of a claim. The preference budget also compares costs, and priority first
// compares packings before they are solutions.
type score struct {
	left []int32 // priorities of the unplaced pods, descending
	cost float64 // of new nodes, fees included, in USD per hour
}

// score returns the score of a solution.
func (s *Solution) score(p *compile.Problem) score {
	out := score{left: make([]int32, len(s.Unplaced)), cost: withFees(p, s)}
	for i := range s.Unplaced {
		out.left[i] = model.PriorityOf(s.Unplaced[i].Pod)
	}
	slices.Sort(out.left)
	slices.Reverse(out.left)
	return out
}

// compareLeft compares the unplaced pods of two scores, the highest priorities first. It is
// negative if s has fewer.
func (s score) compareLeft(t score) int { return slices.Compare(s.left, t.left) }

// betterThan says whether s is better than t: more pods placed, those of higher priority first, or
// as many at a lower cost.
func (s score) betterThan(t score) bool {
	return cmp.Or(s.compareLeft(t), cmp.Compare(s.cost, t.cost)) < 0
}
