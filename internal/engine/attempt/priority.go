package attempt

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
)

// priorityWeightStep is how far a priority comes before the next lower one. What the
// packer makes of it goes by the fourth power.
const priorityWeightStep = 8

// MostLevels bounds how many priorities are told apart; lower ones count as
// one.
const MostLevels = 12

// Levels lists the priorities of pods that can be placed, highest first.
func Levels(p *compile.Problem) []int32 {
	var out []int32
	for c := range p.Classes {
		if p.Classes[c].Refusal == nil {
			out = append(out, p.Classes[c].Priority)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return slices.Compact(out)
}

// priorityWeight is how far pods of a class come before others.
func (s *Attempt) priorityWeight(p *compile.Problem, c int) float64 {
	if !s.PriorityFirst {
		return 1
	}
	at := slices.Index(s.levels[:min(len(s.levels), MostLevels)], p.Classes[c].Priority)
	if at < 0 {
		return 1
	}
	steps := min(len(s.levels), MostLevels) - 1 - at
	return math.Pow(priorityWeightStep, float64(steps))
}
