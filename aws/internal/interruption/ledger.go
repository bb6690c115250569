package interruption

import (
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Ledger records the notices that were acknowledged, by message of a queue. So a message is deleted
// after its last notice and not before. The Ledger is kept in memory: after a restart the queue
// delivers every message again that was not deleted. The zero Ledger is ready for use. Several
// goroutines must not use one Ledger at once.
type Ledger struct {
	messages map[string]*delivery // by id of the queue's message
}

// delivery is a message of the queue.
type delivery struct {
	receipt string
	last    time.Time
	open    []string // instances whose notice is not acknowledged, sorted
}

// separator stands between the parts of a notice's ID. Ids of messages and of
// instances do not have it.
const separator = "/"

// Deliver records that the queue delivered a message at now, and returns its notices that were not
// acknowledged yet, in the order of the instances. The ID of a notice is the message's id and the
// instance.
//
// receipt is what the queue needs to delete the message. It differs at each delivery, and the
// latest one is kept; id is the same at each delivery. If no notice is returned, the message needs
// no more action: delete it.
func (l *Ledger) Deliver(now time.Time, id, receipt string, m Message) []cloudprovider.Interruption {
	notices := m.Interruptions()
	if len(notices) == 0 {
		return nil
	}
	d := l.messages[id]
	if d == nil {
		d = &delivery{open: slices.Clone(m.InstanceIDs)}
		slices.Sort(d.open)
		if l.messages == nil {
			l.messages = map[string]*delivery{}
		}
		l.messages[id] = d
	}
	d.receipt, d.last = receipt, now
	var out []cloudprovider.Interruption
	for _, n := range notices {
		if slices.Contains(d.open, n.InstanceID) {
			n.ID = id + separator + n.InstanceID
			out = append(out, n)
		}
	}
	return out
}

// Acknowledge records that notices, given by their IDs, were acted on. It returns the receipts of
// messages whose notices are all acknowledged, sorted: delete these messages. IDs that are unknown
// or already acknowledged are ignored.
//
// If deleting fails, nothing is lost: the queue delivers the message again, and
// Deliver returns no notice of it.
func (l *Ledger) Acknowledge(ids ...string) []string {
	var receipts []string
	for _, id := range ids {
		i := strings.LastIndex(id, separator)
		if i < 0 {
			continue
		}
		d := l.messages[id[:i]]
		if d == nil {
			continue
		}
		at := slices.Index(d.open, id[i+len(separator):])
		if at < 0 {
			continue
		}
		d.open = slices.Delete(d.open, at, at+1)
		if len(d.open) == 0 {
			receipts = append(receipts, d.receipt)
		}
	}
	slices.Sort(receipts)
	return receipts
}

// Forget drops the messages that were last delivered before an instant. Call it now and then, with
// an instant that is longer ago than the retention time of the queue plus some minutes.
func (l *Ledger) Forget(before time.Time) {
	for id, d := range l.messages {
		if d.last.Before(before) {
			delete(l.messages, id)
		}
	}
}
