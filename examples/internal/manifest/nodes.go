package manifest

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// join brings Nodes, NodeClaims and pods together, and remarks on the pods without a
// node that are not planned for. Pods that leave a node are pending.
func (r *reader) join() {
	var gated, deleted, daemons int
	pods := make([]*corev1.Pod, 0, len(r.found.pods))
	r.found.pods = slices.DeleteFunc(r.found.pods, func(p item[*corev1.Pod]) bool { return !r.admit(p.object, "", p.value) })
	for _, p := range r.found.pods {
		pods = append(pods, p.value)
		r.cluster.placed(p.String(), place{object: p.object})
		if p.value.Spec.NodeName == "" && !finished(p.value) && p.value.DeletionTimestamp == nil &&
			len(p.value.Spec.SchedulingGates) == 0 && ownedBy(p.value, "DaemonSet") {
			daemons++
		}
	}
	for _, n := range r.found.nodes {
		r.cluster.placed(n.String(), place{object: n.object})
	}
	for _, c := range r.found.nodeClaims {
		r.cluster.placed(c.String(), place{object: c.object})
	}
	joined, err := provisioning.Join(values(r.found.nodes), values(r.found.nodeClaims), pods)
	faults, _ := r.cluster.locate(err) // all are of NodeClaims
	r.faults = append(r.faults, faults...)
	r.refuseStrays(joined.Strays)
	for _, pod := range joined.Pending {
		switch {
		case pod.DeletionTimestamp != nil:
			deleted++
		case len(pod.Spec.SchedulingGates) > 0:
			gated++
		default:
			r.cluster.Pods = append(r.cluster.Pods, pod)
		}
	}
	r.noteCount(deleted, "pending", "being deleted")
	r.noteCount(gated, "", "held back by scheduling gates")
	r.noteCount(len(joined.Preempting), "", "waiting for others that kube-scheduler preempts")
	r.noteCount(daemons, "", "waiting for the node of their DaemonSet")
	r.cluster.Nodes = joined.Nodes
	for i := range joined.Nodes {
		if node := &joined.Nodes[i]; leaving(node) {
			r.evict(node)
		}
	}
}

// noteCount remarks that some pods are not planned for.
func (r *reader) noteCount(n int, what, why string) {
	if n == 0 {
		return
	}
	noun, verb := "pods", "are"
	if n == 1 {
		noun, verb = "pod", "is"
	}
	if what != "" {
		noun = what + " " + noun
	}
	r.cluster.Notes = append(r.cluster.Notes, fmt.Sprintf("%d %s %s %s and not planned for", n, noun, verb, why))
}

// refuseStrays reports pods that are bound to a node that is not in the input: one
// fault a node, however many pods are bound to it. Of a dump with nodes it is a remark:
// nodes come and go while kubectl lists one kind after the other.
func (r *reader) refuseStrays(strays []*corev1.Pod) {
	lost := map[string][]*object{}
	for _, pod := range strays {
		name := pod.Spec.NodeName
		lost[name] = append(lost[name], r.seen[id("Pod", pod.Namespace, pod.Name)])
	}
	for _, name := range sortedKeys(lost) {
		pods := lost[name]
		if len(r.found.nodes) > 0 && !slices.ContainsFunc(pods, func(o *object) bool { return !o.fromServer }) {
			r.cluster.Notes = append(r.cluster.Notes, fmt.Sprintf("node %s is not in the input; its pods (%d) count nowhere", name, len(pods)))
			continue
		}
		var others string
		if n := len(pods) - 1; n > 0 {
			others = fmt.Sprintf(", as are %d other pods", n)
			if n == 1 {
				others = fmt.Sprintf(", as is %s", pods[1])
			}
		}
		r.faults = append(r.faults, pods[0].fault([]any{"spec", "nodeName"},
			"is bound to Node %s%s, which is not in the input; add the node (kubectl get nodes -o yaml) or remove spec.nodeName",
			name, others))
	}
}

// leaving tells whether a node is on its way out, and so takes no more pods.
func leaving(n *provisioning.Node) bool {
	return n.Node != nil && n.Node.DeletionTimestamp != nil ||
		n.NodeClaim != nil && n.NodeClaim.DeletionTimestamp != nil
}

// evict makes pending what must find another place when a node goes. Pods that
// belong to the node itself go with it, and so do those that are being deleted, unless a
// StatefulSet brings them back.
func (r *reader) evict(n *provisioning.Node) {
	moved := 0
	for _, pod := range n.Pods {
		if pod.DeletionTimestamp != nil && !ownedBy(pod, "StatefulSet") || ownedBy(pod, "DaemonSet") || ownedBy(pod, "Node") {
			continue
		}
		free := *pod
		free.Spec.NodeName, free.DeletionTimestamp = "", nil
		r.cluster.Pods = append(r.cluster.Pods, &free)
		moved++
	}
	r.cluster.Notes = append(r.cluster.Notes,
		strings.TrimSpace(fmt.Sprintf("node %s is being deleted; its pods (%d) are planned for elsewhere", n.Name(), moved)))
}

// finished tells whether a pod has run to its end and takes no room.
func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// ownedBy tells whether a pod's controller is of the kind.
func ownedBy(pod *corev1.Pod, kind string) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == kind
}
