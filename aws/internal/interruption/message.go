package interruption

import (
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Message is one event.
type Message struct {
	// Kind is what the event says.
	Kind Kind
	// EventID is the id that EventBridge gave the event. It is the same each
	// time the event is delivered, and empty for what FromStatuses finds.
	EventID string
	// Account is the account that the event was sent to.
	Account string
	// Region is the region that the event was sent to.
	Region string
	// At is when the event was issued, in UTC; zero if it does not say.
	At time.Time
	// Deadline is when what it says will come true, in UTC; zero if that is not
	// known, or already so.
	Deadline time.Time
	// InstanceIDs are the instances it is about: sorted, without duplicates, at
	// least one unless the kind is KindNoOp, which has none.
	InstanceIDs []string
	// Detail is one line about the event, such as the state of the instance.
	Detail string
}

// Interruptions returns the notices of package cloudprovider for the message,
// one for each instance, in the order of InstanceIDs. Their ID is empty, as
// nothing is known of the queue here; Ledger.Deliver fills it in. It is nil for
// KindNoOp.
func (m Message) Interruptions() []cloudprovider.Interruption {
	kind, ok := m.Kind.Interruption()
	if !ok {
		return nil
	}
	var notices []cloudprovider.Interruption
	for _, id := range m.InstanceIDs {
		notices = append(notices, cloudprovider.Interruption{
			InstanceID: id,
			Kind:       kind,
			Detail:     m.Detail,
			At:         m.At,
			Deadline:   m.Deadline,
		})
	}
	return notices
}

// PoisonError is the error of a text that is not an event and never will be.
// The message that carried it should be reported and deleted, as it would come
// back again and again.
type PoisonError struct {
	// Err says what is wrong with the text.
	Err error
}

// Error says what is wrong and what to do.
func (e *PoisonError) Error() string {
	return "not an event of EventBridge, delete the message: " + e.Err.Error()
}

// Unwrap returns Err.
func (e *PoisonError) Unwrap() error {
	return e.Err
}
