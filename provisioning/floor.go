package provisioning

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// setBounds proves how cheap a plan for the same pods could be, given that of
// the packing.
func (a *assembler) setBounds(plan *Plan) {
	fee := a.p.opts.NodeFee
	plan.fees = float64(fee * float64(len(plan.Create)))
	if a.p.opts.NoBounds {
		plan.PackingBound = 0
		if a.p.mayExceedBudget(plan) {
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
	if plan.fees > 0 {
		plan.ObjectiveBound = min(a.objectiveBound(plan.LowerBound, fee), plan.Cost+plan.fees)
	}
	if a.p.mayExceedBudget(plan) {
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
	if len(p.nodes)+len(p.catalog.stocks.sizes)+len(p.extras.drivers) > 0 || p.extras.counts != nil {
		return false
	}
	if len(s.units)+len(s.bundler.bundles)+len(s.bundler.pinned) > 0 {
		return false
	}
	for i := range p.rules.slots {
		if !p.rules.addsUp(&p.rules.slots[i]) {
			return false
		}
	}
	// Which pods are left for lower weights is a choice where limits decide it, and
	// a minValues may be met by several alternatives of a pod together.
	tiers, limited, counted := p.lowPools[len(p.lowPools)-1].Tier > 0, p.flexible != nil, false
	for i := range p.lowPools {
		limited = limited || p.lowPools[i].Limits != nil
		counted = counted || len(p.lowPools[i].MinValues) > 0
	}
	if tiers && (limited || p.tiers.fill) {
		return false
	}
	with := p.togetherOverNodes()
	for c := range p.classes {
		class := &p.classes[c]
		if class.refusal == nil && (!p.isPlain(c, with) || tiers && p.isSoft(c) || counted && len(class.alternatives) > 1) {
			return false
		}
	}
	return true
}

// isPlain says whether nothing but what a class asks of its node, and what keeps
// pods apart there, decides where its pods go, given the selections of affinities
// over the name of the node.
func (p *Problem) isPlain(c int, with []int) bool {
	d, w := &p.rules.duties[c], &p.preferences[c]
	if len(d.owns)+len(d.spans)+len(d.with)+len(w.spans) > 0 || w.options != nil {
		return false
	}
	for _, part := range d.parts {
		if p.rules.node[part.Rule].Kind == pack.AtMost {
			return false
		}
	}
	return !slices.ContainsFunc(with, p.classes[c].selected.Has)
}

// isSoft says whether pods of a class would rather be on some nodes of a plan than
// on others.
func (p *Problem) isSoft(c int) bool {
	class := &p.classes[c]
	return len(class.preferences) > 0 || slices.ContainsFunc(class.terms, func(t term) bool { return t.weight > 0 })
}
