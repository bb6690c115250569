package provisioning

import (
	"context"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// priorityWeightStep is how far a priority comes before the next lower one. What the
// packer makes of it goes by the fourth power.
const priorityWeightStep = 8

// mostLevels bounds how many priorities are told apart; lower ones count as
// one.
const mostLevels = 12

// levels lists the priorities of pods that can be placed, highest first.
func (p *Problem) levels() []int32 {
	var out []int32
	for c := range p.classes {
		if p.classes[c].refusal == nil {
			out = append(out, p.classes[c].priority)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return slices.Compact(out)
}

// priorityWeight is how far pods of a class come before others.
func (s *attempt) priorityWeight(p *Problem, c int) float64 {
	if !s.priorityFirst {
		return 1
	}
	at := slices.Index(s.levels[:min(len(s.levels), mostLevels)], p.classes[c].priority)
	if at < 0 {
		return 1
	}
	steps := min(len(s.levels), mostLevels) - 1 - at
	return math.Pow(priorityWeightStep, float64(steps))
}

// solvePriorityFirst packs again with pods of higher priority first, if some found no
// place and others of lower priority did. It returns the better of both.
func (p *Problem) solvePriorityFirst(ctx context.Context, s *attempt, r *pack.Result) (*attempt, *pack.Result, error) {
	before := p.leftByLevel(s, r)
	if before == nil || p.skips(priorityFirst) {
		return s, r, nil
	}
	o := s.hints
	o.priorityFirst, o.rooms = true, nil
	next := p.newAttempt(o)
	again, err := next.pack(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if after := p.leftByLevel(next, again); after == nil || slices.Compare(after, before) < 0 {
		return next, again, nil
	}
	return s, r, nil
}

// leftByLevel counts the pods without room by priority, highest first; nil if
// none is left or there is but one priority.
func (p *Problem) leftByLevel(s *attempt, r *pack.Result) []int {
	levels := p.levels()
	if len(levels) < 2 {
		return nil
	}
	at := map[int32]int{}
	for i, priority := range levels {
		at[priority] = i
	}
	out := make([]int, len(levels))
	some := false
	for l, n := range r.Left {
		some = some || n > 0
		n = s.items[l].pods(n)
		// The last parts of an item come away empty.
		for _, i := range slices.Backward(s.items[l].parts) {
			part := &s.parts[i]
			short := n
			if s.items[l].units == nil {
				short = min(n, part.count)
			}
			out[at[p.classes[part.class].priority]] += short
			if n -= short; n == 0 {
				break
			}
		}
	}
	if !some {
		return nil
	}
	return out
}
