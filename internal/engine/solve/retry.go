package solve

import (
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// If pods are left unplaced, the first solution may not be the best: pods of lower priority may
// have led others to where they find no room, and a coarse search sometimes finds more. So the
// problem is solved again without these pods, and the solution with fewer unplaced pods, or as many
// at a lower cost, is kept.

// retry returns the given trial or a better one. For each priority of unplaced pods that may have a
// place, the highest first, all pods of lower priority are deferred until the pods of this priority
// have a place; each variant is also packed coarsely. Deferred pods take no part in the search, so
// removing them as well would place no more of the others.
func retry(ctx context.Context, p *compile.Problem, first *attempt.Attempt, best trial) (trial, error) {
	if !p.Opts.Quick && best.plan.Stats.Steps >= p.Opts.MaxSteps {
		return best, nil
	}
	levels := attempt.Levels(p)
	levels = levels[:min(len(levels), attempt.MostLevels)]
	best, err := vary(ctx, p, best, first.Again(), func(plan *Solution) bool { return leaves(p, plan, levels) })
	if err == nil {
		reportResult(ctx, p, model.Coarsely, best.plan)
	}
	for i := range levels {
		o := before(&first.Hints, p, levels[i])
		if err != nil || o.Absent == nil || p.Skips(model.PriorityAlone) {
			break
		}
		best, err = vary(ctx, p, best, o, func(plan *Solution) bool { return leaves(p, plan, levels[i:i+1]) })
		if err == nil {
			reportResult(ctx, p, model.PriorityAlone, best.plan)
		}
	}
	return best, err
}

// vary returns the given trial or a better one made from variants of some hints, while leaves says
// that pods are left. Better means fewer unplaced pods, or as many at a lower cost.
func vary(ctx context.Context, p *compile.Problem, best trial, o attempt.Hints, leaves func(*Solution) bool) (trial, error) {
	for _, o := range variants(p, o) {
		if !leaves(best.plan) {
			break
		}
		other, err := try(ctx, p, attempt.New(p, o))
		if err != nil {
			return best, err
		}
		now, was := other.plan.score(p), best.plan.score(p)
		if c := now.compareLeft(was); c < 0 {
			best = other
		} else if c == 0 && now.cost < was.cost {
			best.plan = other.plan // the attempt stays: later ones start from it
		}
	}
	return best, nil
}

// before returns hints by which pods of a priority and above are placed before all others. Headroom
// is deferred too.
func before(o *attempt.Hints, p *compile.Problem, priority int32) attempt.Hints {
	out := o.Again()
	for c := range p.Classes {
		if class := &p.Classes[c]; class.Refusal == nil && !p.Unplaceable.Has(c) && (class.Headroom || class.Priority < priority) {
			if out.Absent == nil {
				out.Absent = map[int]bool{}
			}
			out.Absent[c] = true
		}
	}
	return out
}

// variants lists the hints to try that have not been tried yet: the given ones, and the same packed
// coarsely.
func variants(p *compile.Problem, o attempt.Hints) (all []attempt.Hints) {
	if o.Absent != nil {
		all = append(all, o)
	}
	if !p.Opts.Quick && !p.Skips(model.Coarsely) {
		o.Coarse = true
		all = append(all, o)
	}
	return all
}

// leaves says whether a plan leaves pods of some priorities unplaced that may have a place.
func leaves(p *compile.Problem, plan *Solution, priorities []int32) bool {
	in := placedIn(p, plan)
	for c := range p.Classes {
		class := &p.Classes[c]
		if slices.Contains(priorities, class.Priority) && !class.Headroom && in[c] < len(class.Pods) && !p.Unplaceable.Has(c) {
			return true
		}
	}
	return false
}

// withoutUnplaced returns the given trial, or a better one in which the pods that it leaves
// unplaced are set aside from the start, so that room assigned to them does not exclude others.
func withoutUnplaced(ctx context.Context, p *compile.Problem, first *attempt.Attempt, t trial) (trial, error) {
	aside, some := make([]int, len(p.Classes)), false
	in := placedIn(p, t.plan)
	for c := range p.Classes {
		class := &p.Classes[c]
		if class.Refusal == nil && !class.Headroom && !p.Apart.Has(c) && in[c] < len(class.Pods) {
			aside[c], some = len(class.Pods)-in[c], some || !p.Unplaceable.Has(c)
		}
	}
	if !some || p.Opts.Quick || p.Skips(model.Aside) {
		return t, nil
	}
	o := first.Again()
	o.Aside = aside
	other, err := try(ctx, p, attempt.New(p, o))
	if err == nil {
		reportResult(ctx, p, model.Aside, other.plan)
	}
	if err != nil || !other.plan.score(p).betterThan(t.plan.score(p)) {
		return t, err
	}
	t.plan = other.plan
	return t, nil
}
