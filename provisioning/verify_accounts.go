package provisioning

import (
	"math"
	"strconv"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// costTolerance is the relative error that sums of prices may carry.
const costTolerance = 1e-9

// checkAccounts recomputes what the plan says about itself. The sums of single
// nodes are checked with the nodes.
func (r *referee) checkAccounts() {
	var sum float64
	for i := range r.plan.Create {
		if price, ok := r.cheapestPrice(&r.plan.Create[i]); ok {
			sum += price
		}
	}
	cost := r.plan.Cost
	slack := costTolerance * math.Max(1, math.Abs(sum))
	// Comparisons with NaN are false, so each is put the way round that NaN
	// fails.
	if !(math.Abs(cost-sum) <= slack) {
		r.report(RuleAccounts, "", "", "Cost is %s, but the cheapest options of the new nodes sum up to %s", r.priceText(cost), r.priceText(sum))
	}
	r.checkBound("LowerBound", r.plan.LowerBound, sum, slack)
	r.checkBound("PackingBound", r.plan.PackingBound, sum, slack)
	asked := 0
	for _, pod := range r.in.Pods {
		if pod != nil {
			asked++
		}
	}
	if r.plan.Stats.Pods != asked {
		r.report(RuleAccounts, "", "", "Stats.Pods is %d, but the input has %d pods", r.plan.Stats.Pods, asked)
	}
}

// checkBound wants a floor under what the new nodes cost.
func (r *referee) checkBound(name string, bound, sum, slack float64) {
	if !(bound >= 0) {
		r.report(RuleAccounts, "", "", "%s is %s; expected a number that is not negative", name, r.priceText(bound))
	}
	if !(bound <= sum+slack) && !math.IsNaN(bound) {
		r.report(RuleAccounts, "", "", "%s is %s, above what the new nodes cost, %s", name, r.priceText(bound), r.priceText(sum))
	}
}

// cheapestPrice is the price of the node's cheapest option, wherever it stands.
// It is false for a node without options.
func (r *referee) cheapestPrice(n *NewNode) (float64, bool) {
	l := r.list(n.Options)
	return l.price, l.priced
}

func (*referee) wholeOption(option cloudprovider.LaunchOption) bool {
	return option.InstanceType != nil && option.Offering != nil
}

func (*referee) priceText(price float64) string {
	return strconv.FormatFloat(price, 'g', 10, 64) + " USD/h"
}
