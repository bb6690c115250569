package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// describe writes the decisions of the plan down.
func describe(plan *provisioning.Plan, out *scenario.Plan) {
	out.Bound = plan.LowerBound
	out.NewNodeClaims, out.ExistingNodes = []scenario.NewNodeClaim{}, []scenario.ExistingNode{}
	for i := range plan.Create {
		out.NewNodeClaims = append(out.NewNodeClaims, claim(&plan.Create[i]))
	}
	for _, b := range plan.Bind {
		out.ExistingNodes = append(out.ExistingNodes, scenario.ExistingNode{Node: b.Node, Pods: keys(b.Pods)})
	}
	out.Errors = map[string]string{}
	for _, u := range plan.Unplaced {
		out.Errors[scenario.PodKey(u.Pod)] = u.Reason.String()
	}
	out.PlacementOrder = order(plan, out)
}

// claim states a node as the NodeClaim that would be created for it. The
// options of a node need not be all combinations of some types, zones and
// capacity types, and a claim can say no more than that; NodeClaim has narrowed
// them to some that are, so that whatever is launched for it is an option.
func claim(n *provisioning.NewNode) scenario.NewNodeClaim {
	object := n.NodeClaim()
	named := map[string]bool{}
	for _, r := range object.Spec.Requirements {
		if r.Key == corev1.LabelInstanceTypeStable {
			for _, name := range r.Values {
				named[name] = true
			}
		}
	}
	out := scenario.NewNodeClaim{
		NodePool:      n.Pool.Name,
		Requirements:  object.Spec.Requirements,
		Taints:        object.Spec.Taints,
		StartupTaints: object.Spec.StartupTaints,
		Labels:        object.Labels,
		Pods:          keys(n.Pods),
	}
	for _, o := range n.Options {
		if name := o.InstanceType.Name; named[name] {
			out.InstanceTypes = append(out.InstanceTypes, name)
			delete(named, name)
		}
	}
	return out
}

// order is that of the plan; a plan without constraints between pods may leave
// it out, and any order will do then.
func order(plan *provisioning.Plan, out *scenario.Plan) []string {
	if len(plan.Order) > 0 {
		return keys(plan.Order)
	}
	var all []string
	for _, n := range out.ExistingNodes {
		all = append(all, n.Pods...)
	}
	for _, c := range out.NewNodeClaims {
		all = append(all, c.Pods...)
	}
	return all
}

func keys(pods []*corev1.Pod) []string {
	out := make([]string, 0, len(pods))
	for _, p := range pods {
		out = append(out, scenario.PodKey(p))
	}
	return out
}
