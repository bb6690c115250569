package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// sortPods decides for each pod of the input whether it is pending. The bound
// ones are joinNodes' business.
func (r *reader) sortPods() {
	var gated, deleted, daemons int
	for i := range r.found.pods {
		p := &r.found.pods[i]
		// As the API server does to a pod that asks for a GPU by limit alone, say.
		p.value = resources.WithDefaultRequests(p.value)
		pod := p.value
		r.cluster.placed(p.String(), place{object: p.object})
		switch {
		case pod.Spec.NodeName != "" || finished(pod):
		case pod.DeletionTimestamp != nil:
			deleted++
		case len(pod.Spec.SchedulingGates) > 0:
			gated++
		case ownedBy(pod, "DaemonSet"):
			daemons++
		default:
			r.cluster.Pods = append(r.cluster.Pods, pod)
		}
	}
	r.noteCount(deleted, "pending", "being deleted")
	r.noteCount(gated, "", "held back by scheduling gates")
	r.noteCount(daemons, "", "waiting for the node of their DaemonSet")
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

// joinNodes brings Nodes, NodeClaims and bound pods together.
func (r *reader) joinNodes() {
	byName := map[string]*provisioning.Node{}
	byID := map[string]*provisioning.Node{}
	var all []*provisioning.Node
	for _, n := range r.found.nodes {
		node := &provisioning.Node{Node: n.value}
		all = append(all, node)
		r.cluster.placed(n.String(), place{object: n.object})
		byName[n.value.Name] = node
		if id := n.value.Spec.ProviderID; id != "" {
			byID[id] = node
		}
	}
	for _, c := range r.found.nodeClaims {
		claim := c.value
		node := byName[claim.Status.NodeName]
		if node == nil {
			node = byID[claim.Status.ProviderID]
		}
		switch {
		case node == nil:
			all = append(all, &provisioning.Node{NodeClaim: claim})
		case node.NodeClaim != nil:
			r.faults = append(r.faults, c.fault([]any{"status", "nodeName"},
				"claims Node %s, which NodeClaim %s has already; remove one of the two", node.Node.Name, node.NodeClaim.Name))
		default:
			node.NodeClaim = claim
		}
	}
	r.bind(byName)
	slices.SortStableFunc(all, func(a, b *provisioning.Node) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, node := range all {
		slices.SortFunc(node.Pods, comparePods)
		if leaving(node) {
			r.evict(node)
		}
		r.cluster.Nodes = append(r.cluster.Nodes, *node)
	}
}

// bind puts the bound pods on their nodes. A node that is not in the input is
// one fault, however many pods are bound to it.
func (r *reader) bind(byName map[string]*provisioning.Node) {
	lost := map[string][]item[*corev1.Pod]{}
	for _, p := range r.found.pods {
		name := p.value.Spec.NodeName
		if name == "" || finished(p.value) {
			continue
		}
		if node := byName[name]; node != nil {
			node.Pods = append(node.Pods, p.value)
			continue
		}
		lost[name] = append(lost[name], p)
	}
	for _, name := range sortedKeys(lost) {
		pods := lost[name]
		var others string
		if n := len(pods) - 1; n > 0 {
			others = fmt.Sprintf(", as are %d other pods", n)
			if n == 1 {
				others = fmt.Sprintf(", as is %s", pods[1].object)
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
// belong to the node itself go with it.
func (r *reader) evict(n *provisioning.Node) {
	moved := 0
	for _, pod := range n.Pods {
		if pod.DeletionTimestamp != nil || ownedBy(pod, "DaemonSet") || ownedBy(pod, "Node") {
			continue
		}
		free := *pod
		free.Spec.NodeName = ""
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
