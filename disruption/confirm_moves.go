package disruption

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// moveTaintKey is a taint that no cluster has: each node bears it with its own name,
// and a pod tolerates that of the node it is to go to.
const moveTaintKey = "dovetail-sdk.github.io/move-to"

// coming is the name of a replacement of the action.
func (c *confirmation) coming(i int) string { return fmt.Sprintf("%s~%d", c.a.Targets[0].Node, i) }

// asMoved is a world in which each pod of the targets may go only where the action
// moves it. Nodes and pods are tied by taints: a node selector would keep all other
// nodes from counting as domains of a topology spread. Where a pod has a spread for
// which taints do the same there is no such world. Spare room of buffers gives way.
func (c *confirmation) asMoved(w *world) (*world, bool) {
	if honorsTaints(w.opts.DefaultSpread) {
		return nil, false
	}
	to := map[string]string{}
	for _, m := range c.a.Moves {
		node := m.Node
		if m.Replacement >= 0 {
			node = c.coming(m.Replacement)
		}
		to[podObject(m.Pod)] = node
	}
	out := *w
	out.in.Nodes = slices.Clone(w.in.Nodes)
	for i, n := range out.in.Nodes {
		out.in.Nodes[i] = withMoveTaint(n)
	}
	for _, m := range c.targets() {
		n := &out.in.Nodes[out.at[m.name]]
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), isSpare)
		for i, p := range n.Pods {
			if honorsTaints(p.Spec.TopologySpreadConstraints) {
				return nil, false
			}
			n.Pods[i] = withMoveToleration(p, to[podObject(p)])
		}
	}
	out.in.DaemonSetPods = slices.Clone(w.in.DaemonSetPods)
	for i, p := range out.in.DaemonSetPods {
		if p != nil {
			out.in.DaemonSetPods[i] = withMoveToleration(p, "")
		}
	}
	out.market, out.shared = nil, nil
	out.compile()
	return &out, out.refused == nil
}

// withMoveTaint is a node that takes only the pods that move there.
func withMoveTaint(n provisioning.Node) provisioning.Node {
	taint := corev1.Taint{Key: moveTaintKey, Value: n.Name(), Effect: corev1.TaintEffectNoSchedule}
	if n.Node != nil {
		node := *n.Node
		node.Spec.Taints = append(slices.Clone(node.Spec.Taints), taint)
		n.Node = &node
		return n
	}
	if n.NodeClaim != nil {
		claim := *n.NodeClaim
		claim.Spec.Taints = append(slices.Clone(claim.Spec.Taints), taint)
		n.NodeClaim = &claim
	}
	return n
}

// withMoveToleration is a pod that goes to a node, or anywhere if that is empty.
func withMoveToleration(p *corev1.Pod, node string) *corev1.Pod {
	out := *p
	t := corev1.Toleration{Key: moveTaintKey, Operator: corev1.TolerationOpExists}
	if node != "" {
		t = corev1.Toleration{Key: moveTaintKey, Operator: corev1.TolerationOpEqual, Value: node}
	}
	out.Spec.Tolerations = append(slices.Clone(p.Spec.Tolerations), t)
	return &out
}

// isSpare reports whether a pod is one of a buffer, or none at all.
func isSpare(p *corev1.Pod) bool {
	if p == nil {
		return true
	}
	_, _, spare := provisioning.BufferOf(p)
	return spare
}

// honorsTaints reports whether one of some topology spreads counts only nodes whose
// taints the pod tolerates.
func honorsTaints(spreads []corev1.TopologySpreadConstraint) bool {
	return slices.ContainsFunc(spreads, func(c corev1.TopologySpreadConstraint) bool { return honors(c.NodeTaintsPolicy) })
}

// honors reports whether a policy of a topology spread is Honor, which is not the
// default for taints.
func honors(policy *corev1.NodeInclusionPolicy) bool {
	return policy != nil && *policy == corev1.NodeInclusionPolicyHonor
}
