package simulation

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// copies are the objects of what-ifs: nodes that are removed, nodes that are closed, and pods that
// have lost their node. There is one copy of each object. So the engine, which identifies objects
// by their addresses, reads it once for all what-ifs of a simulation. What-ifs may run at the same
// time.
type copies struct {
	mu         sync.Mutex
	pods       map[copiedPod]*corev1.Pod
	gone, shut map[nodeObjects]nodeObjects
}

// copiedPod is a pod, and whether its copy is pinned, and may change its domain.
type copiedPod struct {
	pod           *corev1.Pod
	pinned, loose bool
}

// nodeObjects are the objects of a node, without its pods.
type nodeObjects struct {
	node  *corev1.Node
	claim *v1.NodeClaim
}

func newCopies() *copies {
	return &copies{pods: map[copiedPod]*corev1.Pod{}, gone: map[nodeObjects]nodeObjects{}, shut: map[nodeObjects]nodeObjects{}}
}

// unplaced returns the copy of a pod without its node, restricted by its pin unless that is nil.
func (c *copies) unplaced(p *corev1.Pod, pin *pin, loose bool) *corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := copiedPod{p, pin != nil, loose}
	if c.pods[key] == nil {
		c.pods[key] = pin.restrict(podlife.Moved(p, ""), loose)
	}
	return c.pods[key]
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
