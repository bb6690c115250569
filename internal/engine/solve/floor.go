package solve

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
)

// setBounds sets the proven lower bounds of a solution. The packing bound is set already.
func (a *assembler) setBounds(plan *Solution) {
	fee := a.p.Opts.NodeFee
	plan.Fees = float64(fee * float64(len(plan.Create)))
	if a.p.Opts.NoBounds {
		plan.PackingBound = 0
		if mayExceedBudget(a.p, plan) {
			plan.floor = min(a.lowerBound(nil), plan.Cost)
		}
		return
	}
	switch {
	case plan.Cost == 0:
	case a.onlyNodes():
		plan.LowerBound = plan.PackingBound
	default:
		plan.LowerBound = a.lowerBound(nil)
		plan.PackingBound = max(plan.PackingBound, plan.LowerBound)
	}
	// The bounds are proven; only rounding in a sum could lift them above the cost.
	plan.LowerBound, plan.PackingBound = min(plan.LowerBound, plan.Cost), min(plan.PackingBound, plan.Cost)
	plan.ObjectiveBound = plan.LowerBound
	if plan.Fees > 0 {
		plan.ObjectiveBound = min(a.objectiveBound(plan.LowerBound, fee), plan.Cost+plan.Fees)
	}
	if mayExceedBudget(a.p, plan) {
		plan.floor = plan.LowerBound
	}
}

// objectiveBound returns a lower bound on cost and fees of any plan for the same pods, given a
// lower bound on its cost. It is the larger of two bounds: nodes bought in parts, fees included;
// and the cost bound plus fees of whole nodes.
func (a *assembler) objectiveBound(cost, fee float64) float64 {
	parts := a.lowerBound(func(price float64) float64 { return price + fee })
	nodes := math.Ceil(a.lowerBound(func(float64) float64 { return 1 }) * (1 - 1e-9))
	return max(parts, cost+float64(fee*nodes))
}

// onlyNodes says whether the only choice was which nodes to launch. Then the bound of the packer
// holds for all plans.
func (a *assembler) onlyNodes() bool {
	p, s := a.p, a.s
	if len(p.Nodes)+len(p.Catalog.Reservations.Sizes)+len(p.Extras.Drivers) > 0 || p.Extras.Counts != nil {
		return false
	}
	if len(s.Units)+len(s.Bundler.Bundles)+len(s.Bundler.Pinned) > 0 {
		return false
	}
	for i := range p.Rules.Slots {
		if !addsUp(p.Rules, &p.Rules.Slots[i]) {
			return false
		}
	}
	// Which pods are left to pools of lower weight is a choice where limits decide it, and several
	// alternatives of a pod may satisfy a minValues together.
	tiers, limited, counted := p.LowPools[len(p.LowPools)-1].Tier > 0, p.Flexible != nil, false
	for i := range p.LowPools {
		limited = limited || p.LowPools[i].Limits != nil
		counted = counted || len(p.LowPools[i].MinValues) > 0
	}
	if tiers && (limited || p.Tiers.Fill) {
		return false
	}
	with := p.TogetherOverNodes()
	for c := range p.Classes {
		class := &p.Classes[c]
		if class.Refusal == nil && (!attempt.IsPlain(p, c, with) || tiers && attempt.IsSoft(p, c) || counted && len(class.Alternatives) > 1) {
			return false
		}
	}
	return true
}
