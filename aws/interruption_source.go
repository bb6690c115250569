package aws

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	// longPoll is how long a call waits for notices.
	longPoll = 20 * time.Second
	// forgetNotices is how long the queue can still deliver a message again, and
	// some minutes.
	forgetNotices = 10 * time.Minute
)

// interruptionState is what is known of the queue of notices. The zero value is
// ready for use.
type interruptionState struct {
	mu       sync.Mutex
	queueURL string
	ledger   interruption.Ledger
	polled   time.Time // when the status of instances was last asked for
}

// Interruptions returns notices about instances of the cluster, in this order:
//
//  1. If the last time is a minute ago, DescribeInstanceStatus is asked which
//     instances fail their checks, and which have maintenance ahead, and
//     DescribeCapacityReservations when the capacity blocks end that instances are
//     in: ten minutes before EC2 takes these back, which is half an hour before the
//     end, and an hour for UltraServers. These notices have no ID and come again
//     each minute for as long as that lasts. If it cannot be asked, Options.Warn
//     hears of it and the queue is read all the same.
//  2. The queue is read: up to ten messages, for which it waits up to 20 seconds
//     unless there are notices already. Without a queue it waits as long by itself.
//  3. Messages that are no events are deleted, and Options.Warn is told. So are, in
//     silence, those about something else and those about instances that are not of
//     the cluster; but while a message is so new that EC2 may not list yet what it is
//     about, it stays and comes again.
//  4. What an interruption says of stock is remembered: the offering of a spot
//     instance that is taken back is not asked for again for a while, and a
//     reservation that is taken back counts as full.
//
// A message of the queue that is not acknowledged comes again after 20 seconds; see
// Acknowledge. Errors: KindNotFound if there is no queue by the name, KindDenied,
// KindThrottled. A message that cannot be read, deleted or matched never keeps back
// the others.
func (p *Provider) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	notices := p.polledNotices(ctx)
	queued, err := p.queueNotices(ctx, len(notices) > 0)
	if err != nil && len(notices) == 0 {
		return nil, err
	}
	if err != nil {
		p.warn(WarnInterruptions, p.opts.InterruptionQueue, "the queue was not read: %v", err)
	}
	notices = append(notices, queued...)
	slices.SortFunc(notices, func(a, b cloudprovider.Interruption) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.InstanceID, b.InstanceID),
			strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.ID, b.ID))
	})
	return notices, nil
}

// Acknowledge deletes the messages of the queue that the notices came by. A message
// about several instances is deleted with the last of them. If deleting fails, the
// message comes again, and is then deleted without a notice; the error joins what failed,
// and need not be acted on. IDs that are not known are no error.
func (p *Provider) Acknowledge(ctx context.Context, ids ...string) error {
	s := &p.interruptions
	s.mu.Lock()
	receipts := s.ledger.Acknowledge(ids...)
	s.mu.Unlock()
	return p.deleteMessages(ctx, receipts)
}

// mark remembers what an interruption says of stock.
func (p *Provider) mark(i *cloudprovider.Instance, n cloudprovider.Interruption) {
	p.available.MarkFromInterruption(i, n)
	if n.Kind == cloudprovider.InterruptionReservation && i.ReservationID != "" {
		p.sources.ReservationFull(i.ReservationID)
	}
}

// ours replaces the ids of EC2 in notices by those of instances of the cluster, and
// leaves out the notices about others, whose IDs it returns.
func ours(notices []cloudprovider.Interruption, instances map[string]*cloudprovider.Instance) (kept []cloudprovider.Interruption, others []string) {
	for _, n := range notices {
		i := instances[n.InstanceID]
		if i == nil {
			others = append(others, n.ID)
			continue
		}
		n.InstanceID = i.ID
		kept = append(kept, n)
	}
	return kept, others
}

// wait returns after d, or with the error of ctx when that is done.
func (p *Provider) wait(ctx context.Context, d time.Duration) error {
	over := make(chan struct{})
	timer := p.opts.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fault("Interruptions", "", cloudprovider.KindUnknown, "waiting for notices: %w", context.Cause(ctx))
	}
}

// inTurn calls f for each of the texts, up to ten at once, and joins the errors.
func inTurn(texts []string, f func(string) error) error {
	errs := make([]error, len(texts))
	turns := make(chan struct{}, 10)
	var all sync.WaitGroup
	for i, text := range texts {
		turns <- struct{}{}
		all.Go(func() {
			errs[i] = f(text)
			<-turns
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
