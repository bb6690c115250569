package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The API group, its version and its kinds.
const (
	// Group is the API group of EC2NodeClass. It is also the domain of the
	// labels, annotations and the finalizer in labels.go.
	Group = "karpenter.k8s.aws"
	// Version is the version of EC2NodeClass.
	Version = "v1"
	// EC2NodeClassKind is the value of the kind field on the wire.
	EC2NodeClassKind = "EC2NodeClass"
	// EC2NodeClassListKind is the kind of an EC2NodeClassList.
	EC2NodeClassListKind = "EC2NodeClassList"
)

// GroupVersion is karpenter.k8s.aws/v1. It is never written by this package and
// must not be written by callers.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}

// Kind returns the karpenter.k8s.aws GroupKind of a kind name.
func Kind(kind string) schema.GroupKind {
	return schema.GroupKind{Group: Group, Kind: kind}
}

// Resource returns the karpenter.k8s.aws GroupResource of a plural resource
// name, as Resource("ec2nodeclasses").
func Resource(resource string) schema.GroupResource {
	return schema.GroupResource{Group: Group, Resource: resource}
}

// SchemeBuilder returns a fresh builder that registers the kinds of this package. It is a function
// because callers can append to a builder.
func SchemeBuilder() runtime.SchemeBuilder {
	return runtime.NewSchemeBuilder(addKnownTypes)
}

// AddToScheme registers EC2NodeClass and its list, plus the option types that every group version
// needs, with the scheme. Calling it twice on one scheme is harmless. The error is always nil, as
// in karpv1.AddToScheme.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := SchemeBuilder()
	return builder.AddToScheme(scheme)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &EC2NodeClass{}, &EC2NodeClassList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
