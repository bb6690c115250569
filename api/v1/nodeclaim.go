package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeClaim is the request for one node, and the observed state of its machine. It is cluster
// scoped, karpenter.sh/v1. Most belong to a NodePool, named by the label NodePoolLabelKey; a user
// may also write one by hand.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodeClaim struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the usual Kubernetes metadata. Its labels become the
	// node's.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the request. Required, and immutable as a whole.
	Spec NodeClaimSpec `json:"spec"`
	// Status is what a controller has observed of the machine.
	Status NodeClaimStatus `json:"status,omitempty,omitzero"`
}

// NodeClaimSpec is the request for one node.
type NodeClaimSpec struct {
	// Taints stay on the node.
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on the node when it joins, and other programs remove them before it counts
	// as initialized.
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements bound the label values of the node. Required on the wire; an empty list allows
	// every node, nil does not pass validation.
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements"`
	// Resources are the least resources of the node. JSON has the field even if it is empty, as in
	// Karpenter: the API server allows no change of the spec, and a missing field is a change.
	Resources ResourceRequirements `json:"resources,omitempty"`
	// NodeClassRef names the provider's configuration object. Required.
	NodeClassRef *NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod bounds how long the node may drain. Nil means without limit. Whole
	// seconds.
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is the age at which the node is removed by force. Default
	// 720h; Never turns expiry off.
	ExpireAfter NillableDuration `json:"expireAfter,omitzero"`
}

// ResourceRequirements are the resources that a node must have.
type ResourceRequirements struct {
	// Requests are the least amounts, including the DaemonSet pods and their
	// count under the name "pods".
	Requests corev1.ResourceList `json:"requests,omitzero"`
}

// NodeClaimStatus is what a controller has observed of the machine.
type NodeClaimStatus struct {
	// NodeName is the name of the Node, once it has joined.
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the cloud's name for the machine, as in Node.spec.
	ProviderID string `json:"providerID,omitempty"`
	// ImageID is the cloud's name for the image that the machine booted.
	ImageID string `json:"imageID,omitempty"`
	// Capacity is the provider's estimate of the machine's full size.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Allocatable is the provider's estimate of what pods may use.
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// Conditions are keyed by type; see the ConditionType constants.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastPodEventTime is when a pod, not of a DaemonSet, was last bound to the node, ended, or
	// began to end. ConsolidateAfter counts from it. The zero time means never.
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitempty,omitzero"`
}

// NodeClaimList is a list of NodeClaims, as the API server returns it.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the claims, in the server's order.
	Items []NodeClaim `json:"items"`
}

// ToNodeClaim returns a NodeClaim with the template's labels, annotations and spec. Nothing is
// shared with the template. The caller sets name, owner, pool label and requests.
func (t *NodeClaimTemplate) ToNodeClaim() *NodeClaim {
	c := t.DeepCopy()
	return &NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Labels: c.Labels, Annotations: c.Annotations},
		Spec: NodeClaimSpec{
			Taints:                 c.Spec.Taints,
			StartupTaints:          c.Spec.StartupTaints,
			Requirements:           c.Spec.Requirements,
			NodeClassRef:           c.Spec.NodeClassRef,
			TerminationGracePeriod: c.Spec.TerminationGracePeriod,
			ExpireAfter:            c.Spec.ExpireAfter,
		},
	}
}
