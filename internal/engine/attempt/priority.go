package attempt

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
)

// priorityWeightStep is the factor between the weight of a priority and that of the next lower one.
// The packer uses the fourth power of the weight.
const priorityWeightStep = 8

// MostLevels is how many priorities are distinguished; all lower ones count as one.
const MostLevels = 12

// Levels lists the distinct priorities of pods that can be placed, descending.
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

// priorityWeight returns the packing weight of a class: 1 for all classes unless pods of higher
// priority are packed first.
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
