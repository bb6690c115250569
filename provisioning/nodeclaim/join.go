package nodeclaim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Join sees a machine through its start: it is Register for a NodeClaim that has not
// registered, and Initialize for one that has, whose Node is that of status.nodeName. The
// Node and the claim are as they should be stored, in this order, as the Node carries what
// admits pods; a Node that is not there is nil. A claim that is launching, initialized or
// being deleted is returned itself, without a Node. Nothing given is changed.
func Join(claim *v1.NodeClaim, nodes []*corev1.Node, published []*resourcev1.ResourceSlice, now time.Time) (*corev1.Node, *v1.NodeClaim) {
	if claim == nil || claim.Status.ProviderID == "" || claim.DeletionTimestamp != nil || isTrue(claim, v1.ConditionTypeInitialized) {
		return nil, claim
	}
	if !isTrue(claim, v1.ConditionTypeRegistered) {
		r := Register(claim, nodes)
		return r.Node, r.EditClaim(claim, now)
	}
	var node *corev1.Node
	if i := slices.IndexFunc(nodes, func(n *corev1.Node) bool { return n != nil && n.Name == claim.Status.NodeName }); i >= 0 {
		node = nodes[i]
	}
	ready := Initialize(claim, node, published)
	return ready.EditNode(node), ready.EditClaim(claim, now)
}
