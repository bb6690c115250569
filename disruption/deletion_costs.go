package disruption

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/deletioncost"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// PodDeletionCost is a change to the annotation controller.kubernetes.io/pod-deletion-cost of a
// pod.
type PodDeletionCost struct {
	// Pod is the pod, as in the input.
	Pod *corev1.Pod
	// Node is the name of the pod's node.
	Node string
	// Cost is the value to write, negative. Zero means to remove the annotation.
	Cost int32
}

// EditPod returns a copy of the pod with the annotation changed.
func (c PodDeletionCost) EditPod() *corev1.Pod {
	out := *c.Pod
	out.Annotations = maps.Clone(out.Annotations)
	if c.Cost == 0 {
		delete(out.Annotations, v1.PodDeletionCostAnnotationKey)
	} else {
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, v1.PodDeletionCostAnnotationKey, strconv.Itoa(int(c.Cost)))
	}
	return &out
}

// PodDeletionCosts decides which pods of ReplicaSets should end first when their ReplicaSet is
// scaled down, so that the nodes to be removed next become empty: the ReplicaSet controller ends
// the pods with the lowest cost first. It returns only the changes that are needed.
//
// The pods of each node get the same number:
//
//  1. The lowest number, on terminating nodes.
//  2. The next higher numbers, on drifted nodes of dynamic pools that may be removed for drift, as
//     many of each pool as its budgets allow now for Drifted. The first are those whose pods account
//     for the least share of the price of the node, and then those with the highest
//     Candidate.SavingsRatio. A pod accounts for what its requests cost at the best rate of the catalog
//     for such a pod: the price of an option, times the largest share of a resource. The last are nodes
//     with a pod that no new node could have.
//  3. The next higher numbers, on other nodes of dynamic pools without protection, in the same
//     order, as many as budgets allow for Underutilized. Their instance type must be known.
//     consolidateAfter must not be Never, but need not have passed, because nodes with changing
//     pods are the purpose.
//  4. No number on all other nodes. These include nodes of 2 and 3 with a pod that would not be
//     created again elsewhere: a pod outside kube-system whose controller is no ReplicaSet, Job or
//     DaemonSet, except static pods.
//
// Only the order of the numbers matters, so pods keep theirs where the order is right. All written
// numbers are negative. A value of zero or more, or one that is no number, belongs to another
// program and is kept. Set Options.IgnorePodDeletionCost; otherwise the numbers count in
// Candidate.DisruptionCost.
//
// The changes are sorted by urgency, removals of the annotation last, then by node and pod. A
// program that writes only some of them at a time should start with the first. This is the
// PodDeletionCostManagement of Karpenter 1.15, which overwrites values of other programs and
// renumbers all nodes when one is added or removed, and which orders nodes by SavingsRatio. Which pods a
// ReplicaSet ends costs no evictions, so the nodes that are used least come first here.
//
// PodDeletionCosts reads the catalogs and the pods as Propose does, without a search, and takes a
// fraction of its time. With Input.CatalogCache it reads only the pods. Next does not tell when the
// result changes: a budget counts here even on a pool whose nodes are no candidates now.
func (f *Cluster) PodDeletionCosts() []PodDeletionCost {
	leaving, ranked, over, rest := f.deletionOrder(f.unused)
	present := make([]int32, len(ranked))
	for i, m := range ranked {
		present[i] = deletionCost(m)
	}
	var out []PodDeletionCost
	for _, m := range leaving {
		out = addDeletionCosts(m, out, math.MinInt32)
	}
	for i, cost := range deletioncost.Ranks(present) {
		out = addDeletionCosts(ranked[i], out, cost)
	}
	for _, m := range slices.Concat(over, rest) {
		out = addDeletionCosts(m, out, 0)
	}
	slices.SortStableFunc(out, func(a, b PodDeletionCost) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Node, b.Node), state.ComparePods(a.Pod, b.Pod))
	})
	return out
}

// deletionOrder returns the nodes in the groups of PodDeletionCosts. leaving is group 1. ranked is
// groups 2 and 3: in each the nodes with the largest value of first come first, and nodes of equal values
// as compareSavings says. A nil first gives all nodes one value. over is the nodes that only budgets keep
// from groups 2 and 3, and rest the other nodes of group 4. Nodes that other programs manage are in none.
func (f *Cluster) deletionOrder(first func([]*state.StateNode) map[*state.StateNode]float64) (leaving, ranked, over, rest []*state.StateNode) {
	var of [deletionClasses][]*state.StateNode
	for _, m := range f.seen.Nodes {
		class := f.deletionClass(m)
		of[class] = append(of[class], m)
	}
	drifted, others := of[classDrifted], of[classRemovable]
	var value map[*state.StateNode]float64
	if first != nil {
		value = first(slices.Concat(drifted, others))
	}
	within, late := f.withinBudgets(drifted, Drifted, value)
	more, over := f.withinBudgets(others, Underutilized, value)
	return of[classLeaving], append(within, more...), append(late, over...), of[classKept]
}

// deletionClass is the group of a node for deletionOrder.
type deletionClass int

const (
	classForeign deletionClass = iota
	classLeaving
	classDrifted
	classRemovable
	classKept
	deletionClasses // their number
)

func (f *Cluster) deletionClass(m *state.StateNode) deletionClass {
	switch {
	case !m.Managed() || m.Node.Node == nil:
		return classForeign
	case m.Marked() || status.HasTaint(m.Node.Node, v1.DisruptedNoScheduleTaint()):
		return classLeaving
	case m.Pool == nil || m.Pool.Static() || m.InstanceType == nil || pins(m):
		return classKept
	case len(f.check(m, MethodDrift)) == 0:
		return classDrifted
	case m.Pool.ConsolidateAfter.Duration == nil || len(f.check(m, MethodInterruption)) > 0:
		return classKept
	}
	return classRemovable
}

// pins reports whether the node has a pod that would not be created again elsewhere.
func pins(m *state.StateNode) bool {
	return slices.ContainsFunc(m.PodViews, func(p *state.PodView) bool {
		if !p.Active || p.Namespace == metav1.NamespaceSystem || state.IsMirror(p.Pod) {
			return false
		}
		switch c := metav1.GetControllerOf(p.Pod); {
		case c == nil:
			return true
		case c.APIVersion == "v1" && c.Kind == "Node":
			return false
		default:
			return !(c.APIVersion == "apps/v1" && (c.Kind == "ReplicaSet" || c.Kind == "DaemonSet") ||
				c.APIVersion == "batch/v1" && c.Kind == "Job")
		}
	})
}

// unused returns, by node, the share of its price that its pods do not account for. A single node has
// nothing to be compared with, and gets no value.
func (f *Cluster) unused(nodes []*state.StateNode) map[*state.StateNode]float64 {
	if len(nodes) < 2 {
		return nil
	}
	return simulation.Unused(f.seen, f.simulationConfig(), nodes)
}

// withinBudgets sorts nodes by value, as deletionOrder says, and divides them: budgets allow all nodes in
// within to be removed for the reason, and none of those in over as well.
func (f *Cluster) withinBudgets(members []*state.StateNode, reason Reason, value map[*state.StateNode]float64) (within, over []*state.StateNode) {
	worth := make(map[*state.StateNode]Candidate, len(members))
	for _, m := range members {
		worth[m] = f.candidate(m)
	}
	slices.SortStableFunc(members, func(a, b *state.StateNode) int {
		return cmp.Or(cmp.Compare(value[b], value[a]), compareSavings(worth[a], worth[b]))
	})
	q := admission.NewQuota(f.newGate(), reason)
	for _, m := range members {
		if full := q.Take(m); full.Bad() {
			over = append(over, m)
		} else {
			within = append(within, m)
		}
	}
	return within, over
}

// ofReplicaSet reports whether a ReplicaSet decides when a pod ends.
func ofReplicaSet(p *state.PodView) bool {
	c := metav1.GetControllerOf(p.Pod)
	return p.Active && c != nil && c.APIVersion == "apps/v1" && c.Kind == "ReplicaSet"
}

// writtenCost returns the cost in the annotation of a pod, 0 without one. ours is false if the
// annotation belongs to another program.
func writtenCost(p *state.PodView) (cost int32, ours bool) {
	text, found := p.Annotations[v1.PodDeletionCostAnnotationKey]
	if !found {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil && n < 0
}

// deletionCost returns the lowest number of a pod on the node, apart from the one for terminating
// nodes; zero if there is none.
func deletionCost(m *state.StateNode) int32 {
	least := int32(0)
	for _, p := range m.PodViews {
		if cost, ours := writtenCost(p); ofReplicaSet(p) && ours && cost != math.MinInt32 {
			least = min(least, cost)
		}
	}
	return least
}

// addDeletionCosts adds the changes by which the pods of a node get a cost.
func addDeletionCosts(m *state.StateNode, out []PodDeletionCost, cost int32) []PodDeletionCost {
	for _, p := range m.PodViews {
		if written, ours := writtenCost(p); ofReplicaSet(p) && ours && written != cost {
			out = append(out, PodDeletionCost{Pod: p.Pod, Node: m.Name, Cost: cost})
		}
	}
	return out
}
