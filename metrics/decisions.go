package metrics

import (
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// provisioner is Karpenter's value of the label controller for plans.
const provisioner = "provisioner"

// Provisioned is the reason of NodeClaims that were created for pods.
const Provisioned = "provisioned"

// Scheduled returns the samples of a plan for waiting pods and of its duration:
// karpenter_scheduler_*. For a nil plan, after an error, it returns only the duration.
func Scheduled(waiting int, plan *provisioning.Plan, took time.Duration) []Sample {
	labels := []string{provisioner}
	out := []Sample{{"karpenter_scheduler_scheduling_duration_seconds", labels, took.Seconds()}}
	if plan == nil {
		return out
	}
	return append(out, Sample{"karpenter_scheduler_queue_depth", labels, float64(waiting)},
		Sample{"karpenter_scheduler_unschedulable_pods_count", labels, float64(len(plan.Unplaced))})
}

// Proposed returns the samples of a proposal's voluntary disruptions and of its duration:
// karpenter_voluntary_disruption_eligible_nodes, the nodes that it disrupts now or later, and
// karpenter_voluntary_disruption_decision_evaluation_duration_seconds. Karpenter evaluates its
// methods one by one; a proposal covers all of them, so the labels of its duration are empty. For a
// nil proposal, after an error, it returns only the duration.
func Proposed(p *disruption.Proposal, took time.Duration) []Sample {
	out := []Sample{{"karpenter_voluntary_disruption_decision_evaluation_duration_seconds", []string{"", ""}, took.Seconds()}}
	if p == nil {
		return out
	}
	nodes := map[disruption.Reason]int{}
	for _, a := range p.Actions {
		nodes[a.Reason] += len(a.Targets)
	}
	for _, w := range p.Waiting {
		nodes[w.Action.Reason] += len(w.Action.Targets)
	}
	for _, r := range []disruption.Reason{disruption.Drifted, disruption.Empty, disruption.Underutilized, disruption.Unhealthy} {
		out = append(out, Sample{"karpenter_voluntary_disruption_eligible_nodes", []string{reasonValue(string(r))}, float64(nodes[r])})
	}
	return out
}

// Created returns the sample of a created NodeClaim, karpenter_nodeclaims_created_total. The reason
// is Provisioned for one that was created for pods, and the Reason of the action for a replacement.
// A nil claim has no samples.
func Created(claim *v1.NodeClaim, reason string) []Sample {
	if claim == nil {
		return nil
	}
	relaxed := "false"
	if claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] == "true" {
		relaxed = "true"
	}
	return []Sample{{"karpenter_nodeclaims_created_total", []string{snake(reason), claim.Labels[v1.NodePoolLabelKey], relaxed}, 1}}
}

// Begun returns the samples of an action that has begun: karpenter_voluntary_disruption_decisions_*
// if it is voluntary, and unless it is a reboot, which keeps the machine,
// karpenter_nodeclaims_disrupted_total and karpenter_pods_disruption_initiated_total for each of
// its targets that is in nodes, the nodes of the Input.
//
// The label decision is the Operation: replace, delete, terminate-first, reboot.
// consolidation_type is single or multi for
// Underutilized, by how many nodes go at once, and the word empty for Empty. consolidation_policy
// is that of the NodePool, for those two reasons. termination_mode is graceful without a
// terminationGracePeriod, forceful if it is zero, and otherwise eventual.
func Begun(a disruption.Action, nodes []provisioning.Node, pools []*v1.NodePool) []Sample {
	var out []Sample
	why, kind := reasonValue(string(a.Reason)), consolidationType(a.Reason, len(a.Targets))
	if disruption.Voluntary(a.Reason) {
		labels := []string{decisionValue(a.Operation), why, kind}
		out = append(out, Sample{"karpenter_voluntary_disruption_decisions_total", labels, 1})
		var seen []string
		for _, t := range a.Targets {
			if !slices.Contains(seen, t.NodePool) {
				seen = append(seen, t.NodePool)
				out = append(out, Sample{"karpenter_voluntary_disruption_decisions_by_nodepool_total", append(slices.Clip(labels), t.NodePool), 1})
			}
		}
	}
	if a.Operation == disruption.Reboot {
		return out // a reboot keeps the machine
	}
	for _, t := range a.Targets {
		i := slices.IndexFunc(nodes, func(n provisioning.Node) bool { return n.NodeClaim != nil && n.NodeClaim.Name == t.NodeClaim })
		if i < 0 {
			continue
		}
		claim, policy := nodes[i].NodeClaim, ""
		if kind != "" {
			for _, p := range pools {
				if p != nil && p.Name == t.NodePool {
					policy = snake(string(p.Spec.Disruption.ConsolidationPolicy))
				}
			}
		}
		labels := []string{snake(string(a.Reason)), t.NodePool, claim.Labels[v1.CapacityTypeLabelKey], policy, terminationMode(claim)}
		pods := 0
		for _, p := range nodes[i].Pods {
			if p != nil && !podlife.OfDaemonSet(p) && p.DeletionTimestamp == nil {
				pods++
			}
		}
		out = append(out, Sample{"karpenter_nodeclaims_disrupted_total", labels, 1},
			Sample{"karpenter_pods_disruption_initiated_total", labels, float64(pods)})
	}
	return out
}

// NotConfirmed returns the sample of an action that was not confirmed when it was checked again:
// karpenter_voluntary_disruption_failed_validations_total.
func NotConfirmed(a disruption.Action) []Sample {
	return []Sample{{"karpenter_voluntary_disruption_failed_validations_total", []string{consolidationType(a.Reason, len(a.Targets))}, 1}}
}

// Undone returns the sample of a command that has begun, failed and was rolled back:
// karpenter_voluntary_disruption_queue_failures_total.
func Undone(c command.Command) []Sample {
	operation := disruption.Replace
	switch {
	case c.Mode == command.TerminateFirst:
		operation = disruption.TerminateFirst
	case len(c.Replacements) == 0:
		operation = disruption.Delete
	}
	return []Sample{{"karpenter_voluntary_disruption_queue_failures_total",
		[]string{decisionValue(operation), reasonValue(string(c.Reason)), consolidationType(c.Reason, len(c.Sources))}, 1}}
}

func decisionValue(o disruption.Operation) string {
	if o == disruption.TerminateFirst {
		return "terminate-first"
	}
	return reasonValue(string(o))
}

func consolidationType(r disruption.Reason, nodes int) string {
	switch {
	case r == disruption.Empty:
		return "empty"
	case r != disruption.Underutilized:
		return ""
	case nodes == 1:
		return "single"
	}
	return "multi"
}

// terminationMode returns the value of the label termination_mode.
func terminationMode(c *v1.NodeClaim) string {
	switch d := c.Spec.TerminationGracePeriod; {
	case d == nil:
		return "graceful"
	case d.Duration <= 0:
		return "forceful"
	}
	return "eventual"
}
