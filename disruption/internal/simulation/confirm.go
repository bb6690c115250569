package simulation

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// ComingNode returns a replacement as a node that has come up as the cheapest of its options. The
// node has no pods.
func ComingNode(name string, n *provisioning.NewNode) (provisioning.Node, error) {
	option := n.Options[0]
	room, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil {
		return provisioning.Node{}, errors.New(words.FirstLine(err))
	}
	out := replacementNode(name, n)
	out.Pods = nil
	out.Node.Status.Allocatable, out.NodeClaim.Status.Allocatable = room.ResourceList(), room.ResourceList()
	out.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return out, nil
}
