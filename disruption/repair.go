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
	"github.com/dovetail-sdk/dovetail/disruption/internal/repair"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// RebootsSpent is the OperationCause of a Replace or Delete instead of a Reboot: the node was rebooted twice
// within 24 hours, and a third reboot would not help.
const RebootsSpent = "RebootsSpent"

// repair proposes to reboot or replace nodes with a condition that needs repair.
//
// A policy applies to a condition with its type and status if its expression matches the reason; if
// no expression does, the fallback of the set applies. The condition needs repair once the
// toleration of the policy has passed since the latest of the last transition of the condition, the
// creation of the Node and the end of its last reboot. Of the policies that apply and need repair,
//
//   - the chosen one has the more disruptive action, then the higher priority, then has needed
//     repair longest, then has the first condition by name;
//   - the shortest limit for the drain applies, or that of the NodeClaim if it is shorter;
//   - each has an urgency: the rank of its priority among those in use, from 0, plus one for each
//     30 minutes that repair has been needed. The highest counts.
//
// Nodes are sorted by descending urgency, then by LifetimeCost, then by name. Karpenter carries out
// one such action at a time.
//
// A pool is not repaired if more than Options.Repair.Share of its nodes, rounded up, have a
// condition that some policy names, whatever its reason and however recent. Nodes of static pools
// are replaced as for drift, with Options.Repair.TerminateFirst. Nodes that are not initialised are
// repaired too, and do not count for budgets.
//
// Blocked lists nodes with a condition that needs repair.
func (f *Cluster) repair() Result {
	nodes, blocked := f.candidates(MethodRepair)
	var r Result
	slices.SortFunc(nodes, func(a, b *state.StateNode) int {
		return cmp.Or(a.Sick.Turn.Compare(b.Sick.Turn), cmp.Compare(f.lifetimeCost(a), f.lifetimeCost(b)), strings.Compare(a.Name, b.Name))
	})
	s := f.newStaticSlots(MethodRepair, f.opts.Repair.TerminateFirst)
	for _, m := range nodes {
		p, ok := placement{operation: Reboot}, true
		if m.Sick.Action != cloudprovider.RebootNode {
			p, ok = s.place(m)
		}
		if ok {
			r.Actions = append(r.Actions, repairOf(m, p))
		}
	}
	r.Blocked = append(without(blocked, rule.Unmanaged, rule.NoNode, rule.Healthy), s.blocked...)
	for _, m := range f.seen.Nodes {
		r.Next = order.Sooner(r.Next, m.Sick.Next)
	}
	return r
}

// repairOf returns the action on a node.
func repairOf(m *state.StateNode, p placement) Action {
	a := actionOn(m, Unhealthy, p.operation)
	c := &m.Sick.Condition
	a.Cause, a.Since, a.DrainBound = string(c.Type), m.Sick.Since, p.drain
	if m.Sick.Bound != nil {
		a.DrainBound = new(*m.Sick.Bound)
		if claim := m.ClaimBound(); claim != nil {
			*a.DrainBound = min(*a.DrainBound, *claim)
		}
	}
	a.Detail = fmt.Sprintf("condition %s is %s since %s", c.Type, c.Status, words.Instant(c.LastTransitionTime.Time))
	if c.Reason != "" {
		a.Detail += " (" + c.Reason + ")"
	}
	a.Detail = p.detail(a.Detail)
	if a.OperationCause = p.why; p.why == "" && m.Sick.Spent {
		a.OperationCause = RebootsSpent
	}
	return a
}

// health adds the causes for MethodRepair.
func (c *check) health() {
	m := c.m
	if !m.Sick.Due() {
		detail := "no condition asks for repair"
		if !m.Sick.Next.IsZero() {
			detail = fmt.Sprintf("no condition asks for repair before %s", words.Instant(m.Sick.Next))
		}
		c.add(rule.Healthy, m.Sick.Next, "%s", detail)
		return
	}
	if m.Asks(v1.DoNotRepairAnnotationKey) {
		c.add(rule.DoNotRepair, never, "it has the annotation %s", v1.DoNotRepairAnnotationKey)
	}
	if p := m.Pool; p != nil {
		// So that 0.07 of 100 does not give 7.000000000000001.
		most := int(math.Ceil(c.cluster.opts.Repair.Share*float64(p.Nodes) - 1e-9))
		if p.Sick > most {
			c.add(rule.ManyUnhealthy, time.Time{}, "%d of %d nodes of its %s are unhealthy, and with more than %d something else is probably wrong",
				p.Sick, p.Nodes, state.PoolObject(p.Name), most)
		}
	}
}

const (
	// rebootMemory is how long a reboot counts, and rebootsSpent the number of reboots after which
	// another would not help.
	rebootMemory = 24 * time.Hour
	rebootsSpent = 2
)

// diagnose applies the repair policies to every node.
func (f *Cluster) diagnose(set *repair.Policies) {
	for _, m := range f.seen.Nodes {
		if m.Node.Node == nil || !m.Managed() {
			continue
		}
		m.Sick = set.Diagnose(f.seen.Now, m.Node.Node, m.Rebooted(), f.rebootsSpentUntil(m))
		if m.Pool != nil {
			m.Pool.Nodes++
			if m.Sick.Unhealthy {
				m.Pool.Sick++
			}
		}
	}
}

// rebootsSpentUntil returns when another reboot can be tried, zero if at any time.
func (f *Cluster) rebootsSpentUntil(m *state.StateNode) time.Time {
	times := slices.Clone(f.in.Reboots[m.NodeClaim.UID])
	if len(times) < rebootsSpent {
		return time.Time{}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times[len(times)-rebootsSpent].Add(rebootMemory)
}
