package solve

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
)

// setBounds proves how cheap a plan for the same pods could be, given that of
// the packing.
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
	// The bounds are proven; only rounding in the sum could put them above.
	plan.LowerBound, plan.PackingBound = min(plan.LowerBound, plan.Cost), min(plan.PackingBound, plan.Cost)
	plan.ObjectiveBound = plan.LowerBound
	if plan.Fees > 0 {
		plan.ObjectiveBound = min(a.objectiveBound(plan.LowerBound, fee), plan.Cost+plan.Fees)
	}
	if mayExceedBudget(a.p, plan) {
		plan.floor = plan.LowerBound
	}
}

// objectiveBound is a floor under cost and fees of any plan for the same pods, given
// one under its cost: as if nodes could be had in parts, fees included, or whole nodes
// for their fees alone.
func (a *assembler) objectiveBound(cost, fee float64) float64 {
	parts := a.lowerBound(func(price float64) float64 { return price + fee })
	nodes := math.Ceil(a.lowerBound(func(float64) float64 { return 1 }) * (1 - 1e-9))
	return max(parts, cost+float64(fee*nodes))
}

// onlyNodes says whether there was nothing to choose but which nodes to launch.
// Then the packer's bound speaks of all plans.
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
	// Which pods are left for lower weights is a choice where limits decide it, and
	// a minValues may be met by several alternatives of a pod together.
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
