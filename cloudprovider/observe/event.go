package observe

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Op is the operation that was called. The list may grow.
type Op string

// The operations: the methods of cloudprovider.CloudProvider and of the
// abilities that are observed.
const (
	// OpInstanceTypes is CloudProvider.InstanceTypes.
	OpInstanceTypes Op = "InstanceTypes"
	// OpCreate is CloudProvider.Create.
	OpCreate Op = "Create"
	// OpDelete is CloudProvider.Delete.
	OpDelete Op = "Delete"
	// OpGet is CloudProvider.Get.
	OpGet Op = "Get"
	// OpList is CloudProvider.List.
	OpList Op = "List"
	// OpIsDrifted is DriftDetector.IsDrifted.
	OpIsDrifted Op = "IsDrifted"
	// OpNodeClassReady is NodeClassChecker.NodeClassReady.
	OpNodeClassReady Op = "NodeClassReady"
	// OpReboot is Rebooter.Reboot.
	OpReboot Op = "Reboot"
	// OpInterruptions is InterruptionSource.Interruptions. It waits for
	// notices, so that it takes long says nothing.
	OpInterruptions Op = "Interruptions"
	// OpAcknowledge is InterruptionAcknowledger.Acknowledge.
	OpAcknowledge Op = "Acknowledge"
)

// Event is something that happened. It is a Started or an Ended; further events
// may come within a major version, so a switch over them has a default. Callers
// do not implement it.
type Event interface {
	event()
}

// Call says which call an event is about.
type Call struct {
	// Number tells the calls of one wrapper apart, counted from 1.
	Number uint64
	// Provider is the name of the provider; see cloudprovider.Name. May be
	// empty.
	Provider string
	// Op is the operation.
	Op Op
	// Object is what the call is about: the name of a NodeClaim (Create,
	// IsDrifted) or of a node class, the ID of an instance. Empty if there is
	// none such.
	Object string
	// NodePool is the name of the pool, for InstanceTypes, Create and
	// IsDrifted. May be empty.
	NodePool string
}

// Started says that a call is about to be passed on.
type Started struct {
	Call
	// At is when.
	At time.Time
}

// Ended says that a call came back. It is read-only, as is all it points at.
type Ended struct {
	Call
	// At is when it came back, and Duration how long that took. A clock that
	// was set back meanwhile makes Duration zero.
	At       time.Time
	Duration time.Duration

	// Err is the error of the call, nil if there was none, and Kind its kind;
	// see cloudprovider.KindOf.
	Err  error
	Kind cloudprovider.Kind
	// Panicked says that the call did not come back at all, but panicked or
	// ended its goroutine; the rest of the outcome is empty.
	Panicked bool

	// Instance is what Create and Get returned; nil otherwise.
	Instance *cloudprovider.Instance
	// Count is how many instance types, instances or notices were returned, or
	// notices acknowledged; zero for other calls.
	Count int
	// Drift is what IsDrifted returned.
	Drift cloudprovider.Drift
}

func (Started) event() {}
func (Ended) event()   {}

// Outcome returns one word on how the call ended: "OK", "Panic", "Unknown", or
// the Kind of the error. There are few such words, so it can be the label of a
// metric.
func (e Ended) Outcome() string {
	switch {
	case e.Panicked:
		return "Panic"
	case e.Err == nil:
		return "OK"
	case e.Kind == cloudprovider.KindUnknown:
		return "Unknown"
	}
	return string(e.Kind)
}

// String returns one line, as in "#7 aws Create web-x7 started".
func (e Started) String() string { return e.text() + " started" }

// String returns one line, as in "#7 aws Create web-x7 OK in 1.5s".
func (e Ended) String() string { return fmt.Sprintf("%s %s in %v", e.text(), e.Outcome(), e.Duration) }

func (c Call) text() string {
	text := fmt.Sprintf("#%d", c.Number)
	for _, part := range []string{c.Provider, string(c.Op), c.Object} {
		if part != "" {
			text += " " + part
		}
	}
	return text
}
