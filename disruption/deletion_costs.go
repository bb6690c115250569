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
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// PodDeletionCost is a change of the annotation
// controller.kubernetes.io/pod-deletion-cost of a pod.
type PodDeletionCost struct {
	// Pod is the pod, as in the input.
	Pod *corev1.Pod
	// Node is where it runs.
	Node string
	// Cost is what to write, a number below zero. Zero: take the annotation off.
	Cost int32
}

// EditPod returns a copy of the pod with the annotation as it is to be.
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

// PodDeletionCosts says which pods of ReplicaSets are to be ended first when their
// ReplicaSet is scaled down, so that it empties the nodes that would be removed
// next: the ReplicaSet controller ends those first whose cost is least. It returns
// only what has to change.
//
// The pods of each node get one number:
//
//  1. The least there is, on nodes that are on their way out.
//  2. On nodes that have drifted in dynamic pools and may go for it, highest
//     Candidate.SavingsRatio first and then by name, as many of each pool as its
//     budgets let go now for Drifted, the next higher numbers.
//  3. Then those of other nodes of dynamic pools that nothing holds, in the same
//     order, as many as budgets let go for Underutilized. Their type must be known,
//     and consolidateAfter must not be Never, but need not have passed: pods that
//     come and go are what this is about.
//  4. None on all others, and on nodes of 2 and 3 that hold a pod that would not come
//     back elsewhere: one outside kube-system whose controller is no ReplicaSet, Job
//     or DaemonSet, other than the static pods of the node.
//
// Only the order of numbers means something, so pods keep theirs where it is right as
// it is. All that is written is below zero: a cost of zero or more has been set by
// somebody else, and stays; so does what is no number. Set
// Options.IgnorePodDeletionCost, or the numbers count in Candidate.DisruptionCost.
//
// The changes are in the order of their urgency, those that take the annotation off
// last, then by node and pod; whoever writes only some of them at a time begins at the
// front. This is the PodDeletionCostManagement of Karpenter 1.15, which overwrites what
// others have set, and numbers all nodes anew when one comes or goes. It takes O(pods)
// and sorts the nodes.
func (f *Cluster) PodDeletionCosts() []PodDeletionCost {
	var leaving, drifted, others, rest []*state.StateNode
	for _, m := range f.seen.Nodes {
		switch f.deletionClass(m) {
		case classLeaving:
			leaving = append(leaving, m)
		case classDrifted:
			drifted = append(drifted, m)
		case classRemovable:
			others = append(others, m)
		case classKept:
			rest = append(rest, m)
		}
	}
	first, over := f.withinBudgets(drifted, Drifted)
	second, more := f.withinBudgets(others, Underutilized)
	rest = append(append(rest, over...), more...)
	ranked := append(first, second...)
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
	for _, m := range rest {
		out = addDeletionCosts(m, out, 0)
	}
	slices.SortStableFunc(out, func(a, b PodDeletionCost) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Node, b.Node), state.ComparePods(a.Pod, b.Pod))
	})
	return out
}

// deletionClass is what a node is to PodDeletionCosts.
type deletionClass int

const (
	classForeign deletionClass = iota
	classLeaving
	classDrifted
	classRemovable
	classKept
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

// pins reports whether a pod of the node would not come back elsewhere.
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

// withinBudgets parts nodes into those that budgets let go for a reason, in the order
// in which they would best go, and the others.
func (f *Cluster) withinBudgets(members []*state.StateNode, reason Reason) (within, over []*state.StateNode) {
	worth := make(map[*state.StateNode]Candidate, len(members))
	for _, m := range members {
		worth[m] = f.candidate(m)
	}
	slices.SortStableFunc(members, func(a, b *state.StateNode) int { return compareSavings(worth[a], worth[b]) })
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

// ofReplicaSet reports whether a pod is one whose end its ReplicaSet chooses.
func ofReplicaSet(p *state.PodView) bool {
	c := metav1.GetControllerOf(p.Pod)
	return p.Active && c != nil && c.APIVersion == "apps/v1" && c.Kind == "ReplicaSet"
}

// writtenCost is the cost in the annotation of a pod. It reports false if the
// annotation is somebody else's.
func writtenCost(p *state.PodView) (cost int32, ours bool) {
	text, found := p.Annotations[v1.PodDeletionCostAnnotationKey]
	if !found {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil && n < 0
}

// deletionCost is the least number that a pod of the node has, other than that of
// nodes on their way out; zero without any.
func deletionCost(m *state.StateNode) int32 {
	least := int32(0)
	for _, p := range m.PodViews {
		if cost, ours := writtenCost(p); ofReplicaSet(p) && ours && cost != math.MinInt32 {
			least = min(least, cost)
		}
	}
	return least
}

// addDeletionCosts adds what has to change for the pods of the node to have a cost.
func addDeletionCosts(m *state.StateNode, out []PodDeletionCost, cost int32) []PodDeletionCost {
	for _, p := range m.PodViews {
		if written, ours := writtenCost(p); ofReplicaSet(p) && ours && written != cost {
			out = append(out, PodDeletionCost{Pod: p.Pod, Node: m.Name, Cost: cost})
		}
	}
	return out
}
