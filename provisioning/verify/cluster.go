package verify

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Cluster holds the existing nodes of an input and answers, pod by pod, what
// kube-scheduler's filters answer: which node a pod may be bound to now. It is the judge
// of [Plan] without a plan: whoever imitates kube-scheduler asks Fits of each node, takes
// one, and binds the pod there.
//
// The filters are those of Plan: node selection, taints, resources, host ports, volumes,
// topology spread, affinity and anti-affinity. DaemonSet pods that a node lacks have their
// room set aside. Resource claims are not looked at. Nodes that are being deleted take no
// pods, but the pods there count.
//
// A Cluster is for one goroutine.
type Cluster struct {
	r      *referee
	rooms  map[*nodeInfo]resources.List
	placed map[objectKey]bool
}

// NewCluster reads the nodes of in, with the pods bound to them, and its pending pods,
// none of which is bound yet. Of two nodes of one name, which [RuleInput] forbids, only the
// last can be asked about. Buffers are no pods, and NodePools and catalogs
// matter only to NodeClaims without a Node. A nil opts means the defaults, of which
// SchedulerNames and DefaultSpread are read. The input is read-only, and must not change
// while the Cluster is in use. Time grows with nodes and pods, and with nodes times
// distinct constraints.
func NewCluster(in provisioning.Input, opts *provisioning.Options) *Cluster {
	in.Buffers = nil
	r := newReferee(in, &provisioning.Plan{}, opts)
	r.pending = true
	r.checkBinding(r.knownPods(in.Pods))
	return &Cluster{r: r, rooms: r.rooms(), placed: map[objectKey]bool{}}
}

// Fits says whether a pending pod may be bound to a node now. A pod that is not pending
// in the input, is bound already, is being deleted, gated or for another scheduler, or
// whose requests or constraints cannot be read, fits nowhere; a node that the input
// does not list fits no pod.
func (c *Cluster) Fits(pod *corev1.Pod, node string) bool {
	p, n := c.r.known(pod), c.r.nodesNamed[node]
	if p == nil || n == nil || c.placed[p.key] || p.requestsErr != nil || p.constraintsErr != nil || c.r.waits(p) != "" {
		return false
	}
	room, open := c.rooms[n]
	return open && c.r.takes(n, room, p)
}

// Bind puts a pending pod on a node, whether or not it fits: from now on it counts
// there. It says whether the input has both, and the pod was not bound before.
func (c *Cluster) Bind(pod *corev1.Pod, node string) bool {
	p, n := c.r.known(pod), c.r.nodesNamed[node]
	if p == nil || n == nil || c.placed[p.key] {
		return false
	}
	s := c.r.siteOf[n]
	c.placed[p.key] = true
	c.r.count(s, p, true)
	c.r.useVolumes(s, p)
	s.placed = append(s.placed, p)
	if room, open := c.rooms[n]; open {
		if left, err := room.Sub(p.requests); err == nil {
			c.rooms[n] = left
		} else {
			delete(c.rooms, n)
		}
	}
	return true
}
