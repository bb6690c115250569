package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeOverlay corrects a provider's instance types before decisions are made: their price, or
// extended resources that the provider does not know. It is cluster scoped, karpenter.sh/v1alpha1.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodeOverlay struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the usual Kubernetes metadata. Of overlays with equal weight the first by name
	// takes precedence.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user asks for. Required.
	Spec NodeOverlaySpec `json:"spec"`
	// Status is what a controller has observed.
	Status NodeOverlayStatus `json:"status,omitempty,omitzero"`
}

// NodeOverlaySpec says what to change, and where.
type NodeOverlaySpec struct {
	// Requirements select the instance types and offerings that are changed.
	// Required on the wire; an empty list selects all, nil does not pass
	// validation.
	Requirements []NodeSelectorRequirement `json:"requirements"`
	// PriceAdjustment changes the provider's price: a signed amount in USD per
	// hour ("+0.05", "-1.2") or a signed percentage ("+10%", "-15.5%", at the
	// least "-100%"). Not together with Price.
	PriceAdjustment *string `json:"priceAdjustment,omitempty"`
	// Price replaces the provider's price: an unsigned decimal in USD per hour
	// ("0.5"). Not together with PriceAdjustment.
	Price *string `json:"price,omitempty"`
	// Capacity adds extended resources to the instance types, or replaces their amounts. cpu,
	// memory, ephemeral-storage and pods cannot be set.
	Capacity corev1.ResourceList `json:"capacity,omitzero"`
	// Weight orders overlays: the higher weight takes precedence, 1 to 10000. Nil counts as 0.
	Weight *int32 `json:"weight,omitempty"`
}

// NodeOverlayStatus is what a controller has observed of a NodeOverlay.
type NodeOverlayStatus struct {
	// Conditions are keyed by type; see the ConditionType constants.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeOverlayList is a list of NodeOverlays, as the API server returns it.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodeOverlayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the overlays, in the server's order.
	Items []NodeOverlay `json:"items"`
}
