package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodePool says which nodes may be created, how many, and how they are
// replaced. It is cluster scoped, karpenter.sh/v1.
//
// A pool is dynamic, and grows and shrinks with the pods, unless Spec.Replicas
// is set; then it is static and keeps that many nodes.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodePool struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the usual Kubernetes metadata of the pool itself. The
	// metadata of its nodes is Spec.Template.ObjectMeta.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user asks for. Required.
	Spec NodePoolSpec `json:"spec"`
	// Status is what a controller has observed. Decisions read it only where
	// they say so.
	Status NodePoolStatus `json:"status,omitempty,omitzero"`
}

// NodePoolSpec is the user's part of a NodePool.
type NodePoolSpec struct {
	// Template is the pattern of the NodeClaims that the pool creates.
	// Required.
	Template NodeClaimTemplate `json:"template"`
	// Disruption says when and how fast the autoscaler may remove nodes by its own decision. If it
	// is absent, the defaults of its fields apply.
	Disruption Disruption `json:"disruption,omitzero"`
	// Limits bounds the sum of the capacity of the pool's nodes, by resource.
	// A resource that is not named is unlimited; the name "nodes" counts
	// nodes. A static pool may only limit nodes.
	Limits Limits `json:"limits,omitzero"`
	// Weight orders dynamic pools: higher is tried first, 1 to 100. Nil counts
	// as 0, below every set weight. Not allowed together with Replicas.
	Weight *int32 `json:"weight,omitempty"`
	// Replicas makes the pool static and is the number of nodes to keep, zero
	// or more. A pool cannot change between static and dynamic. Alpha.
	Replicas *int64 `json:"replicas,omitempty"`
}

// NodeClaimTemplate is the pattern from which a NodePool's NodeClaims are made.
type NodeClaimTemplate struct {
	// ObjectMeta carries the labels and annotations that each NodeClaim, and
	// its Node, receives.
	ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is the pattern of the NodeClaim's spec. Required.
	Spec NodeClaimTemplateSpec `json:"spec"`
}

// ObjectMeta is the part of object metadata that a template may set. It is not
// the Kubernetes type of the same name, so a template cannot set a name or an
// owner.
type ObjectMeta struct {
	// Labels are put on every node of the pool. They also take part in
	// scheduling, each as an In requirement with one value.
	Labels map[string]string `json:"labels,omitzero"`
	// Annotations are put on every NodeClaim and Node of the pool.
	Annotations map[string]string `json:"annotations,omitzero"`
}

// NodeClaimTemplateSpec is NodeClaimSpec without the resource requests, which
// follow from the pods and cannot be written by hand.
type NodeClaimTemplateSpec struct {
	// Taints stay on the node. Pods must tolerate them.
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on the node when it joins. Other programs, commonly a DaemonSet, remove
	// them before it counts as initialized. Pods need not tolerate them to have a node created.
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements bound the label values of the nodes. Required on the wire: an empty list allows
	// every node that the provider can make; nil is an omitted field, and does not pass validation.
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements"`
	// NodeClassRef names the provider's configuration object. Required. Its
	// group and kind cannot be changed later, its name can.
	NodeClassRef *NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod bounds how long a node may drain, counted from its deletion; then the
	// remaining pods are deleted by force, despite PodDisruptionBudgets and do-not-disrupt
	// annotations. Nil means without limit. Whole seconds.
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is the age at which a node is removed by force. Default
	// 720h; Never turns expiry off.
	ExpireAfter NillableDuration `json:"expireAfter,omitzero"`
}

// NodePoolStatus is what a controller has observed of a NodePool.
type NodePoolStatus struct {
	// Resources is the sum of the capacity of the pool's nodes, and their number under
	// ResourceNodes; provisioning.Problem.Usage computes it.
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// Nodes is the number of the pool's nodes. Nil means not counted yet.
	Nodes *int64 `json:"nodes,omitempty"`
	// NodeClassObservedGeneration is the generation of the NodeClass for which
	// NodeRegistrationHealthy was determined.
	NodeClassObservedGeneration int64 `json:"nodeClassObservedGeneration,omitempty"`
	// Conditions are keyed by type; see the ConditionType constants.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodePoolList is a list of NodePools, as the API server returns it.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the pools, in the server's order.
	Items []NodePool `json:"items"`
}

// ResourceNodes is the name under which Limits count nodes.
const ResourceNodes corev1.ResourceName = "nodes"

// Limits bounds the total of a pool's nodes by resource. A resource that is
// not named is unlimited; nil limits nothing. A limit is zero or more.
type Limits corev1.ResourceList
