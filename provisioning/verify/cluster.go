package verify

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
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
	r.pending, r.cautious = true, true
	pods := make([]*podInfo, 0, len(in.Pods))
	for _, pod := range in.Pods {
		if p := r.known(pod); p != nil {
			pods = append(pods, p)
		}
	}
	r.checkTurns(pods)
	return &Cluster{r: r, rooms: r.rooms(nil), placed: map[objectKey]bool{}}
}

// Fits says whether a pending pod may be bound to a node now. A pod that is not pending
// in the input, is bound already, is being deleted, gated or for another scheduler, or
// whose requests or constraints cannot be read, fits nowhere; a node that the input
// does not list fits nobody.
func (c *Cluster) Fits(pod *corev1.Pod, node string) bool {
	p, s := c.r.known(pod), c.site(node)
	if p == nil || s == nil || c.placed[p.key] || p.requestsErr != nil || p.wantsErr != nil || c.r.waits(p) != "" {
		return false
	}
	room, open := c.rooms[s.node]
	if !open || !covers(room, p.requests) || !p.selection.Accepts(s.node.Node) {
		return false
	}
	_, refused := p.tolerations.Refused(s.node.Taints)
	return !refused && nodefit.Undeclared(p.Pod, s.node.Declared, c.r.kubernetes) == "" && c.r.welcome(s, p)
}

// Bind puts a pending pod on a node, whether or not it fits: from now on it counts
// there. It says whether the input has both, and the pod was not bound before.
func (c *Cluster) Bind(pod *corev1.Pod, node string) bool {
	p, s := c.r.known(pod), c.site(node)
	if p == nil || s == nil || c.placed[p.key] {
		return false
	}
	c.placed[p.key] = true
	c.r.seat(s, p, true)
	c.r.useVolumes(s, p)
	s.placed = append(s.placed, p)
	if room, open := c.rooms[s.node]; open {
		if left, err := room.Sub(p.requests); err == nil {
			c.rooms[s.node] = left
		} else {
			delete(c.rooms, s.node)
		}
	}
	return true
}

// site is the node of a name; nil if the input has none.
func (c *Cluster) site(name string) *targetNode {
	if n := c.r.nodesNamed[name]; n != nil {
		return c.r.siteOf[n]
	}
	return nil
}
