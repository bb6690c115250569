package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// RebootsSpent is the StepCause of a Replace in the place of a Reboot: the node
// was rebooted twice within 24 hours, and a third time would not help.
const RebootsSpent = "RebootsSpent"

// Repair wants to reboot or replace nodes with a condition that asks for it.
//
// A policy speaks for a condition with its type and status if its expression
// matches the reason; if none does, the fallback of the set speaks for it. It
// asks for repair when its toleration has passed since the latest of the last
// transition of the condition, the creation of the Node and the end of its last
// reboot. Equality is enough. Of the policies that ask,
//
//   - the one decides whose action is the more disruptive, then that of the
//     higher priority, then the one that has asked longest, then the condition
//     that is first by name;
//   - the shortest bound for the drain holds, or that of the NodeClaim if it is
//     shorter;
//   - each adds to the urgency: the place of its priority among those in use,
//     from 0, plus one for each 30 minutes that it has asked. The highest counts.
//
// The more urgent node comes first, then the one with the lower LifetimeCost,
// then by name. Karpenter carries out one such action at a time.
//
// A pool of which more than Options.RepairShare of the nodes, rounded up, have a
// condition that some policy names, whatever its reason and for however short a
// time, is not repaired. Nodes of static pools are replaced as Drift replaces
// them, by Options.TerminateFirstRepair. Nodes that are not initialized are
// repaired too, and do not count for budgets.
//
// Blocked are the nodes that a condition asks to be repaired.
func (f *Fleet) Repair() Result {
	candidates, blocked := f.Candidates(MethodRepair)
	var r Result
	slices.SortFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(f.byName[a.Node].sick.turn.Compare(f.byName[b.Node].sick.turn),
			cmp.Compare(a.LifetimeCost, b.LifetimeCost), strings.Compare(a.Node, b.Node))
	})
	s := f.newStaticSlots(MethodRepair, f.opts.TerminateFirstRepair)
	for i := range candidates {
		m := f.byName[candidates[i].Node]
		p := placement{step: Replace}
		switch {
		case m.sick.action == cloudprovider.RebootNode:
			p.step = Reboot
		case m.pool.static():
			var ok bool
			if p, ok = s.place(m); !ok {
				continue
			}
		case m.homeless() == 0:
			p.step = Delete
		}
		r.Actions = append(r.Actions, m.repair(p))
	}
	r.Blocked = append(without(blocked, RuleUnmanaged, RuleNoNode, RuleHealthy), s.blocked...)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	r.Next = soonest(r.Blocked)
	for _, m := range f.members {
		r.Next = sooner(r.Next, m.sick.next)
	}
	return r
}

// repair is the action on a node.
func (m *member) repair(p placement) Action {
	a := m.action(Unhealthy, p.step)
	c := &m.sick.condition
	a.Cause, a.Since, a.DrainBound = string(c.Type), m.sick.since, p.drain
	if m.sick.bound != nil {
		bound := *m.sick.bound
		if claim := m.claimBound(); claim != nil {
			bound = min(bound, *claim)
		}
		a.DrainBound = &bound
	}
	a.Detail = fmt.Sprintf("condition %s is %s since %s", c.Type, c.Status, instant(c.LastTransitionTime.Time))
	if c.Reason != "" {
		a.Detail += " (" + c.Reason + ")"
	}
	a.Detail = p.detail(a.Detail)
	switch {
	case p.why != "":
		a.StepCause = p.why
	case m.sick.spent:
		a.StepCause = RebootsSpent
	}
	return a
}

// health is the method's part of check.
func (c *check) health() {
	m := c.m
	if !m.sick.due() {
		detail := "no condition asks for repair"
		if !m.sick.next.IsZero() {
			detail = fmt.Sprintf("no condition asks for repair before %s", instant(m.sick.next))
		}
		c.add(RuleHealthy, m.sick.next, "%s", detail)
		return
	}
	if m.vetoesRepair() {
		c.add(RuleDoNotRepair, never, "it has the annotation %s", v1.DoNotRepairAnnotationKey)
	}
	if p := m.pool; p != nil {
		// A share such as 0.07 of 100 must not come out as 7.000000000000001.
		most := int(math.Ceil(c.f.opts.RepairShare*float64(p.nodes) - 1e-9))
		if p.sick > most {
			c.add(RuleManyUnhealthy, time.Time{}, "%d of %d nodes of its %s are unhealthy, and with more than %d something else is probably wrong",
				p.sick, p.nodes, poolObject(p.Name), most)
		}
	}
}

// vetoesRepair reports whether the Node or the NodeClaim asks not to be
// repaired.
func (m *member) vetoesRepair() bool {
	return m.Node.Node != nil && m.Node.Node.Annotations[v1.DoNotRepairAnnotationKey] == "true" ||
		m.NodeClaim != nil && m.NodeClaim.Annotations[v1.DoNotRepairAnnotationKey] == "true"
}
