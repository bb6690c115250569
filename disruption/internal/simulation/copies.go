package simulation

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// copies are the nodes of what-ifs that are removed or closed. There is one copy of each object. So the
// engine, which identifies objects by their addresses, reads it once for all what-ifs of a simulation.
// What-ifs may run at the same time.
type copies struct {
	mu         sync.Mutex
	gone, shut map[nodeObjects]nodeObjects
}

// nodeObjects are the objects of a node, without its pods.
type nodeObjects struct {
	node  *corev1.Node
	claim *v1.NodeClaim
}

// changed returns a changed copy of a node. It reuses the copy in known, gone or shut, if there is one.
func (c *copies) changed(n provisioning.Node, known map[nodeObjects]nodeObjects, change func(provisioning.Node) provisioning.Node) provisioning.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
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
