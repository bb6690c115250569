package verify

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/floor"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// checkBounds holds the cost of a plan without any other fault between a floor of the referee's
// own and its claims: Cost is not below what the resources of its pods cost at least, and
// LowerBound not above what a plan of the referee's own costs, in which each new node is launched
// as the cheapest option of its pool that holds its pods.
func (r *referee) checkBounds(opts *provisioning.Options) {
	if len(r.found) > 0 || len(r.fresh) == 0 {
		return
	}
	var asked resources.List
	var all []floor.Option
	seen := map[*poolInfo]bool{}
	for _, f := range r.fresh {
		if asked, _ = asked.Add(f.requests); seen[f.pool] {
			continue
		}
		seen[f.pool] = true
		for _, o := range r.stockOf(f.pool).options {
			if o.err == nil && o.Offering.Launchable() {
				all = append(all, floor.Option{Price: o.Offering.Price, Room: o.room})
			}
		}
	}
	slack := costTolerance * max(1, r.plan.Cost)
	if least := floor.Of(r.vector(asked), all); r.plan.Cost < least-slack {
		r.report(RuleAccounts, "", "", "Cost is %s, but nodes with room for what the pods ask for cost at least %s", r.priceText(r.plan.Cost), r.priceText(least))
	}
	// With a capacity mix the bound is of plans with as many pods off spot.
	own, cost := r.cheaper()
	if r.plan.LowerBound <= cost+slack || opts != nil && opts.CapacityMix != nil {
		return
	}
	if len(Plan(r.in, own, opts)) == 0 {
		r.report(RuleAccounts, "", "", "LowerBound is %s, but the same pods on as many nodes cost %s where each is launched as the cheapest option that holds its pods",
			r.priceText(r.plan.LowerBound), r.priceText(cost))
	}
}

// cheaper is the plan, without bounds, in which a new node becomes the cheapest option of its pool
// that holds its pods where the plan does not name it, and what that costs.
func (r *referee) cheaper() (*provisioning.Plan, float64) {
	own := *r.plan
	own.Cost, own.LowerBound, own.PackingBound, own.ObjectiveBound = 0, 0, 0, 0
	own.Create = slices.Clone(own.Create)
	for i, f := range r.fresh {
		price, asked := f.survey.cheapest.Offering.Price, r.vector(f.requests)
		var brief *labelQuestion
		for k, o := range r.stockOf(f.pool).options {
			if o.err != nil || !o.Offering.Launchable() || o.Offering.ReservationID != "" || o.Offering.Price >= price || !floor.Covers(o.room, asked) {
				continue
			}
			if brief == nil {
				var selections []*nodefit.Selection
				for _, p := range f.kinds {
					selections = append(selections, p.selection)
				}
				brief = r.brief(f.pool, f.Requirements, selections)
			}
			if r.holds(brief, int32(k), f.requests) {
				price, own.Create[i].Options = o.Offering.Price, []cloudprovider.LaunchOption{o.LaunchOption}
				own.Create[i].Daemons = r.openGround(f.pool, int32(k)).anywhere
			}
		}
		own.Cost += price
	}
	slices.SortStableFunc(own.Create, func(a, b provisioning.NewNode) int {
		if a.Pool.Name != b.Pool.Name {
			return 0 // the nodes of a pool stand side by side already
		}
		return cmp.Or(-cmp.Compare(a.Price(), b.Price()), keyOf(a.Pods[0]).Compare(keyOf(b.Pods[0])))
	})
	return &own, own.Cost
}
