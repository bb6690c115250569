package interruption

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// UnhealthyAfter is how long a check must have failed to count.
const UnhealthyAfter = 120 * time.Second

// EventCodes returns the codes of scheduled events that FromStatuses reports, sorted. Filter
// DescribeInstanceStatus by them. The caller owns the slice.
func EventCodes() []string {
	return []string{"instance-reboot", "instance-retirement", "instance-stop", "system-maintenance", "system-reboot"}
}

// FromStatuses returns a message for each problem in the status of instances: at most one for each
// instance and kind, sorted by instance and then kind.
//
//   - A check counts if it fails and has failed for UnhealthyAfter or longer at
//     now. The message is At the earliest such time, or at now if none is known.
//   - An event counts if its code is one of EventCodes and it is neither completed nor cancelled,
//     however far ahead it is, because its host will be taken down. The message is At now, and its
//     Deadline the earliest NotBefore.
//
// Malformed instance ids are ignored, and several statuses of one instance are merged.
func FromStatuses(now time.Time, statuses []ec2types.InstanceStatus) []Message {
	f := finder{now: now, found: map[statusKey]*Message{}}
	for i := range statuses {
		s := &statuses[i]
		id := aws.ToString(s.InstanceId)
		if !isInstanceID(id) {
			continue
		}
		f.checks(statusKey{id, KindInstanceStatus}, s.InstanceStatus)
		f.checks(statusKey{id, KindSystemStatus}, s.SystemStatus)
		f.events(statusKey{id, KindEventStatus}, s.Events)
	}
	return f.messages()
}

type statusKey struct {
	instance string
	kind     Kind
}

// finder collects messages by instance and kind, with their details.
type finder struct {
	now   time.Time
	found map[statusKey]*Message
	names map[statusKey][]string
}

func (f *finder) checks(key statusKey, checks *ec2types.InstanceStatusSummary) {
	if checks == nil {
		return
	}
	for _, c := range checks.Details {
		at := aws.ToTime(c.ImpairedSince)
		if c.Status != ec2types.StatusTypeFailed || f.now.Sub(at) < UnhealthyAfter {
			continue
		}
		m := f.message(key, string(c.Name))
		if !at.IsZero() && at.Before(m.At) {
			m.At = at.UTC()
		}
	}
}

func (f *finder) events(key statusKey, events []ec2types.InstanceStatusEvent) {
	for _, e := range events {
		description := aws.ToString(e.Description)
		over := strings.HasPrefix(description, "[Completed]") || strings.HasPrefix(description, "[Canceled]")
		if over || !slices.Contains(EventCodes(), string(e.Code)) {
			continue
		}
		m := f.message(key, string(e.Code))
		if at := aws.ToTime(e.NotBefore); !at.IsZero() && (m.Deadline.IsZero() || at.Before(m.Deadline)) {
			m.Deadline = at.UTC()
		}
	}
}

// message returns the message of the key, made if missing, and adds a name to its detail.
func (f *finder) message(key statusKey, name string) *Message {
	m := f.found[key]
	if m == nil {
		m = &Message{Kind: key.kind, At: f.now.UTC(), InstanceIDs: []string{key.instance}}
		f.found[key] = m
	}
	if f.names == nil {
		f.names = map[statusKey][]string{}
	}
	f.names[key] = append(f.names[key], shorten(name))
	return m
}

func (f *finder) messages() []Message {
	var out []Message
	for key, m := range f.found {
		names := f.names[key]
		slices.Sort(names)
		m.Detail = detailOf(key.kind) + strings.Join(slices.Compact(names), ", ")
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.InstanceIDs[0], b.InstanceIDs[0]), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

func detailOf(kind Kind) string {
	switch kind {
	case KindInstanceStatus:
		return "failed checks of the instance: "
	case KindSystemStatus:
		return "failed checks of the host: "
	}
	return "scheduled: "
}
