package solve

import (
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// solvePriorityFirst packs again with pods of higher priority first, if some found no
// place and others of lower priority did. It returns the better of both.
func solvePriorityFirst(ctx context.Context, p *compile.Problem, s *attempt.Attempt, r *pack.Result) (*attempt.Attempt, *pack.Result, error) {
	before := leftByLevel(p, s, r)
	if before == nil || p.Skips(model.PriorityFirst) {
		return s, r, nil
	}
	o := s.Hints
	o.PriorityFirst, o.Rooms = true, nil
	next := attempt.New(p, o)
	again, err := packAttempt(ctx, next, p)
	if err != nil {
		return nil, nil, err
	}
	if after := leftByLevel(p, next, again); after == nil || slices.Compare(after, before) < 0 {
		return next, again, nil
	}
	return s, r, nil
}

// leftByLevel counts the pods without room by priority, highest first; nil if
// none is left or there is but one priority.
func leftByLevel(p *compile.Problem, s *attempt.Attempt, r *pack.Result) []int {
	levels := attempt.Levels(p)
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
		// The last parts of an item come away empty.
		for _, i := range slices.Backward(s.Items[l].Parts) {
			part := &s.Parts[i]
			short := n
			if s.Items[l].Units == nil {
				short = min(n, part.Count)
			}
			out[at[p.Classes[part.Class].Priority]] += short
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
