package simulation

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// copies are the objects of what-ifs: nodes that go, nodes that are closed, and pods that have
// lost their node. There is one copy of each object. So the engine, which knows objects by
// their addresses, reads it once for all what-ifs of a simulation.
type copies struct {
	pods       map[*corev1.Pod]*corev1.Pod
	gone, shut map[nodeObjects]nodeObjects
}

// nodeObjects are those of a node, without its pods.
type nodeObjects struct {
	node  *corev1.Node
	claim *v1.NodeClaim
}

func newCopies() *copies {
	return &copies{map[*corev1.Pod]*corev1.Pod{}, map[nodeObjects]nodeObjects{}, map[nodeObjects]nodeObjects{}}
}

// unplaced is a pod without its node.
func (c *copies) unplaced(p *corev1.Pod) *corev1.Pod {
	if c.pods[p] == nil {
		c.pods[p] = podlife.Moved(p, "")
	}
	return c.pods[p]
}

// leaving is a node that goes.
func (c *copies) leaving(n provisioning.Node) provisioning.Node {
	return changed(n, c.gone, provisioning.Node.Leaving)
}

// closed is a node that takes no more pods.
func (c *copies) closed(n provisioning.Node) provisioning.Node { return changed(n, c.shut, closedNode) }

// changed is a node that something was done to, which may be known.
func changed(n provisioning.Node, known map[nodeObjects]nodeObjects, change func(provisioning.Node) provisioning.Node) provisioning.Node {
	key := nodeObjects{n.Node, n.NodeClaim}
	out, found := known[key]
	if !found {
		now := change(n)
		out = nodeObjects{now.Node, now.NodeClaim}
		known[key] = out
	}
	n.Node, n.NodeClaim = out.node, out.claim
	return n
}
