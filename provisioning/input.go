package provisioning

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Input is the snapshot a plan is made from. It is read-only: neither Prepare
// nor Solve writes to anything it points at, and the Plan points back into it,
// so the caller must not change it while either is in use.
//
// The order of the slices carries no meaning: shuffled input gives the same
// plan.
type Input struct {
	// NodePools are the pools that may launch nodes. A pool that is being
	// deleted, is static (spec.replicas is set) or has a Ready condition that
	// is not True launches none; its nodes still take pods.
	NodePools []*v1.NodePool

	// InstanceTypes holds each pool's catalog under the pool's name. A pool
	// without an entry launches nothing, and the pods it might have served say
	// so.
	InstanceTypes map[string][]*cloudprovider.InstanceType

	// Nodes are the nodes that exist or are on their way, whoever owns them.
	Nodes []Node

	// Pods are the pods to find room for. All are placed or listed as
	// Unplaced; which pods of a cluster are pending is for the caller to say.
	Pods []*corev1.Pod

	// DaemonSetPods holds one representative pod for each DaemonSet. Its
	// requests are set aside on every node it would run on.
	DaemonSetPods []*corev1.Pod

	// Vocabulary names the well-known labels and aliases in force; nil means
	// requirements.DefaultVocabulary.
	Vocabulary *requirements.Vocabulary
}

// Node is capacity that exists or is on its way: a Node, the NodeClaim it came
// from, or both. A Node without a NodeClaim is plain capacity that somebody
// else manages. At least one of the two is set.
type Node struct {
	Node      *corev1.Node
	NodeClaim *v1.NodeClaim

	// Pods are the pods bound here, DaemonSet pods included. Pods that have
	// succeeded or failed take no room.
	Pods []*corev1.Pod
}

// Name is the Node's name, or the NodeClaim's while there is no Node.
func (n Node) Name() string {
	switch {
	case n.Node != nil:
		return n.Node.Name
	case n.NodeClaim != nil:
		return n.NodeClaim.Name
	}
	return ""
}
