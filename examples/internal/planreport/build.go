package planreport

import (
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/inventory"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// gapOf is how far a plan is above its bound, nil if the bound says nothing.
func gapOf(plan *provisioning.Plan) *float64 {
	gap := plan.Gap()
	if math.IsInf(gap, 1) {
		return nil
	}
	gap = layout.Rounded(gap)
	return &gap
}

// New writes a plan down. It lists at most maxOptions options a node;
// zero is all.
func New(c *manifest.Cluster, in provisioning.Input, plan *provisioning.Plan, maxOptions int) *Report {
	r := &Report{
		Schema:   schema,
		Cost:     Cost{USDPerHour: layout.Rounded(plan.Cost), LowerBound: layout.Rounded(plan.LowerBound), Gap: gapOf(plan)},
		NewNodes: make([]newNode, 0, len(plan.Create)),
		Bindings: make([]binding, 0, len(plan.Bind)),
		Unplaced: Unplaced(plan.Unplaced),
		Input:    countInput(c, in),
		Stats:    stats{Classes: plan.Stats.Classes, Options: plan.Stats.Options, Steps: plan.Stats.Steps},

		Order:       make([]string, 0, len(plan.Order)),
		StaticPools: buildStaticPools(plan.Static, maxOptions),
		Buffers:     buildBuffers(plan.Buffers),
		Overlays:    buildOverlays(plan.Overlays),
	}
	for _, pod := range plan.Order {
		r.Order = append(r.Order, podName(pod))
	}
	for i := range plan.Create {
		r.NewNodes = append(r.NewNodes, buildNewNode(&plan.Create[i], maxOptions))
		r.Cost.NodeCost += plan.Create[i].Options[0].Offering.NodeCost
	}
	r.Cost.NodeCost = layout.Rounded(r.Cost.NodeCost)
	nodes := make(map[string]*provisioning.Node, len(in.Nodes))
	for i := range in.Nodes {
		nodes[in.Nodes[i].Name()] = &in.Nodes[i]
	}
	for _, b := range plan.Bind {
		r.Bindings = append(r.Bindings, buildBinding(b, nodes[b.Node], in.DaemonSetPods))
	}
	return r
}

// Unplaced writes pods without a place down.
func Unplaced(list []provisioning.Unplaced) []UnplacedPod {
	out := make([]UnplacedPod, 0, len(list))
	for _, u := range list {
		out = append(out, UnplacedPod{podRef: refTo(u.Pod), Reason: buildReason(u.Reason)})
	}
	return out
}

func countInput(c *manifest.Cluster, in provisioning.Input) inputCounts {
	counts := inputCounts{
		NodePools:  len(in.NodePools),
		Nodes:      len(in.Nodes),
		Pods:       len(in.Pods),
		DaemonSets: len(in.DaemonSetPods),
		Ignored:    map[string]int{},
		Notes:      append([]string{}, c.Notes...),
	}
	for _, types := range in.InstanceTypes {
		counts.InstanceTypes = max(counts.InstanceTypes, len(types))
	}
	for _, k := range c.Ignored {
		counts.Ignored[k.Kind] = k.Count
	}
	return counts
}

func buildNewNode(n *provisioning.NewNode, maxOptions int) newNode {
	best := n.Options[0]
	node := newNode{
		Name:             n.Name,
		NodePool:         n.Pool.Name,
		InstanceType:     best.InstanceType.Name,
		Zone:             best.Offering.Zone,
		CapacityType:     best.Offering.CapacityType,
		USDPerHour:       layout.Rounded(n.Price()),
		NodeCost:         layout.Rounded(n.Options[0].Offering.NodeCost),
		Requests:         amounts(n.Requests),
		DaemonRequests:   amounts(n.Daemons),
		MinValuesRelaxed: n.MinValuesRelaxed,
		Requirements:     n.Requirements.NodeSelectorRequirements(),
		Pods:             refsTo(n.Pods),
		Labels:           map[string]string{},
		OptionCount:      len(n.Options),
		Options:          buildOptions(n.Options, maxOptions),
	}
	for _, m := range n.MissedMinValues() {
		node.MissedMinValues = append(node.MissedMinValues, missedMinValues(m))
	}
	maps.Copy(node.Labels, n.Labels)
	used, err := n.Requests.Add(n.Daemons)
	allocatable, allocErr := best.InstanceType.AllocatableFor(best.Offering)
	if err == nil && allocErr == nil {
		node.Utilization = inventory.Share(used, allocatable)
	}
	return node
}

func buildOption(o cloudprovider.LaunchOption) option {
	return option{
		InstanceType:  o.InstanceType.Name,
		Zone:          o.Offering.Zone,
		CapacityType:  o.Offering.CapacityType,
		ReservationID: o.Offering.ReservationID,
		USDPerHour:    layout.Rounded(o.Offering.Price),
	}
}

func buildBinding(b provisioning.Binding, node *provisioning.Node, daemons []*corev1.Pod) binding {
	out := binding{Node: b.Node, Pods: refsTo(b.Pods)}
	if node == nil {
		return out
	}
	labels := inventory.Labels(node)
	out.NodePool = labels["karpenter.sh/nodepool"]
	out.InstanceType = labels[corev1.LabelInstanceTypeStable]
	out.Zone = labels[corev1.LabelTopologyZone]
	out.CapacityType = labels["karpenter.sh/capacity-type"]
	out.Utilization = inventory.Use(inventory.Allocatable(node), node.Pods, b.Pods, inventory.DaemonsToCome(node, daemons))
	return out
}

func buildReason(r *provisioning.Reason) reason {
	out := reason{Cause: string(r.Cause), Message: r.String(), Detail: beyond(r.Detail, r.String()), NodePools: []poolReason{}}
	for i := range r.Pools {
		out.NodePools = append(out.NodePools, buildPoolReason(&r.Pools[i]))
	}
	for cause, n := range r.ExistingNodes {
		if out.ExistingNodes == nil {
			out.ExistingNodes = map[string]int{}
		}
		out.ExistingNodes[string(cause)] = n
	}
	return out
}

// beyond is a detail that says more than the message does.
func beyond(detail, message string) string {
	if detail == message {
		return ""
	}
	return detail
}

func buildPoolReason(p *provisioning.PoolReason) poolReason {
	out := poolReason{NodePool: p.NodePool, Cause: string(p.Cause), Message: p.String(), Detail: beyond(p.Detail, p.String())}
	for _, t := range p.Taints {
		out.Taints = append(out.Taints, t.ToString())
	}
	for _, c := range p.Conflicts {
		out.Conflicts = append(out.Conflicts, conflict{Key: c.Key, Have: c.Have.String(), Want: c.Want.String(), Hint: c.Hint})
	}
	for _, s := range p.Shortfalls {
		out.Shortfalls = append(out.Shortfalls, shortfall{
			Resource:     string(s.Resource),
			Requested:    resources.Format(s.Resource, s.Requested),
			Daemons:      resources.Format(s.Resource, s.Daemons),
			Largest:      resources.Format(s.Resource, s.Largest),
			InstanceType: s.InstanceType,
		})
	}
	out.OptionCount = p.Options
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, step{Constraint: s.Constraint, Removed: s.Removed, Left: s.Left})
	}
	return out
}

func refTo(pod *corev1.Pod) podRef {
	w := inventory.WorkloadOf(pod)
	return podRef{Namespace: pod.Namespace, Name: pod.Name, Owner: w.Kind + "/" + w.Name, workload: w}
}

func refsTo(pods []*corev1.Pod) []podRef {
	refs := make([]podRef, 0, len(pods))
	for _, pod := range pods {
		refs = append(refs, refTo(pod))
	}
	return refs
}

func amounts(l resources.List) map[string]string {
	out := make(map[string]string, l.Len())
	for name, amount := range l.All() {
		out[string(name)] = resources.Format(name, amount)
	}
	return out
}
