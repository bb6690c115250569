package disruption

import "slices"

// Recheck says what speaks against an action that was decided on an earlier
// input: nothing if it could be decided on this one. Some time between the two
// looks keeps a passing state from costing a node; Karpenter waits 15 seconds.
//
// For each target, in this order:
//
//  1. the node must be there, with the same NodeClaim and machine; a target
//     without a node is not looked at;
//  2. for a voluntary reason, nothing may keep the method of that reason from it:
//     see Candidates. Those of Empty, Drifted, Unhealthy and Underutilized are
//     MethodEmptiness, MethodDrift, MethodRepair and MethodConsolidation;
//  3. for another reason, it must not be underway or be deleted already, but a
//     voluntary decision gives way to Interrupted.
//
// Budgets are asked by Pace. Whether the pods still fit elsewhere is for a
// simulation to say. The order is that of Blocked.Compare.
func (f *Fleet) Recheck(a Action) []Blocked {
	var out []Blocked
	method := methodOf(a.Reason)
	for _, t := range a.Targets {
		if t.Node == "" {
			continue
		}
		m := f.byName[t.Node]
		if m == nil || !m.is(t) {
			out = append(out, Blocked{Target: t, Method: method, Rule: RuleNoNode, Detail: "it is not there any more"})
			continue
		}
		if method != "" {
			out = append(out, f.check(m, method)...)
			continue
		}
		c := &check{f: f, m: m}
		switch {
		case f.yields(m, a.Reason):
		case m.underway:
			c.existence()
		case m.leaving:
			c.add(RuleDeleting, never, "it is being deleted")
		}
		out = append(out, c.blocked...)
	}
	slices.SortFunc(out, Blocked.Compare)
	return out
}

// methodOf is the method that acts for a reason, empty if none does.
func methodOf(r Reason) Method {
	switch r {
	case Empty:
		return MethodEmptiness
	case Drifted:
		return MethodDrift
	case Unhealthy:
		return MethodRepair
	case Underutilized:
		return MethodConsolidation
	}
	return ""
}

// is reports whether a target is this node and not another of the same name. A
// claim that was without a machine may have one by now.
func (m *member) is(t Target) bool {
	now := m.target()
	return now.NodeClaim == t.NodeClaim && (t.ProviderID == "" || now.ProviderID == t.ProviderID)
}
