package v1

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Requirement operators that Kubernetes itself does not define. The other six
// (In, NotIn, Exists, DoesNotExist, Gt, Lt) are the constants of k8s.io/api.
const (
	// NodeSelectorOpGte allows integers that are equal to the value or larger.
	NodeSelectorOpGte corev1.NodeSelectorOperator = "Gte"
	// NodeSelectorOpLte allows integers that are equal to the value or smaller.
	NodeSelectorOpLte corev1.NodeSelectorOperator = "Lte"
)

// NodeSelectorRequirementWithMinValues is one requirement on a node label: a key, an operator and
// values, as in a pod's node affinity, plus an optional minimum number of different values that a
// launch must allow.
type NodeSelectorRequirementWithMinValues struct {
	// Key is the label key. Required.
	Key string `json:"key"`
	// Operator is one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte and Lte.
	// Required.
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values are the operands: one or more for In, any number for NotIn, none for Exists and
	// DoesNotExist, and exactly one non-negative integer for Gt, Lt, Gte and Lte. Their order does
	// not matter.
	Values []string `json:"values,omitzero"`
	// MinValues, from 1 to 50, is the least number of different values of this key that the
	// instance types of a launch must have together. Nil means no minimum. Alpha.
	MinValues *int `json:"minValues,omitempty"`
}

// NodeSelectorRequirement returns the requirement without its MinValues, in
// the form that Kubernetes uses. The values are copied.
func (r NodeSelectorRequirementWithMinValues) NodeSelectorRequirement() corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: slices.Clone(r.Values)}
}

// NodeSelectorRequirement is one requirement on a node label in a NodeOverlay. It is
// NodeSelectorRequirementWithMinValues without the minimum; the Kubernetes type is not used because
// it does not document Gte and Lte.
type NodeSelectorRequirement struct {
	// Key is the label key. Required.
	Key string `json:"key"`
	// Operator is one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte and Lte.
	// Required.
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values are the operands: one or more for In and NotIn, none for Exists
	// and DoesNotExist, exactly one non-negative integer for Gt, Lt, Gte and
	// Lte.
	Values []string `json:"values,omitzero"`
}

// NodeSelectorRequirement returns the requirement in the form that Kubernetes
// uses. The values are copied.
func (r NodeSelectorRequirement) NodeSelectorRequirement() corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: slices.Clone(r.Values)}
}

// NodeClassReference refers to the cloud provider's object with the configuration of machines:
// image, network, disks, identity. NodeClasses are cluster scoped. All three fields are required.
type NodeClassReference struct {
	// Group is the API group of the NodeClass, without a version:
	// karpenter.k8s.aws.
	Group string `json:"group"`
	// Kind is the kind of the NodeClass: EC2NodeClass.
	Kind string `json:"kind"`
	// Name is the name of the NodeClass.
	Name string `json:"name"`
}

// GroupKind returns the group and kind without the name. It is the zero
// GroupKind for a nil reference.
func (r *NodeClassReference) GroupKind() schema.GroupKind {
	if r == nil {
		return schema.GroupKind{}
	}
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// NodeClassLabelKey returns the label key that names a node's NodeClass: the
// group, a slash, and the kind in lower case, as in
// karpenter.k8s.aws/ec2nodeclass.
func NodeClassLabelKey(gk schema.GroupKind) string {
	return gk.Group + "/" + strings.ToLower(gk.Kind)
}
