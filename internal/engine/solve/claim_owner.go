package solve

import (
	"context"
	"maps"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// mostReassignments is how often exclusive claims are given to the next pod.
const mostReassignments = 8

// reassignClaims solves the problem again if an unplaced pod has a claim for one pod only
// (ReadWriteOncePod) that another pod could use. A pod that gives up a claim keeps the reason why
// it was unplaced before. Of two solutions it returns the one with fewer unplaced pods, compared by
// the highest priority first.
func reassignClaims(ctx context.Context, p *compile.Problem, plan *Solution) (*Solution, error) {
	own := map[string]*model.Reason{}
	now, last := p, plan
	for range mostReassignments {
		pending := map[string]*model.Reason{}
		for _, u := range last.Unplaced {
			pending[workload.PodName(u.Pod)] = u.Reason
		}
		passed := maps.Clone(now.Passed)
		if passed == nil {
			passed = map[string]bool{}
		}
		for _, h := range now.Extras.Claims.Holders {
			if reason := pending[h.Pod]; h.Rival && reason != nil {
				passed[h.Pod], own[h.Pod] = true, reason
			}
		}
		if len(passed) == len(now.Passed) {
			return plan, nil
		}
		var f model.Faults
		next := compile.NewProblem(p.In, p.Spare, p.Opts, p, passed, &f)
		if next == nil {
			return plan, nil // not reached: the input was valid before
		}
		var err error
		if last, err = New(next).solve(ctx); err != nil {
			return nil, err
		}
		now = next
		if last.score(p).compareLeft(plan.score(p)) < 0 {
			plan = last
			for i := range plan.Unplaced {
				if reason := own[workload.PodName(plan.Unplaced[i].Pod)]; reason != nil {
					plan.Unplaced[i].Reason = reason
				}
			}
		}
	}
	return plan, nil
}

// contested says whether some claim for one pod only could be used by several pods.
func contested(p *compile.Problem) bool {
	for _, h := range p.Extras.Claims.Holders {
		if h.Rival {
			return true
		}
	}
	return false
}
