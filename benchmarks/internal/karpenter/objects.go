package karpenter

import (
	"encoding/json"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// NodeClass is an object of any kind of node class. Only its kind is read.
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

// StatusConditions returns the condition set, which is empty.
func (n *NodeClass) StatusConditions(opts ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(n, opts...)
}

// Translate converts between two Go types of the same object by way of JSON.
func Translate(from, to any) error {
	manifest, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(manifest, to)
}

// Ready sets the conditions without which the scheduler ignores a pool. In a cluster, Karpenter's
// controllers that are not part of the benchmarks set them.
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
