package verify

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// checkBounds compares a plan without other faults with bounds of the referee's own. Cost must be
// at least what the resources of its pods cost, and LowerBound at most the cost of the referee's
// own plan, in which each new node is launched as the cheapest option of its pool that holds its
// pods.
func (r *referee) checkBounds(opts *provisioning.Options) {
	if len(r.found) > 0 || len(r.fresh) == 0 {
		return
	}
	var asked resources.List
	var all []*optionInfo
	seen := map[*poolInfo]bool{}
	for _, f := range r.fresh {
		if asked, _ = asked.Add(f.requests); seen[f.pool] {
			continue
		}
		seen[f.pool] = true
		for _, o := range r.stockOf(f.pool).options {
			if o.err == nil && o.Offering.Launchable() {
				all = append(all, o)
			}
		}
	}
	slack := costTolerance * max(1, r.plan.Cost)
	if least := leastCost(asked, all); r.plan.Cost < least-slack {
		r.report(RuleAccounts, "", "", "Cost is %s, but nodes with room for what the pods ask for cost at least %s", priceText(r.plan.Cost), priceText(least))
	}
	// With a capacity mix the bound applies only to plans with as many pods off spot.
	own, cost := r.cheaper()
	if r.plan.LowerBound <= cost+slack || opts != nil && opts.CapacityMix != nil {
		return
	}
	if len(Plan(r.in, own, opts)) == 0 {
		r.report(RuleAccounts, "", "", "LowerBound is %s, but the same pods on as many nodes cost %s where each is launched as the cheapest option that holds its pods",
			priceText(r.plan.LowerBound), priceText(cost))
	}
}

// cheaper returns the plan, without bounds, in which each new node is the cheapest option of its
// pool that holds its pods, even if the plan does not list that option. It also returns the cost in
// USD per hour.
func (r *referee) cheaper() (*provisioning.Plan, float64) {
	own := *r.plan
	own.Cost, own.LowerBound, own.PackingBound, own.ObjectiveBound = 0, 0, 0, 0
	own.Create = slices.Clone(own.Create)
	for i, f := range r.fresh {
		price := f.survey.cheapest.Offering.Price
		var q *question
		for k, o := range r.stockOf(f.pool).options {
			if o.err != nil || !o.Offering.Launchable() || o.Offering.ReservationID != "" || o.Offering.Price >= price || !covers(o.allocatable, f.requests) {
				continue
			}
			if q == nil {
				q = r.askForPods(f.pool, f.Requirements, f.selections)
			}
			if len(r.holding(q, []int32{int32(k)}, f.requests)) > 0 {
				price, own.Create[i].Options = o.Offering.Price, []cloudprovider.LaunchOption{o.LaunchOption}
				own.Create[i].Daemons = r.openAnswer(f.pool, int32(k)).all
			}
		}
		own.Cost += price
	}
	slices.SortStableFunc(own.Create, func(a, b provisioning.NewNode) int {
		if a.Pool.Name != b.Pool.Name {
			return 0 // the nodes of a pool are next to each other already
		}
		return cmp.Or(-cmp.Compare(a.Price(), b.Price()), keyOf(a.Pods[0]).Compare(keyOf(b.Pods[0])))
	})
	return &own, own.Cost
}

// leastCost returns the highest cost of any single resource of a request, each at the lowest unit
// price of any option. A resource that no option has is ignored.
func leastCost(asked resources.List, options []*optionInfo) float64 {
	least := 0.0
	for name, amount := range asked.All() {
		unit := math.Inf(1)
		for _, o := range options {
			if have := o.allocatable.Get(name); have > 0 {
				unit = min(unit, o.Offering.Price/float64(have))
			}
		}
		if amount > 0 && !math.IsInf(unit, 1) {
			least = max(least, float64(amount)*unit)
		}
	}
	return least
}
