package nodeclaim

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Registration is what follows from the Nodes that have joined.
type Registration struct {
	// Condition is the condition Registered.
	Condition
	// Node is a copy of the Node with everything on it that registration puts
	// there; nil unless Status is True. What the claim should say by then is
	// EditClaim.
	Node *corev1.Node
	// TaintMissing is whether the Node joined without the taint
	// karpenter.sh/unregistered, so that pods may have gone there too early.
	TaintMissing bool
}

// Register matches a NodeClaim with its Node: the one with its provider ID among
// nodes, which may be all there are, in any order. Without one the condition is
// Unknown (NodeNotFound), with several it is False (MultipleNodesFound). The Node
// gets
//
//   - the finalizer karpenter.sh/termination, and the claim as its owner;
//   - the labels of the claim, the label karpenter.sh/registered, and the
//     annotations of the claim but for v1.DisruptionCommandAnnotationKey: the command that
//     launched the claim has no part for its Node;
//   - the taints and startup taints of the claim that it does not have, unless
//     its label karpenter.sh/do-not-sync-taints is true;
//
// and loses the taint karpenter.sh/unregistered. A nil claim, and one without
// provider ID, finds no Node. Nothing given is changed.
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
		r.Message = short("several Nodes have the provider ID of the claim: " + strings.Join(found, ", "))
	}
	if len(found) != 1 {
		return r
	}
	r.Status, r.Reason, r.Message = metav1.ConditionTrue, "Registered", ""
	r.Node = node.DeepCopy()
	r.TaintMissing = !hasTaint(node, v1.UnregisteredNoExecuteTaint()) && node.Labels[v1.NodeRegisteredLabelKey] != "true"
	synced(r.Node, claim)
	return r
}

// synced puts on a Node what registration puts there.
func synced(node *corev1.Node, claim *v1.NodeClaim) {
	if !slices.Contains(node.Finalizers, v1.TerminationFinalizer) {
		node.Finalizers = append(node.Finalizers, v1.TerminationFinalizer)
	}
	if !slices.ContainsFunc(node.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == claim.UID }) {
		gvk := v1.GroupVersion.WithKind("NodeClaim")
		node.OwnerReferences = append(node.OwnerReferences, metav1.OwnerReference{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: claim.Name, UID: claim.UID})
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	maps.Copy(node.Labels, claim.Labels)
	if node.Annotations == nil && len(claim.Annotations) > 0 {
		node.Annotations = map[string]string{}
	}
	maps.Copy(node.Annotations, forNode(claim.Annotations))
	if node.Labels[v1.NodeDoNotSyncTaintsLabelKey] != "true" {
		for _, t := range slices.Concat(claim.Spec.Taints, claim.Spec.StartupTaints) {
			if !hasTaint(node, t) {
				node.Spec.Taints = append(node.Spec.Taints, t)
			}
		}
	}
	gone := v1.UnregisteredNoExecuteTaint()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&gone) })
	node.Labels[v1.NodeRegisteredLabelKey] = "true"
}

// hasTaint reports whether a node has a taint with this key and effect.
func hasTaint(node *corev1.Node, t corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(o corev1.Taint) bool { return o.MatchTaint(&t) })
}
