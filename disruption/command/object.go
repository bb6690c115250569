package command

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// EditClaim is a NodeClaim after a step, for a program that sends whole objects.
// The claim given is not changed. It is the object that the step is for, or for
// StepCreate the one to create, without a name: it gets the name, the label of
// its pool and the record. StepReason and StepClearReason edit the status, all
// others metadata. StepDelete is a request of its own and edits nothing, as do
// steps for Nodes and a nil claim.
//
// Preconditions are not looked at: the server does that if they are sent along.
// now is when a condition changes.
func (s Step) EditClaim(claim *v1.NodeClaim, now time.Time) *v1.NodeClaim {
	if claim == nil {
		return nil
	}
	c := claim.DeepCopy()
	switch s.Kind {
	case StepRecord:
		c.Annotations = setKey(c.Annotations, AnnotationKey, s.Record)
	case StepRelease:
		delete(c.Annotations, AnnotationKey)
	case StepCreate:
		c.Name, c.GenerateName = s.Object, ""
		c.Labels = setKey(c.Labels, v1.NodePoolLabelKey, s.NodePool)
		c.Annotations = setKey(c.Annotations, AnnotationKey, s.Record)
	case StepBound:
		c.Annotations = setKey(c.Annotations, v1.NodeClaimTerminationTimestampAnnotationKey, s.DrainBy.UTC().Format(time.RFC3339))
	case StepHold:
		if c.DeletionTimestamp == nil && !slices.Contains(c.Finalizers, HoldFinalizer) {
			c.Finalizers = append(c.Finalizers, HoldFinalizer)
		}
	case StepUnhold:
		c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == HoldFinalizer })
	case StepReason, StepClearReason:
		c.Status.Conditions = s.editConditions(c.Status.Conditions, now)
	}
	return c
}

// editConditions sets or removes the reason. As for all conditions, the time of
// transition changes only with the status.
func (s Step) editConditions(list []metav1.Condition, now time.Time) []metav1.Condition {
	at := metav1.NewTime(now)
	list = slices.DeleteFunc(list, func(c metav1.Condition) bool {
		if c.Type != v1.ConditionTypeDisruptionReason {
			return false
		}
		if c.Status == metav1.ConditionTrue {
			at = c.LastTransitionTime
		}
		return true
	})
	if s.Kind == StepReason {
		list = append(list, metav1.Condition{Type: v1.ConditionTypeDisruptionReason, Status: metav1.ConditionTrue,
			Reason: string(s.Reason), Message: string(s.Reason), LastTransitionTime: at})
	}
	return list
}

// EditNode is a Node after StepTaint or StepUntaint, as EditClaim is a
// NodeClaim. Other steps edit nothing.
//
// Taints with the key of the disrupted taint and another effect are replaced.
func (s Step) EditNode(node *corev1.Node) *corev1.Node {
	if node == nil {
		return nil
	}
	n := node.DeepCopy()
	if !s.OnNode() {
		return n
	}
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == v1.DisruptedTaintKey })
	if s.Kind == StepTaint {
		n.Spec.Taints = append(n.Spec.Taints, v1.DisruptedNoScheduleTaint())
		n.Annotations = setKey(n.Annotations, AnnotationKey, s.Record)
	} else {
		delete(n.Annotations, AnnotationKey)
	}
	return n
}

// setKey sets a key of a map that may be nil. The map is the caller's own.
func setKey(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
