package command

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// EditClaim returns a NodeClaim after a write, for a program that stores whole objects. The given
// claim is not changed. It is the object of the write. For WriteCreate it is the claim to create,
// without a name, and gets the name, the label of its pool and the record. WriteReason and
// WriteClearReason change the status, all others the metadata. WriteDelete is a request of its own:
// for this write, for writes of Nodes and for a nil claim nothing changes.
//
// Preconditions are not checked; the server checks them if they are sent along. now is the
// transition time of a changed condition.
func (s Write) EditClaim(now time.Time, claim *v1.NodeClaim) *v1.NodeClaim {
	if claim == nil {
		return nil
	}
	c := claim.DeepCopy()
	switch s.Kind {
	case WriteRecord:
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, AnnotationKey, s.Record)
	case WriteRelease:
		delete(c.Annotations, AnnotationKey)
	case WriteCreate:
		c.Name, c.GenerateName = s.Object, ""
		metav1.SetMetaDataLabel(&c.ObjectMeta, v1.NodePoolLabelKey, s.NodePool)
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, AnnotationKey, s.Record)
	case WriteBound:
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1.NodeClaimTerminationTimestampAnnotationKey, s.DrainBy.UTC().Format(time.RFC3339))
	case WriteHold:
		if c.DeletionTimestamp == nil && !slices.Contains(c.Finalizers, HoldFinalizer) {
			c.Finalizers = append(c.Finalizers, HoldFinalizer)
		}
	case WriteUnhold:
		c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == HoldFinalizer })
	case WriteReason:
		c.Status.Conditions = status.With(c.Status.Conditions, metav1.Condition{Type: v1.ConditionTypeDisruptionReason,
			Status: metav1.ConditionTrue, Reason: string(s.Reason), Message: string(s.Reason)}, now)
	case WriteClearReason:
		c.Status.Conditions = slices.DeleteFunc(c.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1.ConditionTypeDisruptionReason })
	}
	return c
}

// EditNode returns a Node after WriteTaint or WriteUntaint, as EditClaim does for a NodeClaim. Other
// writes change nothing.
//
// Taints with the key of the disrupted taint and another effect are replaced.
func (s Write) EditNode(node *corev1.Node) *corev1.Node {
	if node == nil {
		return nil
	}
	n := node.DeepCopy()
	if !s.OnNode() {
		return n
	}
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == v1.DisruptedTaintKey })
	if s.Kind == WriteTaint {
		n.Spec.Taints = append(n.Spec.Taints, v1.DisruptedNoScheduleTaint())
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, AnnotationKey, s.Record)
	} else {
		delete(n.Annotations, AnnotationKey)
	}
	return n
}
