package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/planreplay"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// describe writes the decisions of the plan to out.
func describe(plan *provisioning.Plan, out *scenario.Plan) {
	out.Bound = plan.LowerBound
	out.NewNodeClaims, out.ExistingNodes = []scenario.NewNodeClaim{}, []scenario.ExistingNode{}
	for i := range plan.Create {
		out.NewNodeClaims = append(out.NewNodeClaims, claim(&plan.Create[i]))
	}
	for _, b := range plan.Bind {
		out.ExistingNodes = append(out.ExistingNodes, scenario.ExistingNode{Node: b.Node, Pods: scenario.PodKeys(b.Pods)})
	}
	out.Errors = map[string]string{}
	for _, u := range plan.Unplaced {
		out.Errors[scenario.PodKey(u.Pod)] = u.Explanation.String()
	}
	out.PlacementOrder = order(plan, out)
}

// claim converts a node into the NodeClaim that would be created for it. The options of a node may
// be fewer than all combinations of its types, zones and capacity types, which a claim cannot
// express. NodeClaim has narrowed the options to a set that is such a product, so that every
// possible launch of the claim is an option.
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
		Pods:          scenario.PodKeys(n.Pods),
	}
	for _, o := range n.Options {
		if name := o.InstanceType.Name; named[name] {
			out.InstanceTypes = append(out.InstanceTypes, name)
			delete(named, name)
		}
	}
	return out
}

// order returns the order of the plan. A plan without constraints between pods may omit its order,
// because any order is valid.
func order(plan *provisioning.Plan, out *scenario.Plan) []string {
	if len(plan.Order) > 0 {
		return scenario.PodKeys(plan.Order)
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

// replayPlan prints the results when kube-scheduler binds the pods of a plan, with nodes that are
// open to all pods and with nodes that are reserved for their pods.
func replayPlan(out io.Writer, in provisioning.Input, plan *provisioning.Plan, options *provisioning.Options, c settings) error {
	scheduler, err := kubescheduler.Start(context.Background(), c.kubescheduler)
	if err != nil {
		return err
	}
	defer scheduler.Close()
	for _, reserved := range []bool{false, true} {
		report, err := planreplay.Plan(context.Background(), in, plan, planreplay.Options{Scheduler: scheduler, Engine: options, Reserved: reserved, Runs: c.replay})
		if err != nil {
			return err
		}
		nodes, elsewhere, left := 0, 0, 0
		for _, run := range report.Runs {
			nodes, elsewhere, left = nodes+run.Nodes, elsewhere+run.Elsewhere, left+len(run.Left)
		}
		all := float64(len(report.Runs))
		fmt.Fprintf(out, "replayed %d times, reserved %t: planned %d nodes at $%.3f/h, become %.1f at $%.3f/h (%+.2f%%), worst $%.3f/h; %.1f pods elsewhere, %.1f left\n",
			len(report.Runs), reserved, len(plan.Create), report.Planned, float64(nodes)/all, report.Expected(),
			100*(report.Expected()/report.Planned-1), report.Worst(), float64(elsewhere)/all, float64(left)/all)
	}
	return nil
}
