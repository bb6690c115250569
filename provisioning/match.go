package provisioning

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/nodeindex"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Matched is the result of Match.
type Matched struct {
	// Nodes are for Input.Nodes, sorted by Node.Name.
	Nodes []Node

	// Pending are the pods without a node, sorted by namespace and name. They can be used as
	// Input.Pods. A program that waits until kube-scheduler has tried a pod removes those without
	// the condition PodScheduled.
	Pending []*corev1.Pod

	// Preempting are the pods without a node for which kube-scheduler is making room on one, sorted
	// by namespace and name. They are not among Pending, because a node launched for one would stay
	// empty.
	Preempting []*corev1.Pod

	// Strays are the pods bound to a Node that is not listed, sorted by namespace and name. They
	// take no room and are not counted. There may be a few while a node is deleted; many mean that
	// the Nodes were not read.
	Strays []*corev1.Pod
}

// Match combines what an API server lists separately: Nodes, NodeClaims and all pods of a cluster,
// each in any order.
//
//   - A NodeClaim belongs to the Node with the same provider ID, or else to the one that
//     status.nodeName names, unless that one has the provider ID of another machine. Without such a
//     Node it becomes an entry of Nodes by itself: a node that is still to join. A Node without a
//     NodeClaim is also an entry by itself.
//   - A pod belongs to the Node that spec.nodeName names. Pods that have succeeded or failed are
//     left out, because they use no resources.
//   - A pod without a node is pending, unless it belongs to a DaemonSet or to a node, so that it
//     needs no place. Pending pods include gated pods and pods being deleted; a plan says so in
//     their reasons.
//   - A pod without a node is preempting, and not pending, if status.nominatedNodeName names a
//     Node that is not terminating and on which kube-scheduler is preempting a pod that still uses
//     resources: one that is being deleted, with the condition DisruptionTarget for the reason
//     PreemptionByScheduler. Without such a pod the name may be out of date, and the pod is
//     pending.
//
// The error joins an InputError for every nil object, and for every NodeClaim whose Node has
// another NodeClaim already. These are left out, and all other objects are joined. Prepare reports
// objects that are listed twice. Nothing is changed or copied: the result points to the objects. It
// takes the time of sorting each list.
func Match(nodes []*corev1.Node, claims []*v1.NodeClaim, pods []*corev1.Pod) (Matched, error) {
	j := &matcher{byName: map[string]*Node{}, index: nodeindex.New(nodes)}
	for i, n := range nodes {
		if n == nil {
			j.f.Add(fmt.Sprintf("nodes[%d]", i), "", "is nil; leave it out")
			continue
		}
		node := &Node{Node: n}
		j.all = append(j.all, node)
		j.byName[n.Name] = node
	}
	// Of two claims for one Node the first by name gets it, whatever their order.
	for _, i := range sortedIndexes(claims, func(a, b *v1.NodeClaim) int { return cmp.Compare(a.Name, b.Name) }) {
		j.claim(i, claims[i])
	}
	var out Matched
	for _, i := range sortedIndexes(pods, model.ComparePods) {
		j.pod(i, pods[i], &out)
	}
	out.Pending = slices.DeleteFunc(out.Pending, func(p *corev1.Pod) bool {
		preempts := j.preempts(p)
		if preempts {
			out.Preempting = append(out.Preempting, p)
		}
		return preempts
	})
	slices.SortStableFunc(j.all, func(a, b *Node) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, n := range j.all {
		out.Nodes = append(out.Nodes, *n)
	}
	return out, inputErrors(j.f.Err())
}

// sortedIndexes returns the indexes of objects in the order of compare, nil objects first.
func sortedIndexes[T any](list []*T, compare func(a, b *T) int) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, k int) int {
		if a, b := list[i], list[k]; a != nil && b != nil {
			return compare(a, b)
		}
		return order.Bools(list[i] != nil, list[k] != nil)
	})
	return out
}

// matcher is the state of Match.
type matcher struct {
	f      model.Faults
	all    []*Node
	byName map[string]*Node
	index  nodeindex.Index
}

func (j *matcher) claim(i int, c *v1.NodeClaim) {
	if c == nil {
		j.f.Add(fmt.Sprintf("claims[%d]", i), "", "is nil; leave it out")
		return
	}
	of := j.index.Of(c)
	if of == nil {
		j.all = append(j.all, &Node{NodeClaim: c})
		return
	}
	node, field := j.byName[of.Name], "status.providerID"
	if c.Status.NodeName == of.Name {
		field = "status.nodeName"
	}
	switch {
	case node.NodeClaim != nil:
		j.f.Add(fmt.Sprintf("NodeClaim %q", c.Name), field, "is that of Node %q, which NodeClaim %q has already; leave one of the two out", node.Node.Name, node.NodeClaim.Name)
	default:
		node.NodeClaim = c
	}
}

func (j *matcher) pod(i int, p *corev1.Pod, out *Matched) {
	switch {
	case p == nil:
		j.f.Add(fmt.Sprintf("pods[%d]", i), "", "is nil; leave it out")
	case podlife.Finished(p):
	case p.Spec.NodeName != "":
		if node := j.byName[p.Spec.NodeName]; node != nil {
			node.Pods = append(node.Pods, p)
		} else {
			out.Strays = append(out.Strays, p)
		}
	case !podlife.StaysBehind(p):
		out.Pending = append(out.Pending, p)
	}
}

// preempts reports whether kube-scheduler is making room for a pod.
func (j *matcher) preempts(p *corev1.Pod) bool {
	n := j.byName[p.Status.NominatedNodeName]
	return n != nil && !model.Node(*n).Leaving() && slices.ContainsFunc(n.Pods, preempted)
}

// preempted reports whether kube-scheduler has made a pod end for another one.
func preempted(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
	})
}
