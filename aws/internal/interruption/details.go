package interruption

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// notice is the time between the announcement of EC2 to take back an instance and the interruption.
const notice = 2 * time.Minute

func readSpot(detail json.RawMessage, m *Message) error {
	var d struct {
		InstanceID string `json:"instance-id"`
		Action     string `json:"instance-action"`
	}
	if err := unmarshal(detail, &d); err != nil {
		return err
	}
	if err := m.about(KindSpotInterrupted, d.InstanceID); err != nil {
		return err
	}
	m.Detail = "spot interruption"
	if d.Action != "" {
		m.Detail += ", action " + shorten(d.Action)
	}
	// Hibernation begins with the notice; there is nothing to wait for.
	if !m.At.IsZero() && d.Action != "hibernate" {
		m.Deadline = m.At.Add(notice)
	}
	return nil
}

func readRebalance(detail json.RawMessage, m *Message) error {
	var d struct {
		InstanceID string `json:"instance-id"`
	}
	if err := unmarshal(detail, &d); err != nil {
		return err
	}
	m.Detail = "rebalance recommendation"
	return m.about(KindRebalanceRecommendation, d.InstanceID)
}

func readReservation(detail json.RawMessage, m *Message) error {
	var d struct {
		InstanceID string `json:"instance-id"`
		Action     string `json:"instance-action"`
		Time       string `json:"instance-termination-time"`
	}
	if err := unmarshal(detail, &d); err != nil {
		return err
	}
	if err := m.about(KindReservationInterrupted, d.InstanceID); err != nil {
		return err
	}
	m.Detail = "capacity reservation interruption"
	if d.Action != "" {
		m.Detail += ", action " + shorten(d.Action)
	}
	m.Deadline = readTime(d.Time)
	if m.Deadline.IsZero() && !m.At.IsZero() {
		m.Deadline = m.At.Add(notice)
	}
	return nil
}

func readStateChange(detail json.RawMessage, m *Message) error {
	var d struct {
		InstanceID string `json:"instance-id"`
		State      string `json:"state"`
	}
	if err := unmarshal(detail, &d); err != nil {
		return err
	}
	m.Detail = "instance is " + shorten(d.State)
	switch strings.ToLower(d.State) {
	case "stopping", "stopped":
		return m.about(KindInstanceStopped, d.InstanceID)
	case "shutting-down", "terminated":
		return m.about(KindInstanceTerminated, d.InstanceID)
	}
	return nil
}

// healthDetail has the fields of an AWS Health event that are used.
type healthDetail struct {
	Service       string `json:"service"`
	EventTypeCode string `json:"eventTypeCode"`
	Category      string `json:"eventTypeCategory"`
	StatusCode    string `json:"statusCode"`
	StartTime     string `json:"startTime"`
	Entities      []struct {
		Value  string `json:"entityValue"`
		Status string `json:"status"`
	} `json:"affectedEntities"`
}

// readHealth ignores closed events, whose maintenance is done or cancelled, and entities that AWS
// calls resolved.
func readHealth(detail json.RawMessage, m *Message) error {
	var d healthDetail
	if err := unmarshal(detail, &d); err != nil {
		return err
	}
	what := shorten(d.EventTypeCode)
	if what == "" {
		what = "scheduled change"
	}
	switch {
	case d.Service != "EC2" || d.Category != "scheduledChange":
		m.Detail = fmt.Sprintf("health events of service %q and category %q need no action", shorten(d.Service), shorten(d.Category))
		return nil
	case d.StatusCode == "closed":
		m.Detail = what + " is closed"
		return nil
	}
	for _, entity := range d.Entities {
		id := instanceOf(entity.Value)
		if isInstanceID(id) && entity.Status != "RESOLVED" {
			m.InstanceIDs = append(m.InstanceIDs, id)
		}
	}
	slices.Sort(m.InstanceIDs)
	m.InstanceIDs = slices.Compact(m.InstanceIDs)
	if len(m.InstanceIDs) == 0 {
		m.Detail = what + " affects no instance"
		return nil
	}
	m.Kind = KindScheduledChange
	m.Detail = what
	m.Deadline = readTime(d.StartTime)
	return nil
}

// about sets the kind of the message and its only instance.
func (m *Message) about(kind Kind, instanceID string) error {
	if !isInstanceID(instanceID) {
		return fmt.Errorf("instance-id %q: want the id of an instance, such as i-0123456789abcdef0", shorten(instanceID))
	}
	m.Kind = kind
	m.InstanceIDs = []string{instanceID}
	return nil
}

// instanceOf returns the id in the ARN of an instance, and other texts as they
// are.
func instanceOf(text string) string {
	if rest, ok := strings.CutPrefix(text, "arn:"); ok {
		if _, id, ok := strings.Cut(rest, ":instance/"); ok {
			return id
		}
	}
	return text
}

func isInstanceID(text string) bool {
	const limit = 64
	rest, ok := strings.CutPrefix(text, "i-")
	return ok && rest != "" && len(text) <= limit && strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// readTime reads a time in the form of EC2 or that of AWS Health. It returns the zero time for any
// other text, so that the notice is kept.
func readTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "Mon, 2 Jan 2006 15:04:05 GMT"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
