package fake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	EventLaunched   EventKind = "launched"   // Create launched a machine
	EventJoined     EventKind = "joined"     // the kubelet of the machine made its Node
	EventRegistered EventKind = "registered" // the Node was matched with its NodeClaim
	EventReady      EventKind = "ready"      // the Node became ready for the first time
	EventDeleting   EventKind = "deleting"   // the machine began to go down, for the reason given
	EventGone       EventKind = "gone"       // the machine is gone
	EventNoticed    EventKind = "noticed"    // the cloud issued a notice about a machine
	EventBroke      EventKind = "broke"      // a node got a fault: see Action.Break
	EventMended     EventKind = "mended"     // a node lost a fault
	EventRebooting  EventKind = "rebooting"  // Reboot restarted a machine
	EventRebooted   EventKind = "rebooted"   // a machine is back after a reboot
	EventRefused    EventKind = "refused"    // Create found nothing in stock
	EventScripted   EventKind = "scripted"   // a fault of the script changed a call
	EventChanged    EventKind = "changed"    // stock, a reservation, an image or a node class changed
)

// Event is one event of a Cloud.
type Event struct {
	// At is the instant, and Elapsed the time since the cloud was made.
	At      time.Time
	Elapsed time.Duration
	// Kind is the kind of the event.
	Kind EventKind
	// InstanceID is the ID of the machine; empty if the event is not about a machine.
	InstanceID string
	// Object is the subject: the name of the instance, or its ID if it has none; an image; a
	// method.
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

// Events returns all events so far, in their order. Reading calls are not events, unless a fault
// changed them. The caller owns the slice.
func (c *Cloud) Events() []Event {
	c.enter()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// Log returns Events as text, one a line. The same calls on a cloud with the same options give
// the same bytes.
func (c *Cloud) Log() string {
	var b strings.Builder
	for _, e := range c.Events() {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// record adds an event to the log.
func (c *Cloud) record(kind EventKind, object, format string, args ...any) {
	c.events = append(c.events, Event{
		At: c.now, Elapsed: c.now.Sub(c.start), Kind: kind, Object: object, Detail: fmt.Sprintf(format, args...),
	})
}

// recordOf records an event of a machine.
func (c *Cloud) recordOf(m *machine, kind EventKind, format string, args ...any) {
	c.record(kind, cmp.Or(m.instance.Name, m.instance.ID), format, args...)
	c.events[len(c.events)-1].InstanceID = m.instance.ID
}
