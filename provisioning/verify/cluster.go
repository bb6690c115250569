package verify

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Cluster has the existing nodes of an input and answers, pod by pod, what kube-scheduler's filters
// answer: to which nodes a pod may be bound now. It checks by the same rules as [Plan], but without
// a plan: a program that imitates kube-scheduler calls Fits for each node, chooses one, and calls
// Bind.
//
// The filters are those of Plan: node selection, taints, resources, host ports, volumes, topology
// spread, affinity and anti-affinity. The room of missing DaemonSet pods is reserved. Resource
// claims are ignored. Nodes that are being deleted take no pods, but their pods count.
//
// A Cluster must not be used by several goroutines at a time.
type Cluster struct {
	r      *referee
	rooms  map[*site]resources.List
	placed map[objectKey]bool
}

// NewCluster reads the nodes of in with the pods bound to them, and its pending pods, none of which
// is bound yet. Of two nodes with one name, which [RuleInput] forbids, only the last is known.
// Buffers are ignored, and NodePools and catalogs matter only for NodeClaims without a Node. A nil
// opts means the defaults; only SchedulerNames and DefaultSpread are read. The input is read-only,
// and must not change while the Cluster is in use. The time grows with nodes and pods, and with
// nodes times distinct constraints.
func NewCluster(in provisioning.Input, opts *provisioning.Options) *Cluster {
	in.Buffers = nil
	r := newReferee(in, &provisioning.Plan{}, opts)
	r.pending = true
	r.checkBinding(r.knownPods(in.Pods))
	return &Cluster{r: r, rooms: r.rooms(), placed: map[objectKey]bool{}}
}

// Fits says whether a pending pod may be bound to a node now. It is false for a pod that is not
// pending in the input, is bound already, is being deleted, is gated, is for another scheduler, or
// has unreadable requests or constraints. It is false for a node that is not in the input.
func (c *Cluster) Fits(pod *corev1.Pod, node string) bool {
	p, s := c.r.known(pod), c.r.nodesNamed[node]
	if p == nil || s == nil || c.placed[p.key] || p.requestsErr != nil || p.constraintsErr != nil || c.r.waits(p) != "" {
		return false
	}
	room, open := c.rooms[s]
	return open && c.r.takes(s, room, p)
}

// Bind binds a pending pod to a node, whether or not it fits: from now on the pod counts there. It
// returns false, and does nothing, if the input lacks either or the pod was bound before.
func (c *Cluster) Bind(pod *corev1.Pod, node string) bool {
	p, s := c.r.known(pod), c.r.nodesNamed[node]
	if p == nil || s == nil || c.placed[p.key] {
		return false
	}
	c.placed[p.key] = true
	c.r.count(s, p, true)
	c.r.useVolumes(s, p)
	s.placed = append(s.placed, p)
	if room, open := c.rooms[s]; open {
		if left, err := room.Sub(p.requests); err == nil {
			c.rooms[s] = left
		} else {
			delete(c.rooms, s)
		}
	}
	return true
}
