package disruption

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// SoftTaint is a change of the taint v1.DeletionCandidateTaintKey of a Node.
type SoftTaint struct {
	// Node is the Node, as in the input.
	Node *corev1.Node
	// Remove means that the taint has to be removed. Otherwise it has to be added.
	Remove bool
}

// EditNode returns a copy of the Node with the change.
func (t SoftTaint) EditNode() *corev1.Node {
	out := *t.Node
	out.Spec.Taints = slices.DeleteFunc(slices.Clone(out.Spec.Taints), isSoftTaint)
	if !t.Remove {
		out.Spec.Taints = append(out.Spec.Taints, corev1.Taint{Key: v1.DeletionCandidateTaintKey, Effect: corev1.TaintEffectPreferNoSchedule})
	}
	return &out
}

func isSoftTaint(t corev1.Taint) bool { return t.Key == v1.DeletionCandidateTaintKey }

// SoftTaints decides which nodes new pods should avoid while other nodes have room for them. Pods
// that come and go by themselves then empty these nodes, and fewer pods are evicted. By default
// kube-scheduler binds a pod to the emptiest node, which is the node to be removed next. But it
// prefers nodes without a taint of effect PreferNoSchedule.
//
// The nodes are those of groups 2 and 3 of PodDeletionCosts with the highest Candidate.SavingsRatio, at
// most a fifth of all nodes, rounded up, and the nodes in unneeded, which is the result of Unneeded for
// this cluster or for an earlier state of it. Nodes in unneeded that are in neither group for another
// cause than budgets stay without the taint. At least one node stays without it, because kube-scheduler
// compares nodes with each other.
//
// The result has only the changes that are needed: first the taints to add, then the taints to
// remove, each sorted by node. Terminating nodes, and nodes without a NodeClaim, are not changed.
//
// Plans ignore the taint: pods are planned onto such a node like onto any other node. Cluster
// Autoscaler uses a soft taint on nodes that it does not need in the same way. The call takes
// O(pods) time and sorts the nodes.
func (f *Cluster) SoftTaints(unneeded ...string) []SoftTaint {
	leaving, ranked, over, rest := f.deletionOrder(nil)
	all := len(leaving) + len(ranked) + len(over) + len(rest)
	first := min(len(ranked), (all+softShare-1)/softShare)
	avoided, open := slices.Clone(ranked[:first]), slices.Clone(rest)
	named := make(map[string]bool, len(unneeded))
	for _, name := range unneeded {
		named[name] = true
	}
	for _, m := range slices.Concat(ranked[first:], over) {
		if named[m.Name] {
			avoided = append(avoided, m)
		} else {
			open = append(open, m)
		}
	}
	if most := all - 1; 0 < len(avoided) && most < len(avoided) {
		open, avoided = append(open, avoided[most:]...), avoided[:most]
	}
	return append(changeTaints(avoided, false), changeTaints(open, true)...)
}

// softShare is how many nodes there are for each node with the taint.
const softShare = 5

// changeTaints lists the nodes where the taint has to be added or removed, by name.
func changeTaints(nodes []*state.StateNode, remove bool) []SoftTaint {
	var out []SoftTaint
	for _, m := range nodes {
		if slices.ContainsFunc(m.Node.Node.Spec.Taints, isSoftTaint) == remove {
			out = append(out, SoftTaint{Node: m.Node.Node, Remove: remove})
		}
	}
	slices.SortFunc(out, func(a, b SoftTaint) int { return strings.Compare(a.Node.Name, b.Node.Name) })
	return out
}
