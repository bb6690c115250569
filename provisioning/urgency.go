package provisioning

import (
	"context"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// urgencyStep is how far a priority comes before the next lower one. What the
// packer makes of it goes by the fourth power.
const urgencyStep = 8

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

// urgency is how far pods of a class come before others.
func (s *stage) urgency(p *Problem, c int) float64 {
	if !s.urgent {
		return 1
	}
	at := slices.Index(s.levels[:min(len(s.levels), mostLevels)], p.classes[c].priority)
	if at < 0 {
		return 1
	}
	steps := min(len(s.levels), mostLevels) - 1 - at
	return math.Pow(urgencyStep, float64(steps))
}

// solveUrgent packs again with pods of higher priority first, if some found no
// place and others of lower priority did. It returns the better of both.
func (p *Problem) solveUrgent(ctx context.Context, s *stage, r *pack.Result) (*stage, *pack.Result, error) {
	before := p.leftByLevel(s, r)
	if before == nil {
		return s, r, nil
	}
	o := s.orders
	o.urgent, o.rooms = true, nil
	next := p.newStage(o)
	again, err := next.packer.Solve(ctx, p.opts.MaxSteps)
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
func (p *Problem) leftByLevel(s *stage, r *pack.Result) []int {
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
		n = s.lots[l].pods(n)
		// The last parts of a lot come away empty.
		for _, i := range slices.Backward(s.lots[l].parts) {
			part := &s.parts[i]
			short := n
			if s.lots[l].units == nil {
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
