package provisioning

import (
	"context"
	"maps"
)

// mostReassignments bounds how often claims that are for one pod only are given to the
// next pod.
const mostReassignments = 8

// reassignClaims solves the problem again where a pod that stays pending holds a claim
// which another pod could have: a claim that is for one pod only must not keep
// the other from its place. Whoever passes a claim on keeps the reason why it has
// no place itself. The plan with more pods in it is the better one.
func (p *Problem) reassignClaims(ctx context.Context, plan *Plan) (*Plan, error) {
	own := map[string]*Reason{}
	now, last := p, plan
	for range mostReassignments {
		pending := map[string]*Reason{}
		for _, u := range last.Unplaced {
			pending[podName(u.Pod)] = u.Reason
		}
		passed := maps.Clone(now.passed)
		if passed == nil {
			passed = map[string]bool{}
		}
		for _, h := range now.extras.claims.holders {
			if reason := pending[h.pod]; h.rival && reason != nil {
				passed[h.pod], own[h.pod] = true, reason
			}
		}
		if len(passed) == len(now.passed) {
			return plan, nil
		}
		next, err := prepare(p.in, p.opts, p, passed)
		if err != nil {
			return plan, nil // not so: the input has been accepted before
		}
		if last, err = next.solve(ctx); err != nil {
			return nil, err
		}
		now = next
		if len(last.Unplaced) < len(plan.Unplaced) {
			plan = last
			for i := range plan.Unplaced {
				if reason := own[podName(plan.Unplaced[i].Pod)]; reason != nil {
					plan.Unplaced[i].Reason = reason
				}
			}
		}
	}
	return plan, nil
}

// contested says whether a pod holds a claim that another could have instead.
func (p *Problem) contested() bool {
	for _, h := range p.extras.claims.holders {
		if h.rival {
			return true
		}
	}
	return false
}
