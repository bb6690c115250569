package provisioning

import (
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// Where pods are left over, what was found first may not be the best there is: pods
// of lower priority, or a preference, may have led others to where they find no room,
// and a coarse search is luckier now and then. So the problem is packed again, with
// fewer of those, and what leaves fewer pods over is taken.

// trial is a plan, and the attempt that it came of.
type trial struct {
	plan    *Plan
	attempt *attempt
}

// try makes the best plan that comes of an attempt and what is learnt from it.
func (p *Problem) try(ctx context.Context, s *attempt) (trial, error) {
	t, result, err := p.once(ctx, s)
	if err != nil {
		return trial{}, err
	}
	s, plan := t.attempt, t.plan
	p.came(cellsAsFound, plan)
	for _, other := range []struct {
		name  string
		hints *hints
	}{{cellsInUse, s.narrowed(result)}, {noIncidental, s.withoutIncidentalDomains(p)}} {
		if other.hints == nil || p.skips(other.name) {
			continue
		}
		if plan, err = p.better(ctx, plan, p.newAttempt(*other.hints)); err != nil {
			return trial{}, err
		}
		p.came(other.name, plan)
	}
	if plan, err = p.raise(ctx, s, result, plan); err != nil {
		return trial{}, err
	}
	p.came(evenNodes, plan)
	if plan, err = p.even(ctx, s, result, plan); err == nil {
		p.came(evenCells, plan)
	}
	return trial{plan, s}, err
}

// once makes the plan that comes of an attempt, where those of higher priority may be put
// first, and returns what was packed.
func (p *Problem) once(ctx context.Context, s *attempt) (trial, *pack.Result, error) {
	s, result, err := p.settle(ctx, s)
	if err == nil {
		s, result, err = p.solvePriorityFirst(ctx, s, result)
	}
	if err != nil {
		return trial{}, nil, err
	}
	return trial{p.assemble(s, result), s}, result, nil
}

// retry returns a trial, or a better one: for each priority of pods that are left over
// and may have a place, the highest first, all pods of lower priority wait until those
// of this one have theirs; preferences are given up; and it is packed coarsely. As
// pods that wait have no part in the search, taking them away would place no more of
// the others.
func (p *Problem) retry(ctx context.Context, best trial) (trial, error) {
	if !p.opts.Quick && best.plan.Stats.Steps >= p.opts.MaxSteps {
		return best, nil
	}
	levels := p.levels()
	levels = levels[:min(len(levels), mostLevels)]
	best, err := p.vary(ctx, best, p.first.again(), func(plan *Plan) bool { return p.leaves(plan, levels) })
	if err == nil {
		p.came(coarsely, best.plan)
	}
	for i := range levels {
		o := p.first.before(p, levels[i])
		if err != nil || o.absent == nil || p.skips(priorityAlone) {
			break
		}
		best, err = p.vary(ctx, best, o, func(plan *Plan) bool { return p.leaves(plan, levels[i:i+1]) })
		if err == nil {
			p.came(priorityAlone, best.plan)
		}
	}
	return best, err
}

// vary returns a trial, or a better one that follows some hints in one way or another,
// as long as a plan is not good enough.
func (p *Problem) vary(ctx context.Context, best trial, o hints, leaves func(*Plan) bool) (trial, error) {
	for _, o := range p.variants(o) {
		if !leaves(best.plan) {
			break
		}
		var other trial
		var err error
		if o.retried() {
			other, _, err = p.once(ctx, p.newAttempt(o))
		} else {
			other, err = p.try(ctx, p.newAttempt(o))
		}
		if err != nil {
			return best, err
		}
		if compareLeft(other.plan, best.plan) < 0 {
			best = other
		}
	}
	return best, nil
}

// before are the hints by which the pods of some priority and above have their place
// before all others. Pods that do not exist come last.
func (o *hints) before(p *Problem, priority int32) hints {
	out := o.again()
	for c := range p.classes {
		if class := &p.classes[c]; class.refusal == nil && !p.hopeless.Has(c) && (class.headroom || class.priority < priority) {
			if out.absent == nil {
				out.absent = map[int]bool{}
			}
			out.absent[c] = true
		}
	}
	return out
}

// letIn places pods of the classes that have waited for all others, one by one, and
// returns the order in which pods can be bound then.
func (a *assembler) letIn(order []int32, plan *Plan, steps int) []int32 {
	if a.s.absent == nil {
		return order
	}
	a.last = true
	order, closed := a.eliminateNodes(a.insert(order), steps)
	if closed {
		plan.closed, plan.PackingBound = true, 0
		order = a.insert(order)
	}
	return order
}

// variants lists the ways to follow some hints that have not been tried yet: with
// preferences and without, and the same packed coarsely.
func (p *Problem) variants(o hints) []hints {
	all := []hints{o}
	if p.prefers() && !p.skips(withoutAny) {
		o.plain = true
		all = append(all, o)
	}
	if !p.opts.Quick && !p.skips(coarsely) {
		for _, o := range slices.Clone(all) {
			o.coarse = true
			all = append(all, o)
		}
	}
	if o.absent == nil {
		return all[1:]
	}
	return all
}

// prefers says whether some preference may have decided where pods go.
func (p *Problem) prefers() bool {
	for c := range p.classes {
		if len(p.preferences[c].spans)+len(p.rules.duties[c].soft) > 0 || p.preferences[c].bought {
			return true
		}
	}
	return false
}

// leaves says whether a plan leaves pods of some priorities over that may have a place.
func (p *Problem) leaves(plan *Plan, priorities []int32) bool {
	in := p.placedIn(plan)
	for c := range p.classes {
		class := &p.classes[c]
		if slices.Contains(priorities, class.priority) && !class.headroom && in[c] < len(class.pods) && !p.hopeless.Has(c) {
			return true
		}
	}
	return false
}
