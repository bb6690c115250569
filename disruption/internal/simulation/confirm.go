package simulation

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// ComingNode is a replacement as it will be when it has come up as the cheapest
// of its options.
func ComingNode(name string, n *provisioning.NewNode) (provisioning.Node, error) {
	option := n.Options[0]
	room, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil {
		return provisioning.Node{}, errors.New(words.FirstLine(err))
	}
	out := replacementNode(name, n)
	out.Pods = nil
	out.Node.Status.Allocatable, out.NodeClaim.Status.Allocatable = room.ResourceList(), room.ResourceList()
	out.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return out, nil
}

// HoldsAsMoved reports whether kube-scheduler can bind the pods of some nodes where to has
// them, by pod, in some order. Spare room of buffers gives way.
func (w *Simulation) HoldsAsMoved(targets []*state.StateNode, to map[string]string) bool {
	in := w.In
	in.Nodes, in.Pods, in.Buffers = slices.Clone(w.In.Nodes), nil, nil
	for _, m := range targets {
		for _, p := range m.Movable() {
			in.Pods = append(in.Pods, OnNode(p, ""))
		}
		n := &in.Nodes[w.At[m.Name]]
		*n = n.Leaving()
		n.Pods = m.Staying()
	}
	slices.SortFunc(in.Pods, state.ComparePods)
	binds := map[string][]*corev1.Pod{}
	for _, p := range in.Pods {
		binds[to[state.PodObject(p)]] = append(binds[to[state.PodObject(p)]], p)
	}
	plan := &provisioning.Plan{}
	for _, node := range slices.Sorted(maps.Keys(binds)) {
		plan.Bind = append(plan.Bind, provisioning.Binding{Node: node, Pods: binds[node]})
	}
	return landIn(in, plan, &w.Opts)
}

// landIn reports whether the pods of a plan can be bound in some order: those with topology
// spreads come first or last, and those that are refused after the others, or before.
func landIn(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) bool {
	for way := range 4 {
		plan.Order = slices.SortedStableFunc(slices.Values(in.Pods), func(a, b *corev1.Pod) int {
			return (1 - way&2) * cmp.Compare(len(b.Spec.TopologySpreadConstraints), len(a.Spec.TopologySpreadConstraints))
		})
		for range 2 + len(plan.Order) {
			late := map[string]bool{}
			for _, v := range verify.Plan(in, plan, opts) {
				if v.Pod != "" || v.Node != "" { // the accounts of the plan are left out
					late[v.Pod] = true
				}
			}
			if len(late) == 0 {
				return true
			}
			isLate := func(p *corev1.Pod) bool { return late[p.Namespace+"/"+p.Name] }
			others := slices.DeleteFunc(slices.Clone(plan.Order), isLate)
			refused := slices.DeleteFunc(slices.Clone(plan.Order), func(p *corev1.Pod) bool { return !isLate(p) })
			if len(refused) == 0 {
				return false // it is not about the order
			}
			next := slices.Concat(others, refused)
			if way&1 != 0 {
				next = slices.Concat(refused, others)
			}
			if slices.Equal(next, plan.Order) {
				break // it would be the same again
			}
			plan.Order = next
		}
	}
	return false
}
