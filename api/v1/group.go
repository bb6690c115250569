package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The API group, its two versions and the kinds that this package models.
const (
	// Group is the API group of every kind in this package. It is also the
	// domain of all labels, annotations, taints and finalizers in labels.go.
	Group = "karpenter.sh"
	// Version is the version of NodePool and NodeClaim.
	Version = "v1"
	// VersionAlpha is the version of NodeOverlay.
	VersionAlpha = "v1alpha1"

	// NodePoolKind, NodePoolListKind and the others below are the values of
	// the kind field on the wire.
	NodePoolKind = "NodePool"
	// NodePoolListKind is the kind of a NodePoolList.
	NodePoolListKind = "NodePoolList"
	// NodeClaimKind is the kind of a NodeClaim.
	NodeClaimKind = "NodeClaim"
	// NodeClaimListKind is the kind of a NodeClaimList.
	NodeClaimListKind = "NodeClaimList"
	// NodeOverlayKind is the kind of a NodeOverlay.
	NodeOverlayKind = "NodeOverlay"
	// NodeOverlayListKind is the kind of a NodeOverlayList.
	NodeOverlayListKind = "NodeOverlayList"
)

// The group versions as values. They are never written by this package and
// must not be written by callers.
var (
	// GroupVersion is karpenter.sh/v1: NodePool and NodeClaim.
	GroupVersion = schema.GroupVersion{Group: Group, Version: Version}
	// GroupVersionAlpha is karpenter.sh/v1alpha1: NodeOverlay.
	GroupVersionAlpha = schema.GroupVersion{Group: Group, Version: VersionAlpha}
)

// Kind returns the karpenter.sh GroupKind of a kind name, as
// Kind("NodePool"). Both versions share the group, so it serves all kinds.
func Kind(kind string) schema.GroupKind {
	return schema.GroupKind{Group: Group, Kind: kind}
}

// Resource returns the karpenter.sh GroupResource of a plural resource name,
// as Resource("nodepools").
func Resource(resource string) schema.GroupResource {
	return schema.GroupResource{Group: Group, Resource: resource}
}

// GroupVersionKindOf returns the group, version and kind under which a kind
// name of this package is served, and false for a name that it does not know.
// NodeOverlay and NodeOverlayList are v1alpha1, the rest v1.
func GroupVersionKindOf(kind string) (schema.GroupVersionKind, bool) {
	switch kind {
	case NodePoolKind, NodePoolListKind, NodeClaimKind, NodeClaimListKind:
		return GroupVersion.WithKind(kind), true
	case NodeOverlayKind, NodeOverlayListKind:
		return GroupVersionAlpha.WithKind(kind), true
	}
	return schema.GroupVersionKind{}, false
}

// SchemeBuilder returns a fresh builder that registers the kinds of this package. It is a function,
// and not a variable as in most API packages, because callers can append to a builder.
func SchemeBuilder() runtime.SchemeBuilder {
	return runtime.NewSchemeBuilder(addKnownTypes)
}

// AddToScheme registers NodePool, NodeClaim, NodeOverlay and their lists, plus the option types
// that every group version needs, with the scheme. Calling it twice on one scheme is harmless. The
// error is always nil; runtime.SchemeBuilder requires the signature.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := SchemeBuilder()
	return builder.AddToScheme(scheme)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&NodePool{}, &NodePoolList{},
		&NodeClaim{}, &NodeClaimList{},
	)
	scheme.AddKnownTypes(GroupVersionAlpha,
		&NodeOverlay{}, &NodeOverlayList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	metav1.AddToGroupVersion(scheme, GroupVersionAlpha)
	return nil
}
