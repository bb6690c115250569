package command

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// WriteKind is the kind of a write.
type WriteKind string

// The kinds of writes. Each is one request to the API server, and does nothing
// if it was done before.
const (
	// WriteRecord sets the annotation AnnotationKey of the NodeClaim
	// Object to Record.
	WriteRecord WriteKind = "record"
	// WriteHold adds HoldFinalizer to the NodeClaim.
	WriteHold WriteKind = "hold"
	// WriteReason sets the condition DisruptionReason of the NodeClaim to True
	// with Reason as reason and message.
	WriteReason WriteKind = "reason"
	// WriteTaint adds the disrupted taint to the Node and sets its annotation to Record, both in one
	// request. A taint without a record would stay behind if the command was forgotten.
	WriteTaint WriteKind = "taint"
	// WriteCreate creates the NodeClaim Object from NodePool, with the annotation set to Record. If
	// the object exists already, the write has succeeded.
	WriteCreate WriteKind = "create"
	// WriteBound sets the termination deadline of the NodeClaim to DrainBy.
	WriteBound WriteKind = "bound"
	// WriteDelete deletes the NodeClaim.
	WriteDelete WriteKind = "delete"
	// WriteUntaint removes the disrupted taint and the annotation from the Node,
	// in one request.
	WriteUntaint WriteKind = "untaint"
	// WriteClearReason removes the condition DisruptionReason from the
	// NodeClaim.
	WriteClearReason WriteKind = "clear-reason"
	// WriteUnhold removes HoldFinalizer from the NodeClaim.
	WriteUnhold WriteKind = "unhold"
	// WriteRelease removes the annotation from the NodeClaim, which then is one
	// of its pool like any other.
	WriteRelease WriteKind = "release"
)

// Write is one request to the API server. If the object is gone, or a precondition conflicts, the
// caller treats the write as done: if it is still necessary, Advance returns it again.
type Write struct {
	// Kind is the kind of the write. It decides which of the other fields are used.
	Kind WriteKind
	// Object is the name of the NodeClaim, or for WriteTaint and WriteUntaint of
	// the Node.
	Object string
	// UID and ResourceVersion are preconditions, as the object had them when it
	// was observed. Empty is none.
	UID             types.UID
	ResourceVersion string
	// Record is the text for the annotation.
	Record string
	// Reason is the reason for the condition.
	Reason v1.DisruptionReason
	// NodePool is the pool of a NodeClaim to create.
	NodePool string
	// DrainBy is the termination deadline.
	DrainBy time.Time
	// Why describes the purpose of the write.
	Why string
}

// OnNode reports whether Object is a Node, and not a NodeClaim.
func (s Write) OnNode() bool { return s.Kind == WriteTaint || s.Kind == WriteUntaint }

// String returns the write on one line, without preconditions and record.
func (s Write) String() string {
	object := "nodeclaim/" + s.Object
	if s.OnNode() {
		object = "node/" + s.Object
	}
	text := fmt.Sprintf("%s %s", s.Kind, object)
	switch s.Kind {
	case WriteReason:
		text += " " + string(s.Reason)
	case WriteCreate:
		text += " from nodepool/" + s.NodePool
	case WriteBound:
		text += " by " + s.DrainBy.Format(time.RFC3339)
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	return text
}

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
