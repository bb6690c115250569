package command

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// StepKind is what a step does.
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
	// StepTaint adds the disrupted taint to the Node Object and sets its
	// annotation to Record, both in one request: a taint that no record
	// explains would be left behind if the command was forgotten.
	StepTaint StepKind = "taint"
	// StepCreate creates the NodeClaim Object from NodePool, with the annotation
	// set to Record. That it exists already is a success.
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

// Step is one thing to do. That the object is gone is a success, and so
// is a conflict with a precondition: what is still to be done comes again.
type Step struct {
	// Kind says what to do, and which of the other fields count.
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
	// Why says in words what the step is for.
	Why string
}

// OnNode is whether Object is a Node, and not a NodeClaim.
func (s Step) OnNode() bool { return s.Kind == StepTaint || s.Kind == StepUntaint }

// String is the step on one line, without preconditions and record.
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

// Apply is the view after a step was carried out, which is what the step means:
// a program that carries steps out must have the same effect. The receiver is
// not changed. A step whose preconditions do not hold, or whose object is not
// there, changes nothing. Versions are not counted on: that is for the server.
//
// StepDelete marks a NodeClaim as being deleted. That it goes, once the machine
// is gone and no finalizer is left, is not the work of a step. EditClaim and
// EditNode do the same to real objects.
func (v View) Apply(s Step) View {
	if s.OnNode() {
		i := slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Name == s.Object })
		if i < 0 || !stepHolds(s, v.Nodes[i].UID, v.Nodes[i].ResourceVersion) {
			return v
		}
		v.Nodes = slices.Clone(v.Nodes)
		v.Nodes[i].Tainted, v.Nodes[i].Record = s.Kind == StepTaint, s.Record
		return v
	}
	i := slices.IndexFunc(v.Claims, func(c Claim) bool { return c.Name == s.Object })
	if s.Kind == StepCreate {
		if i < 0 {
			v.Claims = append(slices.Clip(v.Claims), Claim{Name: s.Object, Record: s.Record})
		}
		return v
	}
	if i < 0 || !stepHolds(s, v.Claims[i].UID, v.Claims[i].ResourceVersion) {
		return v
	}
	v.Claims = slices.Clone(v.Claims)
	v.Claims[i].apply(s)
	return v
}

func (c *Claim) apply(s Step) {
	switch s.Kind {
	case StepRecord:
		c.Record = s.Record
	case StepRelease:
		c.Record = ""
	case StepHold:
		// The server takes no new finalizer on an object that is being deleted.
		c.Held = c.Held || !c.Deleting
	case StepUnhold:
		c.Held = false
	case StepReason:
		c.Reason = s.Reason
	case StepClearReason:
		c.Reason = ""
	case StepBound:
		c.DrainBy = s.DrainBy
	case StepDelete:
		c.Deleting = true
	}
}

// stepHolds is whether the preconditions of a step hold.
func stepHolds(s Step, uid types.UID, version string) bool {
	return (s.UID == "" || s.UID == uid) && (s.ResourceVersion == "" || s.ResourceVersion == version)
}
