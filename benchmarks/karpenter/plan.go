package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// longestReason is the length at which error texts are cut, in bytes. Karpenter's list every pool
// with all of its requirements.
const longestReason = 500

// describe writes the decisions to out, and replaces those of an earlier round. It sets no
// PlacementOrder, because Karpenter gives the order of pods only within each node.
func (r *round) describe(out *scenario.Plan) {
	out.NewNodeClaims, out.ExistingNodes = []scenario.NewNodeClaim{}, []scenario.ExistingNode{}
	out.Errors = map[string]string{}
	for _, n := range r.results.NewNodeClaims {
		out.NewNodeClaims = append(out.NewNodeClaims, claim(n))
	}
	for _, n := range r.results.ExistingNodes {
		if len(n.Pods) > 0 {
			out.ExistingNodes = append(out.ExistingNodes, scenario.ExistingNode{Node: n.Name(), Pods: scenario.PodKeys(n.Pods)})
		}
	}
	for pod, err := range r.results.PodErrors {
		reason := err.Error()
		if len(reason) > longestReason {
			reason = strings.ToValidUTF8(reason[:longestReason], "") + "..."
		}
		out.Errors[scenario.PodKey(pod)] = reason
	}
	r.unmentioned(out)
}

// unmentioned adds an error for each pod that was neither placed nor refused: pods that Karpenter
// does not consider at all, and pods for which no time was left.
func (r *round) unmentioned(out *scenario.Plan) {
	known := map[string]bool{}
	for _, c := range out.NewNodeClaims {
		for _, key := range c.Pods {
			known[key] = true
		}
	}
	for _, n := range out.ExistingNodes {
		for _, key := range n.Pods {
			known[key] = true
		}
	}
	asked := map[string]bool{}
	for _, pod := range r.pods {
		asked[scenario.PodKey(pod)] = true
	}
	for _, pod := range r.objects.pending {
		key := scenario.PodKey(pod)
		if _, refused := out.Errors[key]; known[key] || refused {
			continue
		}
		out.Errors[key] = "not taken up: Karpenter does not provision for it"
		if asked[key] {
			out.Errors[key] = "not reached before the timeout"
		}
	}
}

// claim converts a new node, with all options that were left when the solve ended.
func claim(n *scheduling.NodeClaim) scenario.NewNodeClaim {
	out := scenario.NewNodeClaim{
		NodePool: n.NodePoolName, Taints: n.Spec.Taints, StartupTaints: n.Spec.StartupTaints,
		Labels: maps.Clone(n.Labels), Pods: scenario.PodKeys(n.Pods),
	}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	for _, r := range n.Requirements.NodeSelectorRequirements() {
		// The scheduler adds these two labels for its own use, and leaves them out of the objects
		// that it creates.
		if r.Key == karpenterv1.NodeRegisteredLabelKey || r.Key == karpenterv1.NodeInitializedLabelKey {
			continue
		}
		values := slices.Sorted(slices.Values(r.Values))
		out.Requirements = append(out.Requirements, v1.NodeSelectorRequirementWithMinValues{
			Key: r.Key, Operator: r.Operator, Values: values, MinValues: r.MinValues,
		})
		// A requirement of a single value is the label that the node will have.
		if _, set := out.Labels[r.Key]; !set && r.Operator == corev1.NodeSelectorOpIn && len(values) == 1 {
			out.Labels[r.Key] = values[0]
		}
	}
	slices.SortFunc(out.Requirements, func(a, b v1.NodeSelectorRequirementWithMinValues) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Operator, b.Operator))
	})
	for _, t := range byPrice(n) {
		out.InstanceTypes = append(out.InstanceTypes, t.Name)
	}
	return out
}

// byPrice orders the options of a node by price, as Karpenter does when it launches the node.
func byPrice(n *scheduling.NodeClaim) cloudprovider.InstanceTypes {
	return slices.Clone(n.InstanceTypeOptions).OrderByPrice(n.Requirements)
}

// cost returns the sum of the cheapest launches of all new nodes, in USD per hour.
func (r *round) cost() float64 {
	sum := 0.0
	for _, n := range r.results.NewNodeClaims {
		cheapest := 0.0
		for _, t := range n.InstanceTypeOptions {
			for _, o := range t.Offerings.Available().Compatible(n.Requirements) {
				if cheapest == 0 || o.Price < cheapest {
					cheapest = o.Price
				}
			}
		}
		sum += cheapest
	}
	return sum
}

// truncate runs the step between solving and creating claims: each claim keeps only its cheapest
// types, up to scheduling.MaxInstanceTypes.
func (r *round) truncate() {
	r.results.TruncateInstanceTypes(r.ctx, scheduling.MaxInstanceTypes)
}
