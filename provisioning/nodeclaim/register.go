package nodeclaim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/nodeindex"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// Registration is the result of Register.
type Registration struct {
	// Condition is the condition Registered.
	Condition
	// Node is a copy of the Node with all changes of registration; nil unless Status is True.
	// EditClaim returns the claim to store.
	Node *corev1.Node
	// TaintMissing is whether the Node joined without the taint
	// karpenter.sh/unregistered, so that pods may have gone there too early.
	TaintMissing bool
}

// UnregisteredTaintMissing is the reason of the event for a Node that joined without the taint
// karpenter.sh/unregistered.
const UnregisteredTaintMissing = "UnregisteredTaintMissing"

// Event returns the event of type Warning to write about the NodeClaim when it has registered: its
// reason, and the note for a person to read. Both are empty if there is none.
func (r Registration) Event() (reason, note string) {
	if !r.TaintMissing {
		return "", ""
	}
	return UnregisteredTaintMissing, fmt.Sprintf("Node %s joined without the taint %s, so that pods may have run there before it was registered; its taints were added now: have its user data register it with that taint", r.Node.Name, v1.UnregisteredTaintKey)
}

// Register matches a NodeClaim with its Node: the one with its provider ID among nodes, which may
// be all there are, in any order. If there is none the condition is Unknown (NodeNotFound), and if
// there are several it is False (MultipleNodesFound). The Node gets
//
//   - the finalizer karpenter.sh/termination, and the claim as its owner;
//   - the labels of the claim, the label karpenter.sh/registered, and the annotations of the claim
//     except v1.DisruptionCommandAnnotationKey, because the Node takes no part in the command that
//     launched the claim;
//   - the taints and startup taints of the claim that it does not have, unless its label
//     karpenter.sh/do-not-sync-taints is true. If TaintMissing is true it gets them in any case,
//     because then the kubelet has not set them;
//
// and loses the taint karpenter.sh/unregistered. A nil claim, and one without provider ID, has no
// Node. Arguments are not changed.
func Register(claim *v1.NodeClaim, nodes []*corev1.Node) Registration {
	r := Registration{Condition: Condition{Type: v1.ConditionTypeRegistered, Status: metav1.ConditionUnknown, Reason: "NodeNotFound",
		Message: "no Node has joined with the provider ID of the claim"}}
	if claim == nil || claim.Status.ProviderID == "" {
		return r
	}
	var found []string
	var node *corev1.Node
	for _, n := range nodes {
		if n != nil && n.Spec.ProviderID == claim.Status.ProviderID {
			found, node = append(found, n.Name), n
		}
	}
	if len(found) > 1 {
		slices.Sort(found)
		r.Status, r.Reason = metav1.ConditionFalse, "MultipleNodesFound"
		r.Message = status.Short("several Nodes have the provider ID of the claim: "+strings.Join(found, ", "), maxMessage)
	}
	if len(found) != 1 {
		return r
	}
	r.Status, r.Reason, r.Message = metav1.ConditionTrue, "Registered", ""
	r.Node = node.DeepCopy()
	r.TaintMissing = !status.HasTaint(node, v1.UnregisteredNoExecuteTaint()) && node.Labels[v1.NodeRegisteredLabelKey] != "true"
	synced(r.Node, claim, r.TaintMissing || r.Node.Labels[v1.NodeDoNotSyncTaintsLabelKey] != "true")
	return r
}

// synced applies the changes of registration to a Node, with taints if taints is set.
func synced(node *corev1.Node, claim *v1.NodeClaim, taints bool) {
	if !slices.Contains(node.Finalizers, v1.TerminationFinalizer) {
		node.Finalizers = append(node.Finalizers, v1.TerminationFinalizer)
	}
	if !slices.ContainsFunc(node.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == claim.UID }) {
		gvk := v1.GroupVersion.WithKind("NodeClaim")
		node.OwnerReferences = append(node.OwnerReferences, metav1.OwnerReference{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: claim.Name, UID: claim.UID})
	}
	for key, value := range claim.Labels {
		metav1.SetMetaDataLabel(&node.ObjectMeta, key, value)
	}
	for key, value := range forNode(claim.Annotations) {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, key, value)
	}
	if taints {
		for _, t := range slices.Concat(claim.Spec.Taints, claim.Spec.StartupTaints) {
			if !status.HasTaint(node, t) {
				node.Spec.Taints = append(node.Spec.Taints, t)
			}
		}
	}
	gone := v1.UnregisteredNoExecuteTaint()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&gone) })
	metav1.SetMetaDataLabel(&node.ObjectMeta, v1.NodeRegisteredLabelKey, "true")
}

// Join takes a NodeClaim as far through its start as its Node is: it calls Register if the claim has
// not registered, and Initialize once it has. It returns the Node and the claim to store, in this
// order, because the Node has the labels and taints that pods depend on; the Node is nil if it does
// not exist. A claim that is launching, initialized or being deleted is returned itself, without a
// Node. Call Join once each time that the Node or the claim has changed. Arguments are not changed.
func Join(now time.Time, claim *v1.NodeClaim, nodes []*corev1.Node, published []*resourcev1.ResourceSlice) (*corev1.Node, *v1.NodeClaim) {
	if claim == nil || claim.Status.ProviderID == "" || claim.DeletionTimestamp != nil || isTrue(claim, v1.ConditionTypeInitialized) {
		return nil, claim
	}
	var node *corev1.Node
	if !isTrue(claim, v1.ConditionTypeRegistered) {
		r := Register(claim, nodes)
		node, claim = r.Node, r.EditClaim(now, claim)
		if !isTrue(claim, v1.ConditionTypeRegistered) {
			return node, claim
		}
	} else if i := slices.IndexFunc(nodes, func(n *corev1.Node) bool {
		return n != nil && n.Name == claim.Status.NodeName && !nodeindex.OtherMachine(claim, n)
	}); i >= 0 {
		node = nodes[i]
	}
	ready := Initialize(claim, node, published)
	return ready.EditNode(node), ready.EditClaim(now, claim)
}
