package interruption

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
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
	m := Message{Kind: KindNoOp, EventID: e.ID, Account: e.Account, Region: e.Region, At: at}
	read := e.reader()
	if read == nil {
		m.Detail = fmt.Sprintf("nothing is done about events %q of %q, version %q", shorten(e.DetailType), shorten(e.Source), shorten(e.Version))
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
	Account    string          `json:"account"`
	DetailType string          `json:"detail-type"`
	ID         string          `json:"id"`
	Region     string          `json:"region"`
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

// reader is nil for events that nothing is done about.
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

// unmarshal asks for an object: null would leave everything empty.
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
