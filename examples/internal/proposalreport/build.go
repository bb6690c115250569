package proposalreport

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/inventory"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// New writes a proposal for a cluster down.
func New(now time.Time, in disruption.Input, p *disruption.Proposal) *Report {
	r := &Report{
		Schema: schema, Now: now, Before: stateOf(in), Actions: actionsOf(in, p.Actions), Waiting: []waiting{},
		Next: optional(p.Next), Truncated: p.Truncated, Unknown: p.UnknownPrices, Unmanaged: unmanaged(in), Warnings: []string{},
		Search: countsOf(p),
	}
	for _, w := range p.Waiting {
		r.Waiting = append(r.Waiting, waiting{action: actionOf(in, w.Action), For: w.For, Why: w.Why, Until: optional(w.Until)})
	}
	for _, w := range p.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	r.leave(p)
	return r
}

func countsOf(p *disruption.Proposal) searchCounts {
	return searchCounts{p.Stats.Candidates, p.Stats.Steps, p.Stats.WhatIfs, p.Stats.Simulations}
}

// leave lists the nodes that a proposal is not about.
func (r *Report) leave(p *disruption.Proposal) {
	about := map[string]bool{}
	for _, a := range p.Actions {
		for _, t := range a.Targets {
			about[t.Node] = true
		}
	}
	for _, w := range p.Waiting {
		for _, t := range w.Targets {
			about[t.Node] = true
		}
	}
	r.LeftAlone = []NodeLeft{}
	for _, b := range p.Blocked { // sorted by node
		if about[b.Node] {
			continue
		}
		if n := len(r.LeftAlone); n == 0 || r.LeftAlone[n-1].Node != b.Node {
			r.LeftAlone = append(r.LeftAlone, NodeLeft{Node: b.Node, NodePool: b.NodePool})
		}
		left := &r.LeftAlone[len(r.LeftAlone)-1]
		left.Reasons = append(left.Reasons, Reason{Method: string(b.Method), Rule: string(b.Code), Object: b.Object, Detail: b.Detail, Until: optional(b.Until)})
	}
}

func roundsOf(rounds []round) []roundReport {
	out := make([]roundReport, 0, len(rounds))
	for _, r := range rounds {
		if len(r.proposal.Actions) == 0 {
			continue
		}
		total := stateOf(r.after).Total
		out = append(out, roundReport{Now: r.now, Actions: actionsOf(r.input, r.proposal.Actions), Waiting: len(r.proposal.Waiting),
			PodsPlaced: r.pending, Launched: r.launched, Nodes: total.Nodes, USDPerHour: total.USDPerHour})
	}
	return out
}

func actionsOf(in disruption.Input, list []disruption.Action) []action {
	out := make([]action, 0, len(list))
	for _, a := range list {
		out = append(out, actionOf(in, a))
	}
	return out
}

func actionOf(in disruption.Input, a disruption.Action) action {
	out := action{
		Step: string(a.Step), Reason: string(a.Reason), Cause: a.Cause, StepCause: a.StepCause, Detail: a.Detail, Simulated: a.Simulated,
		Nodes: []nodeRef{}, Replacements: []replacement{}, Moves: []move{},
		Savings: layout.Rounded(a.Savings), DisruptionCost: layout.Rounded(a.DisruptionCost),
	}
	for _, t := range a.Targets {
		ref := refTo(in, t)
		out.Nodes = append(out.Nodes, ref)
		if a.Step == disruption.Delete && !a.Simulated && a.Reason != disruption.Empty {
			out.Savings = layout.Rounded(out.Savings + ref.USDPerHour)
		}
	}
	for i := range a.Replacements {
		n := &a.Replacements[i]
		best := n.Options[0]
		out.Replacements = append(out.Replacements, replacement{NodePool: n.Pool.Name, InstanceType: best.InstanceType.Name, Zone: best.Offering.Zone,
			CapacityType: best.Offering.CapacityType, USDPerHour: layout.Rounded(n.Price()), OptionCount: len(n.Options)})
	}
	for _, m := range a.Moves {
		to := m.Node
		if m.Replacement >= 0 {
			to = fmt.Sprintf("replacement-%d", m.Replacement)
		}
		out.Moves = append(out.Moves, move{Namespace: m.Pod.Namespace, Name: m.Pod.Name, From: m.From, To: to, workload: inventory.WorkloadOf(m.Pod).Path()})
	}
	return out
}

// refTo says what a node is.
func refTo(in disruption.Input, t disruption.Target) nodeRef {
	ref := nodeRef{Node: t.String(), NodePool: t.NodePool}
	i := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == t.Node })
	if i < 0 {
		return ref
	}
	labels := inventory.Labels(&in.Nodes[i])
	ref.InstanceType, ref.Zone, ref.CapacityType = labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelTopologyZone], labels[capacityTypeLabel]
	price, _ := priceOf(in, &in.Nodes[i])
	ref.USDPerHour = layout.Rounded(price)
	return ref
}

// optional is nil for an instant that never comes.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
