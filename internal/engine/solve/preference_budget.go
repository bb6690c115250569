package solve

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// mostTrials is the largest number of plans made between the one with all preferences and the one
// with none.
const mostTrials = 3

// withinBudget returns the plan, or one with fewer preferences if these make it cost more than
// Options.PreferenceCost allows. By unit prices each preference is worth its cost; but nodes are
// bought whole, and a pod that prefers another node may cost a node of its own.
//
// If the lower bound shows that the plan is cheap enough, as for most plans of many nodes, it is
// returned at once. Otherwise the problem is packed without preferences. For a plan of many nodes a
// coarse packing comes first, and a careful one only if the coarse one is cheaper at all. For a
// plan of few nodes the whole solution is made, because it can cost much less than its packing.
// Only if that is cheap enough to matter are plans made with a part of the preferences: half, and
// then more or fewer.
func withinBudget(ctx context.Context, p *compile.Problem, plan *Solution, s *attempt.Attempt) (*Solution, error) {
	limit := 1 + p.Preferred.Share
	if !mayExceedBudget(p, plan) || p.Skips(model.PreferenceShare) {
		return plan, nil
	}
	if plan.bound(); withFees(p, plan) <= plan.floor*limit {
		return plan, nil
	}
	if dearer, err := dearerThanCoarse(ctx, p, plan, s); err != nil || !dearer {
		return plan, err
	}
	s, result, err := packAndLearn(ctx, p, without(p, s, 0))
	if err != nil {
		return nil, err
	}
	if len(plan.Create) >= manyNodes && !s.ChoseBefore(p) && withFees(p, plan) <= resultWithFees(p, result)*limit*(1+1e-9) {
		return plan, nil // the packing is what is launched
	}
	best := assemble(p, s, result)
	if best.score(p).compareLeft(plan.score(p)) > 0 || withFees(p, plan) <= withFees(p, best)*limit*(1+1e-9) {
		return plan, nil
	}
	limit *= withFees(p, best)
	kept, refused := 0, len(p.Preferred.Classes)
	for range mostTrials {
		trial := (kept + refused) / 2
		if trial == kept {
			break
		}
		s, result, err := packAndLearn(ctx, p, without(p, s, trial))
		if err != nil {
			return nil, err
		}
		other := assemble(p, s, result)
		if other.score(p).compareLeft(best.score(p)) <= 0 && withFees(p, other) <= limit*(1+1e-9) {
			best, kept = other, trial
		} else {
			refused = trial
		}
	}
	return best, nil
}

// coarseShare and manyNodes are the least preference share and the least number of new nodes for
// which a coarse packing is precise enough: in such a plan it costs at most that share more than a
// careful one.
const (
	coarseShare = 0.05
	manyNodes   = 24
)

// dearerThanCoarse says whether a plan may cost more than the problem packed coarsely without
// preferences. If a coarse packing is not precise enough, it returns true without packing.
func dearerThanCoarse(ctx context.Context, p *compile.Problem, plan *Solution, s *attempt.Attempt) (bool, error) {
	if p.Opts.Quick || s.Coarse || p.Preferred.Share < coarseShare || len(plan.Create) < manyNodes {
		return true, nil
	}
	coarse := *s
	coarse.Coarse = true
	_, result, err := packAndLearn(ctx, p, without(p, &coarse, 0))
	return err == nil && withFees(p, plan) > resultWithFees(p, result), err
}

// without returns an attempt that keeps only the preferences of the first kept classes.
func without(p *compile.Problem, s *attempt.Attempt, kept int) *attempt.Attempt {
	o := s.Again()
	o.OverBudget = map[int]bool{}
	for _, c := range p.Preferred.Classes[kept:] {
		o.OverBudget[c] = true
	}
	return attempt.New(p, o)
}

// withFees returns the cost of the new nodes of a plan in USD per hour, fees included, by which
// plans are compared.
func withFees(p *compile.Problem, plan *Solution) float64 {
	return plan.Cost + float64(p.Opts.NodeFee*float64(len(plan.Create)))
}

// resultWithFees is withFees of a packing.
func resultWithFees(p *compile.Problem, r *pack.Result) float64 {
	sum := 0.0
	for i := range r.New {
		sum += float64((r.New[i].Price + p.Opts.NodeFee) * float64(r.New[i].Copies))
	}
	return sum
}

// mayExceedBudget says whether the plan may have to be made with fewer preferences, and steps are
// left for that.
func mayExceedBudget(p *compile.Problem, plan *Solution) bool {
	return plan.Cost > 0 && plan.Stats.Steps < p.Opts.MaxSteps && preferencesMatter(p, plan)
}

// preferencesMatter says whether preferences may have made a plan more expensive.
func preferencesMatter(p *compile.Problem, plan *Solution) bool {
	if len(p.Preferred.Classes) == 0 {
		return false
	}
	if plan.closed || len(p.Nodes) > 0 && len(plan.Create) < manyNodes {
		return true // pods on existing nodes may have been on new ones otherwise, or may have displaced others
	}
	// Pods sent to a domain may take the room of others there.
	if slices.ContainsFunc(p.Preferred.Classes, func(c int) bool { return len(p.Preferences[c].Spans) > 0 }) {
		return true
	}
	bought := map[*corev1.Pod]bool{}
	for i := range plan.Create {
		for _, pod := range plan.Create[i].Pods {
			bought[pod] = true
		}
	}
	return slices.ContainsFunc(p.Preferred.Classes, func(c int) bool {
		return slices.ContainsFunc(p.Classes[c].Pods, func(podID int32) bool { return bought[p.Pods[podID]] })
	})
}
