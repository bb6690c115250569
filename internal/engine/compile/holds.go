package compile

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// addHolds makes node rules from the holds of classes and of running pods, such as host ports and
// disks: two pods with clashing holds may not be on one node. There is one rule for each distinct
// hold of a class, and for each of a running pod in bound. Pods with this hold own the rule, and the
// rule counts all pods with a hold that it covers; see constraint.Hold.Covers. The rule of a hold
// that only reads has neither owners nor members: rules of holds that write count such pods.
func (r *Rules) addHolds(p *Problem, bound []constraint.Hold) {
	r.firstHold = len(r.Node)
	wanted := slices.Clone(bound)
	for c := range p.Classes {
		wanted = append(wanted, p.Classes[c].Holds...)
	}
	slices.SortFunc(wanted, constraint.Hold.Compare)
	r.holds = slices.Compact(wanted)
	for range r.holds {
		r.Node = append(r.Node, nodeRule{nodeRuleKey: nodeRuleKey{Rule: pack.Rule{Kind: pack.Apart}, pods: -1}})
	}
	for c := range p.Classes {
		r.ByClass[c].Parts = pack.AddPods(r.ByClass[c].Parts, 1, r.holdParts(p.Classes[c].Holds)...)
	}
}

// holdParts returns the memberships of a pod with some holds.
func (r *Rules) holdParts(holds []constraint.Hold) []pack.Membership {
	if len(holds) == 0 {
		return nil
	}
	var out []pack.Membership
	for i, rule := range r.holds {
		owner, member := 0, 0
		for _, h := range holds {
			if h == rule && !rule.Reads {
				owner = 1
			}
			if rule.Covers(h) {
				member = 1
			}
		}
		if owner+member > 0 {
			out = append(out, pack.Membership{Rule: r.firstHold + i, Owners: owner, Members: member, Both: min(owner, member)})
		}
	}
	return out
}
