package solve

import (
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// Where pods are left over, what was found first may not be the best there is: pods
// of lower priority may have led others to where they find no room,
// and a coarse search is luckier now and then. So the problem is packed again, without
// those, and what leaves fewer pods over is taken, or as many for less.

// retry returns a trial, or a better one: for each priority of pods that are left over
// and may have a place, the highest first, all pods of lower priority wait until those
// of this one have theirs; and it is packed coarsely. As
// pods that wait have no part in the search, taking them away would place no more of
// the others.
func retry(ctx context.Context, p *compile.Problem, first *attempt.Attempt, best trial) (trial, error) {
	if !p.Opts.Quick && best.plan.Stats.Steps >= p.Opts.MaxSteps {
		return best, nil
	}
	levels := attempt.Levels(p)
	levels = levels[:min(len(levels), attempt.MostLevels)]
	best, err := vary(ctx, p, best, first.Again(), func(plan *Solution) bool { return leaves(p, plan, levels) })
	if err == nil {
		came(ctx, p, model.Coarsely, best.plan)
	}
	for i := range levels {
		o := before(&first.Hints, p, levels[i])
		if err != nil || o.Absent == nil || p.Skips(model.PriorityAlone) {
			break
		}
		best, err = vary(ctx, p, best, o, func(plan *Solution) bool { return leaves(p, plan, levels[i:i+1]) })
		if err == nil {
			came(ctx, p, model.PriorityAlone, best.plan)
		}
	}
	return best, err
}

// vary returns a trial, or a better one that follows some hints in one way or another,
// as long as a plan is not good enough: one that leaves fewer pods over, or as many for
// less.
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
			best.plan = other.plan // which says nothing of the attempts that are to follow
		}
	}
	return best, nil
}

// before are the hints by which the pods of some priority and above have their place
// before all others. Pods that do not exist come last.
func before(o *attempt.Hints, p *compile.Problem, priority int32) attempt.Hints {
	out := o.Again()
	for c := range p.Classes {
		if class := &p.Classes[c]; class.Refusal == nil && !p.Hopeless.Has(c) && (class.Headroom || class.Priority < priority) {
			if out.Absent == nil {
				out.Absent = map[int]bool{}
			}
			out.Absent[c] = true
		}
	}
	return out
}

// variants lists the ways to follow some hints that have not been tried yet: as they are, and
// packed coarsely.
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

// leaves says whether a plan leaves pods of some priorities over that may have a place.
func leaves(p *compile.Problem, plan *Solution, priorities []int32) bool {
	in := placedIn(p, plan)
	for c := range p.Classes {
		class := &p.Classes[c]
		if slices.Contains(priorities, class.Priority) && !class.Headroom && in[c] < len(class.Pods) && !p.Hopeless.Has(c) {
			return true
		}
	}
	return false
}

// withoutUnplaced returns a trial, or a better one in which the pods that it leaves over have no
// part from the start: what they were given, and then lost to others, is no longer in the way.
func withoutUnplaced(ctx context.Context, p *compile.Problem, first *attempt.Attempt, t trial) (trial, error) {
	aside, some := make([]int, len(p.Classes)), false
	in := placedIn(p, t.plan)
	for c := range p.Classes {
		class := &p.Classes[c]
		if class.Refusal == nil && !class.Headroom && !p.Apart.Has(c) && in[c] < len(class.Pods) {
			aside[c], some = len(class.Pods)-in[c], some || !p.Hopeless.Has(c)
		}
	}
	if !some || p.Opts.Quick || p.Skips(model.Aside) {
		return t, nil
	}
	o := first.Again()
	o.Aside = aside
	other, err := try(ctx, p, attempt.New(p, o))
	if err == nil {
		came(ctx, p, model.Aside, other.plan)
	}
	if err != nil || !other.plan.score(p).betterThan(t.plan.score(p)) {
		return t, err
	}
	t.plan = other.plan
	return t, nil
}
