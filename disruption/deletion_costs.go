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
	var leaving, drifted, others, rest []*stateNode
	for _, m := range f.nodes {
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
		present[i] = m.deletionCost()
	}
	var out []PodDeletionCost
	for _, m := range leaving {
		out = m.addDeletionCosts(out, math.MinInt32)
	}
	for i, cost := range rankCosts(present) {
		out = ranked[i].addDeletionCosts(out, cost)
	}
	for _, m := range rest {
		out = m.addDeletionCosts(out, 0)
	}
	slices.SortStableFunc(out, func(a, b PodDeletionCost) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Node, b.Node), comparePods(a.Pod, b.Pod))
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

func (f *Cluster) deletionClass(m *stateNode) deletionClass {
	switch {
	case !m.managed() || m.Node.Node == nil:
		return classForeign
	case m.marked() || hasTaint(m.Node.Node, v1.DisruptedNoScheduleTaint()):
		return classLeaving
	case m.pool == nil || m.pool.static() || m.instanceType == nil || m.pins():
		return classKept
	case len(f.check(m, MethodDrift)) == 0:
		return classDrifted
	case m.pool.consolidateAfter.Duration == nil || len(f.check(m, MethodInterruption)) > 0:
		return classKept
	}
	return classRemovable
}

// pins reports whether a pod of the node would not come back elsewhere.
func (m *stateNode) pins() bool {
	return slices.ContainsFunc(m.pods, func(p *podView) bool {
		if !p.active || p.Namespace == metav1.NamespaceSystem || isMirror(p.Pod) {
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
func (f *Cluster) withinBudgets(members []*stateNode, reason Reason) (within, over []*stateNode) {
	worth := make(map[*stateNode]Candidate, len(members))
	for _, m := range members {
		worth[m] = f.candidate(m)
	}
	slices.SortStableFunc(members, func(a, b *stateNode) int { return compareSavings(worth[a], worth[b]) })
	q := f.newQuota(reason, nil)
	for _, m := range members {
		if full := q.take(m); full.bad() {
			over = append(over, m)
		} else {
			within = append(within, m)
		}
	}
	return within, over
}

// ofReplicaSet reports whether a pod is one whose end its ReplicaSet chooses.
func (p *podView) ofReplicaSet() bool {
	c := metav1.GetControllerOf(p.Pod)
	return p.active && c != nil && c.APIVersion == "apps/v1" && c.Kind == "ReplicaSet"
}

// writtenCost is the cost in the annotation of a pod. It reports false if the
// annotation is somebody else's.
func (p *podView) writtenCost() (cost int32, ours bool) {
	text, found := p.Annotations[v1.PodDeletionCostAnnotationKey]
	if !found {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil && n < 0
}

// deletionCost is the least number that a pod of the node has, other than that of
// nodes on their way out; zero without any.
func (m *stateNode) deletionCost() int32 {
	least := int32(0)
	for _, p := range m.pods {
		if cost, ours := p.writtenCost(); p.ofReplicaSet() && ours && cost != math.MinInt32 {
			least = min(least, cost)
		}
	}
	return least
}

// addDeletionCosts adds what has to change for the pods of the node to have a cost.
func (m *stateNode) addDeletionCosts(out []PodDeletionCost, cost int32) []PodDeletionCost {
	for _, p := range m.pods {
		if written, ours := p.writtenCost(); p.ofReplicaSet() && ours && written != cost {
			out = append(out, PodDeletionCost{Pod: p.Pod, Node: m.name, Cost: cost})
		}
	}
	return out
}

// rankStep is how far apart ranks are that are given out anew, so that nodes find room
// between two others later.
const rankStep = 1024

// rankCosts returns numbers below zero that ascend, as many of those at hand as
// possible: present has one for each place, or zero. It takes O(n log n).
func rankCosts(present []int32) []int32 {
	out := make([]int32, len(present))
	keep := ascending(present)
	for from := 0; from <= len(present); {
		to := from // the next place that keeps its number, or the end
		for to < len(present) && !keep[to] {
			to++
		}
		end, count := int64(0), int64(to-from) // between lowest and end there is to be room for so many
		if to < len(present) {
			out[to] = present[to]
			end = int64(present[to])
		}
		lowest := end - (count+1)*rankStep
		if from > 0 {
			lowest = max(lowest, int64(out[from-1]))
		}
		step := (end - lowest) / (count + 1)
		if count > 0 && (step == 0 || lowest <= -1<<31) {
			return freshRanks(len(present))
		}
		for i := from; i < to; i++ {
			out[i] = int32(end - int64(to-i)*step)
		}
		from = to + 1
	}
	return out
}

// freshRanks are ranks for n places of which none keeps its number.
func freshRanks(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(-int64(n-i) * min(rankStep, (1<<31-1)/int64(n)))
	}
	return out
}

// ascending marks the places of a longest sequence of numbers that ascend; zeros are
// left out.
func ascending(numbers []int32) []bool {
	keep := make([]bool, len(numbers))
	before := make([]int, len(numbers)) // the place before it in the sequence
	var ends []int                      // by length: the place of the least number that ends such a sequence
	for i, n := range numbers {
		if n == 0 {
			continue
		}
		length, _ := slices.BinarySearchFunc(ends, n, func(place int, n int32) int { return int(int64(numbers[place]) - int64(n)) })
		before[i] = -1
		if length > 0 {
			before[i] = ends[length-1]
		}
		if length == len(ends) {
			ends = append(ends, i)
		} else {
			ends[length] = i
		}
	}
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			keep[i] = true
		}
	}
	return keep
}
