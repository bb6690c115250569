package karpenter

import (
	"encoding/json"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// NodeClass is a node class of which nobody looks at more than the kind.
type NodeClass struct{ unstructured.Unstructured }

// NewNodeClass returns a node class of a kind.
func NewNodeClass(kind schema.GroupKind) *NodeClass {
	class := &NodeClass{}
	class.SetGroupVersionKind(kind.WithVersion("v1"))
	return class
}

// GetConditions returns none.
func (*NodeClass) GetConditions() []status.Condition { return nil }

// SetConditions does nothing.
func (*NodeClass) SetConditions([]status.Condition) {}

// StatusConditions is a view of the conditions, of which there are none.
func (n *NodeClass) StatusConditions(opts ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(n, opts...)
}

// Translate goes from one Go type to another by way of the manifest, which both read.
func Translate(from, to any) error {
	manifest, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(manifest, to)
}

// Ready sets the conditions without which the scheduler passes a pool over. In a cluster,
// controllers of Karpenter set them that are not part of the benchmarks.
func Ready(pool *karpenterv1.NodePool, since metav1.Time) {
	for _, t := range []string{karpenterv1.ConditionTypeValidationSucceeded, karpenterv1.ConditionTypeNodeClassReady, status.ConditionReady} {
		known := false
		for _, c := range pool.Status.Conditions {
			known = known || c.Type == t
		}
		if !known {
			pool.Status.Conditions = append(pool.Status.Conditions, status.Condition{
				Type: t, Status: metav1.ConditionTrue, Reason: t, LastTransitionTime: since,
			})
		}
	}
}
