package aws

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	// longPoll is how long a call waits for notices.
	longPoll = 20 * time.Second
	// forgetNotices is how long a notice is remembered: the time during which the queue can deliver
	// its message again, plus some minutes.
	forgetNotices = 10 * time.Minute
)

// interruptionState is the state of reading the queue of notices. The zero value is ready for use.
type interruptionState struct {
	mu       sync.Mutex
	queueURL string
	ledger   interruption.Ledger
	polled   time.Time // when the status of instances was last asked for
}

// Interruptions returns notices about instances of the cluster, in this order:
//
//  1. Once a minute EC2 is asked, by DescribeInstanceStatus, which instances fail their checks
//     or have maintenance ahead, and by DescribeCapacityReservations, when the capacity blocks of
//     instances end. EC2 takes back the instances of a block half an hour before its end (an hour
//     for UltraServers); the notice comes ten minutes before that. These notices have no ID and are
//     repeated each minute while their cause lasts. If a call fails, Options.Warn is called, and
//     the queue is still read.
//  2. The queue is read: up to ten messages, for which it waits up to 20 seconds unless there
//     are notices already. Without a queue, Interruptions waits for the same time.
//  3. Messages that are not events are deleted, and Options.Warn is called. Messages about
//     something else, and about instances of other clusters, are deleted without a warning. A
//     message that is so new that EC2 may not list its instance yet stays in the queue and is
//     delivered again.
//  4. Interruptions mark capacity: the offering of a spot instance that is taken back is not
//     Available for a while, and a reservation that is taken back counts as full.
//
// A message of the queue that is not acknowledged is delivered again after 20 seconds; see
// Acknowledge. Errors: KindNotFound if there is no queue by the name, KindDenied, KindThrottled. A
// message that cannot be read, deleted or matched does not delay the others.
func (p *Provider) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	notices := p.polledNotices(ctx)
	queued, err := p.queueNotices(ctx, len(notices) > 0)
	if err != nil && len(notices) == 0 {
		return nil, err
	}
	if err != nil {
		p.warn(WarnInterruptions, p.opts.InterruptionQueue, "reading the queue failed: %v", err)
	}
	notices = append(notices, queued...)
	slices.SortFunc(notices, cloudprovider.Interruption.Compare)
	return notices, nil
}

// Acknowledge deletes the queue's messages of the notices. A message about several instances is
// deleted with the last of them. If deleting fails, the queue delivers the message again, and it is
// then deleted without a notice; the error joins all failures and needs no action. Unknown IDs are
// no error.
func (p *Provider) Acknowledge(ctx context.Context, ids ...string) error {
	s := &p.interruptions
	s.mu.Lock()
	receipts := s.ledger.Acknowledge(ids...)
	s.mu.Unlock()
	return p.deleteMessages(ctx, receipts)
}

// mark marks the offering of an interrupted spot instance as refused, and its reservation as full.
func (p *Provider) mark(i *cloudprovider.Instance, n cloudprovider.Interruption) {
	p.available.MarkFromInterruption(i, n)
	if n.Kind == cloudprovider.InterruptionReservation && i.ReservationID != "" {
		p.sources.ReservationFull(i.ReservationID)
	}
}

// ours replaces EC2's ids in notices by IDs of instances of the cluster. Notices about other
// instances are left out, and their IDs returned.
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

const (
	// messagesAtOnce is the most that SQS hands out in one call.
	messagesAtOnce = 10
	// visibility is how long a message that was handed out is not handed out again.
	visibility = 20 * time.Second
	// unlisted is the longest time until EC2 lists a new instance. If a message is older and EC2
	// does not list its instance, the instance is not of this cluster.
	unlisted = 15 * time.Second
)

// queueNotices reads the queue once. With hurry it does not wait for messages.
func (p *Provider) queueNotices(ctx context.Context, hurry bool) ([]cloudprovider.Interruption, error) {
	if p.clients.SQS == nil || p.opts.InterruptionQueue == "" {
		if hurry {
			return nil, nil
		}
		return nil, p.wait(ctx, longPoll)
	}
	messages, err := p.receive(ctx, hurry)
	if err != nil {
		return nil, err
	}
	notices, useless := p.deliver(messages)
	foreign, young, err := p.match(ctx, &notices, messages)
	if err != nil {
		// Whether these instances are of the cluster is not known. The queue delivers their
		// messages again.
		p.warn(WarnInterruptions, p.opts.InterruptionQueue, "looking up the instances of %d notices failed: %v", young, err)
	}
	p.interruptions.mu.Lock()
	useless = append(useless, p.interruptions.ledger.Acknowledge(foreign...)...)
	p.interruptions.ledger.Forget(p.now().Add(-forgetNotices))
	p.interruptions.mu.Unlock()
	if err := p.deleteMessages(ctx, useless); err != nil {
		p.warn(WarnInterruptions, p.opts.InterruptionQueue, "deleting %d messages that need no action failed, so they come again: %v", len(useless), err)
	}
	return notices, nil
}

// receive asks the queue for messages.
func (p *Provider) receive(ctx context.Context, hurry bool) ([]sqstypes.Message, error) {
	url, err := p.queueURL(ctx)
	if err != nil {
		return nil, err
	}
	wait := longPoll
	if hurry {
		wait = 0
	}
	out, err := p.clients.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: messagesAtOnce, VisibilityTimeout: int32(visibility / time.Second), WaitTimeSeconds: int32(wait / time.Second),
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameSentTimestamp},
	})
	if err != nil {
		if api.NotFound(err) { // the queue may have been made again, with another URL
			p.interruptions.mu.Lock()
			p.interruptions.queueURL = ""
			p.interruptions.mu.Unlock()
		}
		return nil, api.Wrap("Interruptions", p.opts.InterruptionQueue, err)
	}
	return out.Messages, nil
}

// queueURL returns the address of the queue. It asks SQS until there is an answer.
func (p *Provider) queueURL(ctx context.Context) (string, error) {
	s := &p.interruptions
	s.mu.Lock()
	url := s.queueURL
	s.mu.Unlock()
	if url != "" {
		return url, nil
	}
	out, err := p.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &p.opts.InterruptionQueue})
	if err != nil {
		if api.NotFound(err) {
			return "", &cloudprovider.Error{Op: "Interruptions", Object: p.opts.InterruptionQueue, Kind: cloudprovider.KindNotFound, Reason: api.Code(err),
				Err: api.Explained("there is no such queue; set Options.InterruptionQueue to the name of one in region "+p.opts.Region+", or to nothing", err)}
		}
		return "", api.Wrap("Interruptions", p.opts.InterruptionQueue, err)
	}
	if out.QueueUrl == nil || *out.QueueUrl == "" {
		return "", fault("Interruptions", p.opts.InterruptionQueue, cloudprovider.KindUnknown, "SQS gave no address of the queue")
	}
	s.mu.Lock()
	s.queueURL = *out.QueueUrl
	s.mu.Unlock()
	return *out.QueueUrl, nil
}

// deliver reads messages and records them in the ledger. It returns their unacknowledged notices,
// with EC2's instance ids, and the receipts of the messages that have no such notice.
func (p *Provider) deliver(messages []sqstypes.Message) (notices []cloudprovider.Interruption, useless []string) {
	s := &p.interruptions
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		if m.ReceiptHandle == nil {
			continue // cannot be deleted; the queue drops it by itself
		}
		event, err := interruption.Parse([]byte(awssdk.ToString(m.Body)))
		if err != nil {
			p.warn(WarnInterruptions, awssdk.ToString(m.MessageId), "deleted: %v", err)
			useless = append(useless, *m.ReceiptHandle)
			continue
		}
		open := s.ledger.Deliver(p.now(), awssdk.ToString(m.MessageId), *m.ReceiptHandle, event)
		if len(open) == 0 {
			useless = append(useless, *m.ReceiptHandle)
		}
		notices = append(notices, open...)
	}
	return notices, useless
}

// match keeps the notices about instances of the cluster, and marks the capacity that they say is
// short. It returns the IDs of notices about other instances. If a message is so new that EC2 may
// not list its instance yet, its notices are neither kept nor returned. If EC2 cannot be asked,
// only notices about known instances are kept, and unsure counts the others.
func (p *Provider) match(ctx context.Context, notices *[]cloudprovider.Interruption, messages []sqstypes.Message) (foreign []string, unsure int, err error) {
	if len(*notices) == 0 {
		return nil, 0, nil
	}
	ids := make([]string, 0, len(*notices))
	for _, n := range *notices {
		ids = append(ids, n.InstanceID)
	}
	instances, err := p.knownOrGet(ctx, ids)
	young := p.young(messages)
	kept, others := ours(*notices, instances)
	if err != nil {
		others, unsure = nil, len(others)
	}
	for _, id := range others {
		if !young[messageOf(id)] {
			foreign = append(foreign, id)
		}
	}
	for i := range kept {
		p.mark(instances[ec2ID(kept[i].ID)], kept[i])
	}
	*notices = kept
	return foreign, unsure, err
}

// young returns the ids of messages about instances that EC2 may not list yet.
func (p *Provider) young(messages []sqstypes.Message) map[string]bool {
	out := map[string]bool{}
	for _, m := range messages {
		ms, err := strconv.ParseInt(m.Attributes[string(sqstypes.MessageSystemAttributeNameSentTimestamp)], 10, 64)
		if err == nil && p.now().Sub(time.UnixMilli(ms)) < unlisted {
			out[awssdk.ToString(m.MessageId)] = true
		}
	}
	return out
}

// deleteMessages deletes messages of the queue by their receipts.
func (p *Provider) deleteMessages(ctx context.Context, receipts []string) error {
	if len(receipts) == 0 {
		return nil
	}
	url, err := p.queueURL(ctx)
	if err != nil {
		return err
	}
	return inTurn(receipts, func(receipt string) error {
		_, err := p.clients.SQS.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: &receipt})
		return api.Wrap("Acknowledge", p.opts.InterruptionQueue, err)
	})
}

// statusEvery is how often the status of instances is asked for.
const statusEvery = time.Minute

// polledNotices returns the notices that EC2 gives only when asked, at most once a minute.
func (p *Provider) polledNotices(ctx context.Context) []cloudprovider.Interruption {
	s := &p.interruptions
	now := p.now()
	s.mu.Lock()
	due := s.polled.IsZero() || now.Sub(s.polled) >= statusEvery || now.Before(s.polled)
	if due {
		s.polled = now
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	return append(p.statusNotices(ctx, now), p.blockNotices(ctx, now)...)
}

// statusNotices returns the notices for failed checks and announced maintenance.
func (p *Provider) statusNotices(ctx context.Context, now time.Time) []cloudprovider.Interruption {
	statuses, err := p.troubled(ctx)
	if err != nil {
		p.warn(WarnInterruptions, "", "reading the status of instances failed: %v", err)
		return nil
	}
	var notices []cloudprovider.Interruption
	for _, m := range interruption.FromStatuses(now, statuses) {
		notices = append(notices, m.Interruptions()...)
	}
	if len(notices) == 0 {
		return nil
	}
	ids := make([]string, 0, len(notices))
	for _, n := range notices {
		ids = append(ids, n.InstanceID)
	}
	instances, err := p.knownOrGet(ctx, ids)
	if err != nil {
		p.warn(WarnInterruptions, "", "looking up some instances in trouble failed: %v", err)
	}
	kept, _ := ours(notices, instances)
	return kept
}

// troubled asks for the status of all instances of the account and region that fail
// a check or have maintenance ahead.
func (p *Provider) troubled(ctx context.Context) ([]ec2types.InstanceStatus, error) {
	var out []ec2types.InstanceStatus
	for _, f := range []struct {
		name   string
		values []string
	}{
		{"instance-status.status", []string{string(ec2types.SummaryStatusImpaired)}},
		{"system-status.status", []string{string(ec2types.SummaryStatusImpaired)}},
		{"event.code", interruption.EventCodes()},
	} {
		pages := ec2.NewDescribeInstanceStatusPaginator(p.clients.EC2, &ec2.DescribeInstanceStatusInput{
			Filters: []ec2types.Filter{{Name: &f.name, Values: f.values}},
		})
		err := api.Pages(ctx, pages, func(page *ec2.DescribeInstanceStatusOutput) {
			out = append(out, page.InstanceStatuses...)
		})
		if err != nil {
			return nil, api.Wrap("DescribeInstanceStatus", f.name, err)
		}
	}
	return out, nil
}

// messageOf and ec2ID are the two parts of the ID of a notice of the queue.
func messageOf(noticeID string) string {
	id, _, _ := strings.Cut(noticeID, "/")
	return id
}

func ec2ID(noticeID string) string { return noticeID[strings.LastIndex(noticeID, "/")+1:] }

// blockNotices returns a notice for each instance in a capacity block that is about to end. EC2
// sends no such notice, and takes the instances back half an hour before the end of the block.
func (p *Provider) blockNotices(ctx context.Context, now time.Time) []cloudprovider.Interruption {
	if p.opts.NoReservedCapacity {
		return nil
	}
	if _, err := p.book.Hydrate(ctx); err != nil {
		p.warn(WarnInterruptions, "", "looking up instances in capacity blocks failed: %v", err)
	}
	members := map[string][]launch.Machine{}
	var terms []awsv1.CapacityReservationSelectorTerm
	for _, k := range p.book.InBlocks() {
		id := k.ReservationID()
		if members[id] == nil {
			terms = append(terms, awsv1.CapacityReservationSelectorTerm{ID: id})
		}
		members[id] = append(members[id], k)
	}
	blocks, _, err := p.sources.Reservations(ctx, terms)
	if err != nil {
		p.warn(WarnInterruptions, "", "looking up the ends of %d capacity blocks failed: %v", len(terms), err)
		return nil
	}
	var notices []cloudprovider.Interruption
	for i := range blocks {
		drain, taken, ok := instancetype.BlockEnd(&blocks[i])
		if !ok || now.Before(drain) {
			continue
		}
		id := awssdk.ToString(blocks[i].CapacityReservationId)
		for _, k := range members[id] {
			notices = append(notices, cloudprovider.Interruption{
				InstanceID: k.ProviderID(), Kind: cloudprovider.InterruptionReservation, At: drain.UTC(), Deadline: taken.UTC(),
				Detail: "capacity block " + id + " ends at " + blocks[i].EndDate.UTC().Format(time.RFC3339),
			})
		}
	}
	return notices
}
