package fake

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// EventKind says what happened.
type EventKind string

const (
	// EventLaunched: Create launched a machine.
	EventLaunched EventKind = "launched"
	// EventJoined: the kubelet of the machine made its Node.
	EventJoined EventKind = "joined"
	// EventRegistered: the Node was matched with its NodeClaim.
	EventRegistered EventKind = "registered"
	// EventReady: the Node became ready for the first time.
	EventReady EventKind = "ready"
	// EventDeleting: the machine began to go down, for the reason given.
	EventDeleting EventKind = "deleting"
	// EventGone: the machine is gone.
	EventGone EventKind = "gone"
	// EventNoticed: the cloud issued a notice about a machine.
	EventNoticed EventKind = "noticed"
	// EventBroke: a node came to have a condition that means trouble.
	EventBroke EventKind = "broke"
	// EventMended: a node lost such a condition.
	EventMended EventKind = "mended"
	// EventRebooting: Reboot restarted a machine.
	EventRebooting EventKind = "rebooting"
	// EventRebooted: a machine is back after a reboot.
	EventRebooted EventKind = "rebooted"
	// EventRefused: Create found nothing in stock.
	EventRefused EventKind = "refused"
	// EventThrottled: a rate limit turned a call away.
	EventThrottled EventKind = "throttled"
	// EventScripted: a fault of the script changed the course of a call.
	EventScripted EventKind = "scripted"
	// EventChanged: stock, a reservation, an image or a node class changed.
	EventChanged EventKind = "changed"
)

// Event is one thing that happened in a Cloud.
type Event struct {
	// At is when, and Elapsed how long after the cloud was made.
	At      time.Time
	Elapsed time.Duration
	// Kind says what.
	Kind EventKind
	// InstanceID is the ID of the machine concerned, if it is about one.
	InstanceID string
	// Object is what it is about: the name of the instance, or its ID if it
	// has none; an image; a method.
	Object string
	// Detail says more, in one line. May be empty.
	Detail string
}

// String returns one line, as in
//
//	+2m30s launched general-x7k2p: m5.large/us-east-1a/spot at 0.0337 USD per hour
func (e Event) String() string {
	text := fmt.Sprintf("+%v %s %s", e.Elapsed, e.Kind, e.Object)
	if e.Detail != "" {
		text += ": " + strings.ReplaceAll(e.Detail, "\n", "; ")
	}
	return text
}

// Events returns everything that happened so far, in the order in which it
// happened. Calls that only look at the cloud are no events, unless a fault or a
// rate limit stood in their way. The slice is the caller's.
func (c *Cloud) Events() []Event {
	c.enter()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// Log returns Events as text, one a line. The same calls on a cloud with the
// same options give the same bytes.
func (c *Cloud) Log() string {
	var b strings.Builder
	for _, e := range c.Events() {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// record writes an event into the log.
func (c *Cloud) record(kind EventKind, object, format string, args ...any) {
	c.events = append(c.events, Event{
		At: c.now, Elapsed: c.now.Sub(c.start), Kind: kind, Object: object, Detail: fmt.Sprintf(format, args...),
	})
}

// recordOf is record for an event of a machine.
func (c *Cloud) recordOf(m *machine, kind EventKind, format string, args ...any) {
	c.record(kind, m.title(), format, args...)
	c.events[len(c.events)-1].InstanceID = m.instance.ID
}
