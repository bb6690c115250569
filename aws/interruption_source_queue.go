package aws

import (
	"context"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	// messagesAtOnce is the most that SQS hands out in one call.
	messagesAtOnce = 10
	// visibility is how long a message that was handed out is not handed out again.
	visibility = 20 * time.Second
	// unlisted is how long EC2 may take to list an instance that a message is about.
	// A message that is older when it comes again is judged by what EC2 lists.
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
		// It is not known whose they are. The queue hands them out again.
		p.warn(WarnInterruptions, p.opts.InterruptionQueue, "the instances of %d notices were not looked up: %v", young, err)
	}
	p.interruptions.mu.Lock()
	useless = append(useless, p.interruptions.ledger.Acknowledge(foreign...)...)
	p.interruptions.ledger.Forget(p.now().Add(-forgetNotices))
	p.interruptions.mu.Unlock()
	if err := p.deleteMessages(ctx, useless); err != nil {
		p.warn(WarnInterruptions, p.opts.InterruptionQueue, "%d messages without use were not deleted and come again: %v", len(useless), err)
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
		if api.NotFound(err) { // somebody may have made it anew, with another address
			p.interruptions.mu.Lock()
			p.interruptions.queueURL = ""
			p.interruptions.mu.Unlock()
		}
		return nil, api.Wrap("Interruptions", p.opts.InterruptionQueue, err)
	}
	return out.Messages, nil
}

// queueURL asks for the address of the queue until there is an answer.
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
				Err: explained{"there is no such queue; set Options.InterruptionQueue to the name of one in region " + p.opts.Region + ", or to nothing", err}}
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

// explained is an error with a text of its own.
type explained struct {
	text string
	err  error
}

// Error returns the text.
func (e explained) Error() string { return e.text }

// Unwrap returns the cause.
func (e explained) Unwrap() error { return e.err }

// deliver reads messages and enters them into the ledger. It returns their notices
// that are still open, by the ids of EC2, and the receipts of messages that nothing
// is left of.
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

// match keeps the notices about instances of the cluster, and marks what they say of
// stock. It returns the IDs of notices about instances that are somebody else's;
// those of messages too young to tell are neither kept nor among them. If EC2 cannot
// be asked, only what is known is kept, and unsure is how many are left.
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

// young are the ids of messages about instances that EC2 may not list yet.
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
