package command

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// StepKind is the kind of a step.
type StepKind string

// The kinds of steps. Each is one request to the API server, and does nothing
// if it was done before.
const (
	// StepRecord sets the annotation AnnotationKey of the NodeClaim
	// Object to Record.
	StepRecord StepKind = "record"
	// StepHold adds HoldFinalizer to the NodeClaim.
	StepHold StepKind = "hold"
	// StepReason sets the condition DisruptionReason of the NodeClaim to True
	// with Reason as reason and message.
	StepReason StepKind = "reason"
	// StepTaint adds the disrupted taint to the Node and sets its annotation to Record, both in one
	// request. A taint without a record would stay behind if the command was forgotten.
	StepTaint StepKind = "taint"
	// StepCreate creates the NodeClaim Object from NodePool, with the annotation set to Record. If
	// the object exists already, the step has succeeded.
	StepCreate StepKind = "create"
	// StepBound sets the termination deadline of the NodeClaim to DrainBy.
	StepBound StepKind = "bound"
	// StepDelete deletes the NodeClaim.
	StepDelete StepKind = "delete"
	// StepUntaint removes the disrupted taint and the annotation from the Node,
	// in one request.
	StepUntaint StepKind = "untaint"
	// StepClearReason removes the condition DisruptionReason from the
	// NodeClaim.
	StepClearReason StepKind = "clear-reason"
	// StepUnhold removes HoldFinalizer from the NodeClaim.
	StepUnhold StepKind = "unhold"
	// StepRelease removes the annotation from the NodeClaim, which then is one
	// of its pool like any other.
	StepRelease StepKind = "release"
)

// Step is one request to the API server. If the object is gone, or a precondition conflicts, the
// caller treats the step as done: if it is still necessary, Advance returns it again.
type Step struct {
	// Kind is the kind of the step. It decides which of the other fields are used.
	Kind StepKind
	// Object is the name of the NodeClaim, or for StepTaint and StepUntaint of
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
	// Why describes the purpose of the step.
	Why string
}

// OnNode reports whether Object is a Node, and not a NodeClaim.
func (s Step) OnNode() bool { return s.Kind == StepTaint || s.Kind == StepUntaint }

// String returns the step on one line, without preconditions and record.
func (s Step) String() string {
	object := "nodeclaim/" + s.Object
	if s.OnNode() {
		object = "node/" + s.Object
	}
	text := fmt.Sprintf("%s %s", s.Kind, object)
	switch s.Kind {
	case StepReason:
		text += " " + string(s.Reason)
	case StepCreate:
		text += " from nodepool/" + s.NodePool
	case StepBound:
		text += " by " + s.DrainBy.Format(time.RFC3339)
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	return text
}
