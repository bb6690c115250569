package aws

import (
	"context"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// statusEvery is how often the status of instances is asked for.
const statusEvery = time.Minute

// polledNotices are the notices that nobody sends, if it is time to ask for them.
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

// statusNotices are the notices that come of failed checks and announced
// maintenance.
func (p *Provider) statusNotices(ctx context.Context, now time.Time) []cloudprovider.Interruption {
	statuses, err := p.troubled(ctx)
	if err != nil {
		p.warn(WarnInterruptions, "", "the status of instances was not read: %v", err)
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
		p.warn(WarnInterruptions, "", "some instances in trouble were not looked up: %v", err)
	}
	kept, _ := ours(notices, instances)
	return kept
}

// troubled asks for the status of all instances of the account and region that fail
// a check or have maintenance ahead.
func (p *Provider) troubled(ctx context.Context) ([]interruption.InstanceStatus, error) {
	var out []interruption.InstanceStatus
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
			for i := range page.InstanceStatuses {
				out = append(out, statusOf(&page.InstanceStatuses[i]))
			}
		})
		if err != nil {
			return nil, api.Wrap("DescribeInstanceStatus", f.name, err)
		}
	}
	return out, nil
}

func statusOf(s *ec2types.InstanceStatus) interruption.InstanceStatus {
	out := interruption.InstanceStatus{InstanceID: awssdk.ToString(s.InstanceId), Instance: checksOf(s.InstanceStatus), System: checksOf(s.SystemStatus)}
	for _, e := range s.Events {
		event := interruption.ScheduledEvent{Code: string(e.Code), Description: awssdk.ToString(e.Description)}
		if e.NotBefore != nil {
			event.NotBefore = *e.NotBefore
		}
		out.Events = append(out.Events, event)
	}
	return out
}

func checksOf(s *ec2types.InstanceStatusSummary) (checks []interruption.StatusCheck) {
	if s == nil {
		return nil
	}
	for _, d := range s.Details {
		c := interruption.StatusCheck{Name: string(d.Name), Failed: d.Status == ec2types.StatusTypeFailed}
		if d.ImpairedSince != nil {
			c.ImpairedSince = *d.ImpairedSince
		}
		checks = append(checks, c)
	}
	return checks
}

// messageOf and ec2ID are the two parts of the ID of a notice of the queue.
func messageOf(noticeID string) string {
	id, _, _ := strings.Cut(noticeID, "/")
	return id
}

func ec2ID(noticeID string) string { return noticeID[strings.LastIndex(noticeID, "/")+1:] }
