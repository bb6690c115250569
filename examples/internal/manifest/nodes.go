package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// join combines Nodes, NodeClaims and pods, and adds notes on pods without a node that are not
// planned for.
func (r *reader) join() {
	var gated, deleted, daemons int
	list := listOf[*corev1.Pod](r.found)
	*list = slices.DeleteFunc(*list, func(p item[*corev1.Pod]) bool { return !r.admit(p.Object, "", p.value) })
	pods := values[*corev1.Pod](r.found)
	for _, p := range pods {
		if p.Spec.NodeName == "" && !podlife.Finished(p) && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0 && podlife.OfDaemonSet(p) {
			daemons++
		}
	}
	joined, err := provisioning.Match(values[*corev1.Node](r.found), values[*v1.NodeClaim](r.found), pods)
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
	r.noteCount(deleted, "pending ", "being deleted")
	r.noteCount(gated, "", "held back by scheduling gates")
	r.noteCount(len(joined.Preempting), "", "waiting for others that kube-scheduler preempts")
	r.noteCount(daemons, "", "waiting for the node of their DaemonSet")
	r.cluster.Nodes = joined.Nodes
}

// noteCount adds a note that some pods are not planned for.
func (r *reader) noteCount(n int, what, why string) {
	if n == 0 {
		return
	}
	r.note("%s %s and not planned for", layout.Phrase(n, what+"pod is", what+"pods are"), why)
}

// refuseStrays reports pods bound to a node that is not in the input: one fault for each node. If
// the dump has nodes it is only a note, because nodes come and go between the lists that kubectl
// reads.
func (r *reader) refuseStrays(strays []*corev1.Pod) {
	lost := map[string][]*Object{}
	for _, pod := range strays {
		name := pod.Spec.NodeName
		lost[name] = append(lost[name], r.seen[id("Pod", pod.Namespace, pod.Name)])
	}
	for _, name := range sortedKeys(lost) {
		pods := lost[name]
		if len(listed[*corev1.Node](r.found)) > 0 && !slices.ContainsFunc(pods, func(o *Object) bool { return !o.fromServer }) {
			r.note("node %s is not in the input; its pods (%d) count nowhere", name, len(pods))
			continue
		}
		var others string
		if n := len(pods) - 1; n > 0 {
			others = fmt.Sprintf(", as are %d other pods", n)
			if n == 1 {
				others = fmt.Sprintf(", as is %s", pods[1])
			}
		}
		r.fault(pods[0], "spec.nodeName",
			"is bound to Node %s%s, which is not in the input; add the node (kubectl get nodes -o yaml) or remove spec.nodeName", name, others)
	}
}

// Depart makes those pods pending that leave nodes which are being removed at the instant now (see
// disruption.Displaced), and returns a note on each of these nodes. Without this call these pods
// stay on their nodes. Call Depart once, before Input.
func (c *Cluster) Depart(now time.Time) (remarks []string) {
	in := disruption.Input{Input: provisioning.Input{Nodes: c.Nodes}, PodDisruptionBudgets: c.PodDisruptionBudgets}
	displaced := map[types.NamespacedName]bool{}
	for _, pod := range disruption.Displaced(now, in) {
		displaced[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = true
		c.Pods = append(c.Pods, pod)
	}
	slices.SortFunc(c.Pods, compareNames)
	held := map[string]string{}
	f, _ := disruption.Observe(now, in, nil) // its faults are for who asks about the whole cluster
	_, blocked := f.Candidates(disruption.MethodDrift)
	for _, b := range blocked {
		if b.Code == disruption.CodeMarkedForDeletion {
			held[b.Node] = b.Detail
		}
	}
	leaving := disruption.Leaving(c.Nodes)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if !slices.Contains(leaving, n.Name()) {
			continue
		}
		all := len(n.Pods)
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p *corev1.Pod) bool {
			return displaced[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}]
		})
		remarks = append(remarks, fmt.Sprintf("node %s: %s; its pods (%d) are planned for elsewhere",
			n.Name(), cmp.Or(held[n.Name()], "it is being deleted"), all-len(n.Pods)))
	}
	return remarks
}
