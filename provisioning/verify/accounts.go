package verify

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/devices"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// costTolerance is the relative error allowed in sums of prices.
const costTolerance = 1e-9

// checkAccounts recomputes the figures of the plan. Those of single nodes are checked with the
// nodes.
func (r *referee) checkAccounts() {
	var sum float64
	for i := range r.plan.Create {
		if l := r.list(r.plan.Create[i].Options); l.priced {
			sum += l.price
		}
	}
	cost := r.plan.Cost
	slack := costTolerance * math.Max(1, math.Abs(sum))
	// Comparisons with NaN are false, so each condition is written so that NaN fails.
	if !(math.Abs(cost-sum) <= slack) {
		r.report(RuleAccounts, "", "", "Cost is %s, but the cheapest options of the new nodes sum up to %s", priceText(cost), priceText(sum))
	}
	r.checkBound("LowerBound", r.plan.LowerBound, sum, slack)
	r.checkBound("PackingBound", r.plan.PackingBound, sum, slack)
	fees := float64(r.nodeFee * float64(len(r.plan.Create)))
	r.checkBound("ObjectiveBound", r.plan.ObjectiveBound, sum+fees, slack)
	gap, withFees := gapOf(sum, r.plan.LowerBound), gapOf(sum+fees, r.plan.ObjectiveBound)
	if got := r.plan.Gap(); !(math.Abs(got-gap) <= costTolerance) && !(math.Abs(got-withFees) <= costTolerance) && got != gap && len(r.found) == 0 {
		r.report(RuleAccounts, "", "", "Gap is %v, but by its cost and its bounds it is %v, or %v with fees", got, gap, withFees)
	}
	if asked := len(slices.DeleteFunc(slices.Clone(r.in.Pods), func(p *corev1.Pod) bool { return p == nil })); r.plan.Stats.Pods != asked {
		r.report(RuleAccounts, "", "", "Stats.Pods is %d, but the input has %d pods", r.plan.Stats.Pods, asked)
	}
}

// checkBound checks that a bound is at least 0 and at most the cost of the new nodes, fees included
// where they count.
func (r *referee) checkBound(name string, bound, sum, slack float64) {
	if !(bound >= 0) {
		r.report(RuleAccounts, "", "", "%s is %s; expected a number that is not negative", name, priceText(bound))
	}
	if !(bound <= sum+slack) && !math.IsNaN(bound) {
		r.report(RuleAccounts, "", "", "%s is %s, above what the new nodes cost, %s", name, priceText(bound), priceText(sum))
	}
}

// gapOf returns cost / bound - 1, so 0.01 is 1%. It is 0 for a cost of 0, and otherwise +Inf for a
// bound of 0.
func gapOf(cost, bound float64) float64 {
	switch {
	case cost <= 0:
		return 0
	case bound <= 0:
		return math.Inf(1)
	}
	return cost/bound - 1
}

// checkReasons checks that each unplaced pod has a reason that the pod and its NodePools do not
// contradict.
func (r *referee) checkReasons() {
	for _, u := range r.plan.Unplaced {
		if u.Pod == nil {
			continue
		}
		name := keyOf(u.Pod).String()
		if u.Explanation == nil {
			r.report(RuleReason, "", name, "it is left pending without a reason")
			continue
		}
		if u.Explanation.Cause == "" {
			r.report(RuleReason, "", name, "its reason has no cause")
		}
		for _, pool := range u.Explanation.Pools {
			known := r.pools[pool.NodePool]
			switch {
			case known == nil:
				r.report(RuleReason, "", name, "its reason names NodePool %q, which is not in the input", pool.NodePool)
			case pool.Cause == provisioning.CauseLimits && len(known.Spec.Limits) == 0:
				r.report(RuleReason, "", name, "its reason blames the limits of NodePool %s, which has none", pool.NodePool)
			case pool.Cause == provisioning.CauseTaints && !refusedByTaint(u.Pod, known):
				r.report(RuleReason, "", name, "its reason blames the taints of NodePool %s, all of which it tolerates", pool.NodePool)
			}
		}
		if p := r.known(u.Pod); p != nil && u.Explanation.Cause == provisioning.CauseUnsupported && !r.unmodelled(p) {
			r.report(RuleReason, "", name, "its reason says that %q is not supported, but it uses nothing that an engine need not model", u.Explanation.Detail)
		}
	}
}

func refusedByTaint(pod *corev1.Pod, pool *poolInfo) bool {
	_, refused := nodefit.Tolerations(pod.Spec.Tolerations).Refused(pool.Spec.Template.Spec.Taints)
	return refused
}

// unmodelled says whether an engine may give as the reason that it does not model what the pod
// uses: resource claims, volumes, constraints on other pods, groups of pods, features that nodes
// declare, and extended resources that only devices provide.
func (r *referee) unmodelled(p *podInfo) bool {
	a := p.Spec.Affinity
	return p.Spec.SchedulingGroup != nil || nodefit.Undeclared(p.Pod, nil, r.kubernetes) != "" || r.wantsDevices(p) ||
		len(p.Spec.ResourceClaims) > 0 || len(p.Spec.Volumes) > 0 || len(p.Spec.TopologySpreadConstraints) > 0 ||
		a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) || r.waits(p) != ""
}

// wantsDevices says whether a pod requests an extended resource that a DeviceClass provides and no
// instance type or node has.
func (r *referee) wantsDevices(p *podInfo) bool {
	for name, amount := range p.requests.All() {
		if amount <= 0 || !slices.ContainsFunc(r.in.Devices.Classes, func(c *resourcev1.DeviceClass) bool { return devices.Serves(c, name) }) {
			continue
		}
		sold := false
		for _, pool := range r.pools { // the order does not affect the result
			sold = sold || slices.ContainsFunc(r.stockOf(pool).options, func(o *optionInfo) bool { return o.capacity.Get(name) > 0 })
		}
		if !sold && !slices.ContainsFunc(r.nodes, func(s *site) bool { return s.node.Allocatable.Get(name) > 0 }) {
			return true
		}
	}
	return false
}
