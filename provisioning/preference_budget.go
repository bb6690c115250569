package provisioning

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// mostTrials bounds how many plans are made between that with all preferences
// and that with none.
const mostTrials = 3

// preferred are the classes whose preferences are worth their price on paper, those
// first that matter most; and the share that a plan may cost more for their sake.
type preferred struct {
	classes []int
	share   float64
}

// findPreferred lists the classes with wishes. Each must have been weighed.
func (p *Problem) findPreferred() {
	most := 0
	for c := range p.preferences {
		if w := &p.preferences[c]; w.bought {
			p.preferred.classes = append(p.preferred.classes, c)
			most = max(most, w.weight)
		}
	}
	p.preferred.share = p.opts.PreferenceCost * max(1, float64(most)/100)
	slices.SortStableFunc(p.preferred.classes, func(x, y int) int { return -cmp.Compare(p.preferences[x].worth, p.preferences[y].worth) })
}

// withinBudget returns a plan, or one with fewer preferences if it costs more for
// their sake than Options.PreferenceCost allows. On paper each preference is
// worth its price; but nodes are not bought in pieces, and a pod that would
// rather be elsewhere may cost a node of its own.
//
// Where the lower bound shows that the plan is cheap enough, as it does for
// plans of many nodes, nothing more is done. Otherwise the problem is packed
// without preferences, and only if that is so much cheaper are plans made with a
// part of them: half, and then more or less.
func (p *Problem) withinBudget(ctx context.Context, plan *Plan, s *attempt) (*Plan, error) {
	limit := 1 + p.preferred.share
	if s.plain || !p.mayExceedBudget(plan) || p.withFees(plan) <= plan.floor*limit || p.skips(preferenceShare) {
		return plan, nil
	}
	s, result, err := p.settle(ctx, p.without(s, 0))
	if err != nil {
		return nil, err
	}
	if !s.choseBefore(p) && p.withFees(plan) <= p.resultWithFees(result)*limit*(1+1e-9) {
		return plan, nil // what was packed is what is launched
	}
	best := p.assemble(s, result)
	if compareLeft(best, plan) > 0 || p.withFees(plan) <= p.withFees(best)*limit*(1+1e-9) {
		return plan, nil
	}
	limit *= p.withFees(best)
	kept, refused := 0, len(p.preferred.classes)
	for range mostTrials {
		trial := (kept + refused) / 2
		if trial == kept {
			break
		}
		s, result, err := p.settle(ctx, p.without(s, trial))
		if err != nil {
			return nil, err
		}
		other := p.assemble(s, result)
		if compareLeft(other, best) <= 0 && p.withFees(other) <= limit*(1+1e-9) {
			best, kept = other, trial
		} else {
			refused = trial
		}
	}
	return best, nil
}

// mayExceedBudget says whether a plan may have to be made with fewer preferences, and
// there are steps left for it.
func (p *Problem) mayExceedBudget(plan *Plan) bool {
	return plan.Cost > 0 && plan.Stats.Steps < p.opts.MaxSteps && p.preferencesMatter(plan)
}

// preferencesMatter says whether a plan may have become dearer for a preference.
func (p *Problem) preferencesMatter(plan *Plan) bool {
	if len(p.preferred.classes) == 0 {
		return false
	}
	if plan.closed {
		return true // who is on a node that exists may have been on a new one
	}
	// Who is to be in some domain may take the room of others there.
	if slices.ContainsFunc(p.preferred.classes, func(c int) bool { return len(p.preferences[c].spans) > 0 }) {
		return true
	}
	bought := map[*corev1.Pod]bool{}
	for i := range plan.Create {
		for _, pod := range plan.Create[i].Pods {
			bought[pod] = true
		}
	}
	return slices.ContainsFunc(p.preferred.classes, func(c int) bool {
		return slices.ContainsFunc(p.classes[c].pods, func(podID int32) bool { return bought[p.pods[podID]] })
	})
}

// without is an attempt without preferences but those of so many classes.
func (p *Problem) without(s *attempt, kept int) *attempt {
	o := s.again()
	o.kept, o.overBudget = s.kept, map[int]bool{}
	for _, c := range p.preferred.classes[kept:] {
		o.overBudget[c] = true
	}
	return p.newAttempt(o)
}

// withFees is what the new nodes of a plan cost when plans are compared.
func (p *Problem) withFees(plan *Plan) float64 {
	return plan.Cost + float64(p.opts.NodeFee*float64(len(plan.Create)))
}

// resultWithFees is the same of a packing.
func (p *Problem) resultWithFees(r *pack.Result) float64 {
	sum := 0.0
	for i := range r.New {
		sum += float64((r.New[i].Price + p.opts.NodeFee) * float64(r.New[i].Copies))
	}
	return sum
}
