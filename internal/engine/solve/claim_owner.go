package solve

import (
	"context"
	"maps"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// mostReassignments bounds how often claims that are for one pod only are given to the
// next pod.
const mostReassignments = 8

// reassignClaims solves the problem again where a pod that stays pending holds a claim
// which another pod could have: a claim that is for one pod only must not keep
// the other from its place. Whoever passes a claim on keeps the reason why it has
// no place itself. Of two plans the one that leaves fewer over is taken, those of the highest
// priority deciding.
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
			return plan, nil // not so: the input has been accepted before
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

// contested says whether a pod holds a claim that another could have instead.
func contested(p *compile.Problem) bool {
	for _, h := range p.Extras.Claims.Holders {
		if h.Rival {
			return true
		}
	}
	return false
}
