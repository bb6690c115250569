package compile

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// limitRule returns the number of the rule over nodes for a limit.
func (r *Rules) limitRule(l workload.Limit) int { return r.nodeRule(limitKey(l), workload.Term{}) }

func limitKey(l workload.Limit) nodeRuleKey {
	return nodeRuleKey{Rule: pack.Rule{Kind: pack.AtMost, Limit: l.Most}, pods: l.Pods, limit: l.Kind + 1}
}

// addLimits adds the limits of a class to its memberships.
func (r *Rules) addLimits(c int, limits []workload.Limit) {
	for _, l := range limits {
		r.ByClass[c].Parts = pack.AddPods(r.ByClass[c].Parts, 1, pack.Membership{Rule: r.limitRule(l), Owners: 1})
	}
}

// readBoundLimits reads the limits of running pods, once for each kind of pod. Limits that cannot
// be read are ignored.
func (k *classifier) readBoundLimits() workload.BoundLimits {
	out := workload.BoundLimits{}
	for _, kind := range k.constraining {
		if pod := k.p.boundKinds.Pod(kind); !podlife.OfDaemonSet(pod) {
			if limits, err := k.reader.Limits(pod); err == nil && len(limits) > 0 {
				out[kind] = limits
			}
		}
	}
	return out
}

// addBoundLimits adds the rules of limits that only running pods have, if they count any pod to be
// placed.
func (x *baseline) addBoundLimits() {
	for _, kind := range x.constraining {
		for _, l := range x.limits[kind] {
			if x.interest.Has(l.Pods) {
				x.r.limitRule(l)
			}
		}
	}
}

// limitParts adds the memberships of a running pod in its own limits.
func (x *baseline) limitParts(out []pack.Membership, limits []workload.Limit) []pack.Membership {
	for _, l := range limits {
		if r, ok := x.r.nodeIndex[limitKey(l)]; ok {
			out = pack.AddPods(out, 1, pack.Membership{Rule: r, Owners: 1})
		}
	}
	return out
}
