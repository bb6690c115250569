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

// provisioner is the controller that plans are of in Karpenter.
const provisioner = "provisioner"

// Provisioned is the reason of NodeClaims that were created for pods.
const Provisioned = "provisioned"

// Scheduled is what a plan for so many pods that waited says, and how long it took:
// karpenter_scheduler_*. A nil plan, as of an error, has the duration only.
func Scheduled(waiting int, plan *provisioning.Plan, took time.Duration) []Sample {
	labels := []string{provisioner}
	out := []Sample{{"karpenter_scheduler_scheduling_duration_seconds", labels, took.Seconds()}}
	if plan == nil {
		return out
	}
	return append(out, Sample{"karpenter_scheduler_queue_depth", labels, float64(waiting)},
		Sample{"karpenter_scheduler_unschedulable_pods_count", labels, float64(len(plan.Unplaced))})
}

// Proposed is what a proposal says of voluntary disruption, and how long it took:
// karpenter_voluntary_disruption_eligible_nodes, the nodes that it disrupts now or later,
// and karpenter_voluntary_disruption_decision_evaluation_duration_seconds. Karpenter
// evaluates one method after the other; a proposal is of all of them, so the labels of
// its duration are empty. A nil proposal, as of an error, has the duration only.
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

// Created is a NodeClaim that was created, karpenter_nodeclaims_created_total: for pods,
// where the reason is Provisioned, or in the place of others, where it is the Reason of
// their action. A nil claim has no samples.
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

// Begun is an action that was begun: karpenter_voluntary_disruption_decisions_* if it is
// voluntary, and unless it is a reboot, after which the machine is still there,
// karpenter_nodeclaims_disrupted_total and karpenter_pods_disruption_initiated_total for
// each of its targets that is among nodes, those of the Input.
//
// The label decision is the Step: replace, delete, terminate-first, reboot; a Replace
// that launches nothing counts as delete. consolidation_type is single or multi for
// Underutilized, by how many nodes go at once, and the word empty for Empty. consolidation_policy
// is that of the NodePool, for those two reasons. termination_mode is graceful without a
// terminationGracePeriod, forceful if it is zero, and otherwise eventual.
func Begun(a disruption.Action, nodes []provisioning.Node, pools []*v1.NodePool) []Sample {
	var out []Sample
	why, kind := reasonValue(string(a.Reason)), consolidationType(a.Reason, len(a.Targets))
	if disruption.Voluntary(a.Reason) {
		labels := []string{decisionValue(a.Step, len(a.Replacements)), why, kind}
		out = append(out, Sample{"karpenter_voluntary_disruption_decisions_total", labels, 1})
		var seen []string
		for _, t := range a.Targets {
			if !slices.Contains(seen, t.NodePool) {
				seen = append(seen, t.NodePool)
				out = append(out, Sample{"karpenter_voluntary_disruption_decisions_by_nodepool_total", append(slices.Clip(labels), t.NodePool), 1})
			}
		}
	}
	if a.Step == disruption.Reboot {
		return out // its machine stays
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

// NotConfirmed is an action that did not hold when it was looked at again:
// karpenter_voluntary_disruption_failed_validations_total.
func NotConfirmed(a disruption.Action) []Sample {
	return []Sample{{"karpenter_voluntary_disruption_failed_validations_total", []string{consolidationType(a.Reason, len(a.Targets))}, 1}}
}

// Undone is a command that was begun and has failed, so that what it did is undone:
// karpenter_voluntary_disruption_queue_failures_total.
func Undone(c command.Command) []Sample {
	step := disruption.Replace
	if c.Mode == command.TerminateFirst {
		step = disruption.TerminateFirst
	}
	return []Sample{{"karpenter_voluntary_disruption_queue_failures_total",
		[]string{decisionValue(step, len(c.Replacements)), reasonValue(string(c.Reason)), consolidationType(c.Reason, len(c.Sources))}, 1}}
}

func decisionValue(s disruption.Step, replacements int) string {
	switch {
	case s == disruption.TerminateFirst:
		return "terminate-first"
	case s == disruption.Replace && replacements == 0:
		return "delete"
	}
	return reasonValue(string(s))
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

// terminationMode is how long a node may take to be drained.
func terminationMode(c *v1.NodeClaim) string {
	switch d := c.Spec.TerminationGracePeriod; {
	case d == nil:
		return "graceful"
	case d.Duration <= 0:
		return "forceful"
	}
	return "eventual"
}
