package interruption

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Parse reads the body of a message of the queue.
//
//   - An empty body is KindNoOp.
//   - A text that is no JSON object, or whose frame has fields of the wrong type
//     or a time that is not RFC 3339, is an error.
//   - An event whose source, type and version are not in the table below is
//     KindNoOp, whatever its detail.
//   - The detail of the others is read. One without the id of an instance is an
//     error. An event that turns out to be about something else, such as an
//     instance that starts or maintenance of a database, is KindNoOp.
//
// Events are known by source and detail-type, all of them version 0:
//
//	aws.ec2     EC2 Spot Instance Interruption Warning                  spot_interrupted
//	aws.ec2     EC2 Instance Rebalance Recommendation                   rebalance_recommendation
//	aws.ec2     EC2 Instance State-change Notification                  instance_stopped, instance_terminated
//	aws.ec2     EC2 Capacity Reservation Instance Interruption Warning  capacity_reservation_interrupted
//	aws.health  AWS Health Event                                        scheduled_change
//
// Every error is a *PoisonError.
func Parse(body []byte) (Message, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return Message{Kind: KindNoOp, Detail: "the body is empty"}, nil
	}
	var e event
	if err := unmarshal(body, &e); err != nil {
		return Message{}, &PoisonError{err}
	}
	at, err := e.at()
	if err != nil {
		return Message{}, &PoisonError{err}
	}
	m := Message{Kind: KindNoOp, At: at}
	read := e.reader()
	if read == nil {
		m.Detail = fmt.Sprintf("events %q of %q, version %q, need no action", shorten(e.DetailType), shorten(e.Source), shorten(e.Version))
		return m, nil
	}
	if err := read(e.Detail, &m); err != nil {
		return Message{}, &PoisonError{fmt.Errorf("%s: detail: %w", e.DetailType, err)}
	}
	return m, nil
}

// event is the frame of every event. Its resources are not read: the details
// name the instances, and for one kind AWS documents a text in place of a list.
type event struct {
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Time       string          `json:"time"`
	Version    string          `json:"version"`
	Detail     json.RawMessage `json:"detail"`
}

func (e *event) at() (time.Time, error) {
	if e.Time == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, e.Time)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: want RFC 3339, such as 2026-03-01T08:00:00Z", shorten(e.Time))
	}
	return at.UTC(), nil
}

// detailReader reads a detail into a message whose frame is filled in and whose
// kind is KindNoOp.
type detailReader func(detail json.RawMessage, m *Message) error

// reader returns nil for events that need no action.
func (e *event) reader() detailReader {
	if e.Version != "0" {
		return nil
	}
	switch [2]string{e.Source, e.DetailType} {
	case [2]string{"aws.ec2", "EC2 Spot Instance Interruption Warning"}:
		return readSpot
	case [2]string{"aws.ec2", "EC2 Instance Rebalance Recommendation"}:
		return readRebalance
	case [2]string{"aws.ec2", "EC2 Instance State-change Notification"}:
		return readStateChange
	case [2]string{"aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"}:
		return readReservation
	case [2]string{"aws.health", "AWS Health Event"}:
		return readHealth
	}
	return nil
}

// unmarshal decodes a JSON object. It refuses null, which would leave out unchanged.
func unmarshal(data []byte, out any) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return errors.New("missing")
	}
	if data[0] != '{' && json.Valid(data) {
		return errors.New("want a JSON object")
	}
	return json.Unmarshal(data, out)
}

// shorten makes one short line of a text that goes into a message.
func shorten(text string) string {
	const limit = 80
	short := strings.ToValidUTF8(text[:min(len(text), limit)], "")
	short = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, short)
	if len(text) > limit {
		short += "..."
	}
	return short
}

// Message is one event.
type Message struct {
	// Kind is the kind of the event.
	Kind Kind
	// At is when the event was issued, in UTC; zero if it does not say.
	At time.Time
	// Deadline is when the event takes effect, in UTC; zero if that is not known or is past.
	Deadline time.Time
	// InstanceIDs are the instances it is about: sorted, without duplicates, at
	// least one unless the kind is KindNoOp, which has none.
	InstanceIDs []string
	// Detail is one line about the event, such as the state of the instance.
	Detail string
}

// Interruptions returns the notices of package cloudprovider for the message, one for each
// instance, in the order of InstanceIDs. Their ID is empty: Ledger.Deliver fills it in. The result
// is nil for KindNoOp.
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

// PoisonError is the error of a text that is not an event and never will be. Report and delete the
// message that carried it, because the queue would deliver it again and again.
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

// Kind is the kind of an event. The values are those that Karpenter uses in metrics and as the
// reason for which a NodeClaim was disrupted.
type Kind string

// The kinds of events from the queue.
const (
	// KindSpotInterrupted is a spot instance that is taken back.
	KindSpotInterrupted Kind = "spot_interrupted"
	// KindRebalanceRecommendation is a spot instance that is more likely to be
	// taken back than it was.
	KindRebalanceRecommendation Kind = "rebalance_recommendation"
	// KindScheduledChange is maintenance that AWS Health announces.
	KindScheduledChange Kind = "scheduled_change"
	// KindInstanceStopped is an instance that is stopping or stopped.
	KindInstanceStopped Kind = "instance_stopped"
	// KindInstanceTerminated is an instance that is shutting down or terminated.
	KindInstanceTerminated Kind = "instance_terminated"
	// KindReservationInterrupted is an instance in an interruptible capacity
	// reservation that the reservation's owner takes back.
	KindReservationInterrupted Kind = "capacity_reservation_interrupted"
	// KindNoOp is an event that needs no action. Message.Detail says why.
	KindNoOp Kind = "no_op"
)

// The kinds that FromStatuses returns.
const (
	// KindInstanceStatus is a failed check of the instance itself.
	KindInstanceStatus Kind = "instance_status"
	// KindSystemStatus is a failed check of the host it runs on.
	KindSystemStatus Kind = "system_status"
	// KindEventStatus is maintenance that EC2 announces.
	KindEventStatus Kind = "event_status"
)

// Interruption returns the corresponding kind of package cloudprovider, and false for KindNoOp and
// unknown kinds.
func (k Kind) Interruption() (cloudprovider.InterruptionKind, bool) {
	switch k {
	case KindSpotInterrupted:
		return cloudprovider.InterruptionSpot, true
	case KindRebalanceRecommendation:
		return cloudprovider.InterruptionRebalance, true
	case KindScheduledChange, KindEventStatus:
		return cloudprovider.InterruptionMaintenance, true
	case KindInstanceStopped, KindInstanceTerminated:
		return cloudprovider.InterruptionStopping, true
	case KindReservationInterrupted:
		return cloudprovider.InterruptionReservation, true
	case KindInstanceStatus, KindSystemStatus:
		return cloudprovider.InterruptionUnhealthy, true
	}
	return "", false
}
