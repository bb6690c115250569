package interruption

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// UnhealthyAfter is how long a check must have failed to count.
const UnhealthyAfter = 120 * time.Second

// InstanceStatus is the status of one instance from EC2's DescribeInstanceStatus.
type InstanceStatus struct {
	// InstanceID is the instance.
	InstanceID string
	// Instance are the instance's own checks.
	Instance []StatusCheck
	// System are the checks of the host.
	System []StatusCheck
	// Events is the maintenance that is announced.
	Events []ScheduledEvent
}

// StatusCheck is one check of an instance or host.
type StatusCheck struct {
	// Name is the name of the check, such as reachability.
	Name string
	// Failed says that the check fails now.
	Failed bool
	// ImpairedSince is since when it fails; zero if that is not known.
	ImpairedSince time.Time
}

// ScheduledEvent is maintenance of an instance.
type ScheduledEvent struct {
	// Code is the kind of maintenance. EventCodes lists those that matter.
	Code string
	// Description is in EC2's words. It begins with [Completed] or [Canceled] when the event is
	// over.
	Description string
	// NotBefore is when it begins at the earliest.
	NotBefore time.Time
}

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
func FromStatuses(now time.Time, statuses []InstanceStatus) []Message {
	f := finder{now: now, found: map[statusKey]*Message{}}
	for i := range statuses {
		s := &statuses[i]
		if !isInstanceID(s.InstanceID) {
			continue
		}
		f.checks(statusKey{s.InstanceID, KindInstanceStatus}, s.Instance)
		f.checks(statusKey{s.InstanceID, KindSystemStatus}, s.System)
		f.events(statusKey{s.InstanceID, KindEventStatus}, s.Events)
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

func (f *finder) checks(key statusKey, checks []StatusCheck) {
	for _, c := range checks {
		if !c.Failed || f.now.Sub(c.ImpairedSince) < UnhealthyAfter {
			continue
		}
		m := f.message(key, c.Name)
		if at := c.ImpairedSince; !at.IsZero() && at.Before(m.At) {
			m.At = at.UTC()
		}
	}
}

func (f *finder) events(key statusKey, events []ScheduledEvent) {
	for _, e := range events {
		over := strings.HasPrefix(e.Description, "[Completed]") || strings.HasPrefix(e.Description, "[Canceled]")
		if over || !slices.Contains(EventCodes(), e.Code) {
			continue
		}
		m := f.message(key, e.Code)
		if at := e.NotBefore; !at.IsZero() && (m.Deadline.IsZero() || at.Before(m.Deadline)) {
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
