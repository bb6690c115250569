package aws_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// listener returns a scene whose provider reads the queue, and what it warns of.
func listener(t *testing.T, change ...func(*scene)) (*scene, *warnings) {
	w := &warnings{}
	return newScene(t, append([]func(*scene){func(s *scene) {
		s.opts.InterruptionQueue, s.opts.Warn = "demo", w.add
	}}, change...)...), w
}

type warnings struct {
	mu   sync.Mutex
	list []string
}

func (w *warnings) add(n aws.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.Reason == aws.WarnInterruptions {
		w.list = append(w.list, n.Object+": "+n.Detail)
	}
}

func (w *warnings) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.list, "\n")
}

func (s *scene) notices() []cloudprovider.Interruption {
	s.Helper()
	list, err := cloudprovider.Interruptions(s.Context(), s.p)
	require.NoError(s, err)
	return list
}

func spot(o cloudprovider.LaunchOption) bool {
	return o.Offering.CapacityType == "spot" && o.InstanceType.Name == "m5.large"
}

// A notice comes again until it is acknowledged, and then its message is gone.
func TestInterruptionIsDeliveredAtLeastOnce(t *testing.T) {
	s, _ := listener(t)
	i := s.create("one", spot)
	_, err := s.cloud.Interrupt(ec2ID(i.ID))
	require.NoError(t, err)

	first := s.notices()
	require.Len(t, first, 1)
	n := first[0]
	require.Equal(t, i.ID, n.InstanceID)
	require.Equal(t, cloudprovider.InterruptionSpot, n.Kind)
	require.Equal(t, s.cloud.Now().Truncate(time.Second), n.At)
	require.NotEmpty(t, n.ID)

	require.Empty(t, s.notices(), "the queue hides it for a while")
	s.cloud.Advance(20 * time.Second)
	require.Equal(t, first, s.notices())
	require.Equal(t, 1, s.cloud.Queued())
	require.NoError(t, cloudprovider.Acknowledge(t.Context(), s.p, n))
	require.Zero(t, s.cloud.Queued())
	require.NoError(t, cloudprovider.Acknowledge(t.Context(), s.p, n))

	mark, marked := s.p.Availability().Unavailable(i.OfferingKey())
	require.True(t, marked, "what EC2 takes back it does not sell at once")
	require.Equal(t, string(cloudprovider.InterruptionSpot), mark.Reason)
}

// Messages that are no events, and such as nothing is done about, go at once and
// keep nothing back.
func TestPoisonNeverBlocks(t *testing.T) {
	s, w := listener(t)
	i := s.create("one", spot)
	for range 8 {
		s.cloud.Send("not an event")
	}
	s.cloud.Send("")
	s.cloud.Send(`{"version":"0","source":"aws.s3","detail-type":"Object Created","detail":{}}`)
	_, err := s.cloud.Interrupt(ec2ID(i.ID))
	require.NoError(t, err)

	// Not even where they cannot be deleted.
	s.script(awstest.Fault{Op: "DeleteMessage", Err: awstest.ErrBroken})
	require.Empty(t, s.notices())
	require.Len(t, s.notices(), 1)
	require.Equal(t, 11, s.cloud.Queued())
	require.Contains(t, w.text(), "deleting 10 messages that need no action failed, so they come again")
	require.Equal(t, 8, strings.Count(w.text(), "message-"), "each of the poison")

	s.cloud.ClearScript()
	s.cloud.Advance(20 * time.Second)
	s.notices()
	s.notices()
	require.Equal(t, 1, s.cloud.Queued())
}

// Instances of others are none of our business. While it may be that EC2 does not
// list an instance yet, its message stays.
func TestInterruptionOfOthers(t *testing.T) {
	s, _ := listener(t)
	id := s.cloud.Add(1, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: "spot"}, map[string]string{"team": "b"})[0]
	_, err := s.cloud.Interrupt(id)
	require.NoError(t, err)
	require.Empty(t, s.notices())
	require.Equal(t, 1, s.cloud.Queued(), "too new to tell")
	s.cloud.Advance(20 * time.Second)
	require.Empty(t, s.notices())
	require.Zero(t, s.cloud.Queued())
}

// A message about several instances, of which one is ours, is deleted with that one.
func TestInterruptionOfSeveral(t *testing.T) {
	s, _ := listener(t)
	i := s.create("one", spot)
	s.cloud.Send(fmt.Sprintf(`{"version":"0","id":"e","detail-type":"AWS Health Event","source":"aws.health","account":"123456789012",
		"time":"%s","region":"us-east-1","resources":[],"detail":{"service":"EC2","eventTypeCategory":"scheduledChange",
		"affectedEntities":[{"entityValue":%q},{"entityValue":"i-0123456789abcdef0"}]}}`, s.cloud.Now().Format(time.RFC3339), ec2ID(i.ID)))
	s.cloud.Advance(20 * time.Second)
	list := s.notices()
	require.Len(t, list, 1)
	require.Equal(t, cloudprovider.InterruptionMaintenance, list[0].Kind)
	require.Equal(t, 1, s.cloud.Queued())
	require.NoError(t, cloudprovider.Acknowledge(t.Context(), s.p, list...))
	require.Zero(t, s.cloud.Queued())
}

// What cannot be looked up now is left for the next time.
func TestInterruptionWhileEC2IsDown(t *testing.T) {
	s, w := listener(t)
	i := s.create("one", spot)
	_, err := s.cloud.Interrupt(ec2ID(i.ID))
	require.NoError(t, err)
	s.p = s.provider()
	s.cloud.Advance(30 * time.Second)
	s.script(awstest.Fault{Op: "DescribeInstances", Err: awstest.ErrBroken})
	require.Empty(t, s.notices())
	require.Contains(t, w.text(), "looking up the instances of 1 notices failed")
	s.cloud.ClearScript()
	s.cloud.Advance(20 * time.Second)
	require.Len(t, s.notices(), 1)
}

func TestNoQueueOfThatName(t *testing.T) {
	s, _ := listener(t, func(s *scene) { s.opts.InterruptionQueue = "other" })
	_, err := s.p.Interruptions(t.Context())
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	require.EqualError(t, err, "Interruptions other: not found: QueueDoesNotExist: there is no such queue; "+
		"set Options.InterruptionQueue to the name of one in region us-east-1, or to nothing")
}

func TestQueueFails(t *testing.T) {
	s, _ := listener(t)
	s.script(awstest.Fault{Op: "ReceiveMessage", Err: awstest.ErrThrottled})
	_, err := s.p.Interruptions(t.Context())
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
	s.cloud.ClearScript()
	s.script(awstest.Fault{Op: "ReceiveMessage", Err: awstest.ErrDenied})
	_, err = s.p.Interruptions(t.Context())
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.Equal(t, 1, s.cloud.Count("GetQueueUrl"))
}

// Failed checks and announced maintenance come of the status of instances, each
// minute for as long as they last, also where there is no queue.
func TestStatusNotices(t *testing.T) {
	s, w := listener(t)
	sick, retired := s.create("one", large), s.create("two", large)
	other := s.cloud.Add(1, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a"}, nil)[0]
	require.Empty(t, s.notices())
	s.cloud.Impair(ec2ID(sick.ID), awstest.InstanceCheck)
	s.cloud.Impair(other, awstest.SystemCheck)
	s.cloud.Schedule(ec2ID(retired.ID), "instance-retirement", s.cloud.Now().Add(48*time.Hour))
	kinds := func() map[string]cloudprovider.InterruptionKind {
		out := map[string]cloudprovider.InterruptionKind{}
		for _, n := range s.notices() {
			require.Empty(t, n.ID)
			out[n.InstanceID] = n.Kind
		}
		return out
	}
	require.Empty(t, kinds(), "not before a minute is over")
	s.cloud.Advance(time.Minute)
	require.Equal(t, map[string]cloudprovider.InterruptionKind{retired.ID: cloudprovider.InterruptionMaintenance}, kinds(), "a check may fail for two minutes")
	s.cloud.Advance(time.Minute)
	both := map[string]cloudprovider.InterruptionKind{
		retired.ID: cloudprovider.InterruptionMaintenance, sick.ID: cloudprovider.InterruptionUnhealthy}
	require.Equal(t, both, kinds())
	s.script(awstest.Fault{Op: "DescribeInstanceStatus", Err: awstest.ErrDenied})
	s.cloud.Advance(time.Minute)
	require.Empty(t, kinds())
	require.Contains(t, w.text(), "reading the status of instances failed")
	s.cloud.ClearScript()
	s.cloud.Advance(time.Minute)
	require.Equal(t, both, kinds(), "a right that was missing once may be there again")
}

// Without a queue the provider waits by itself, and as long as it is let.
func TestInterruptionsWithoutQueue(t *testing.T) {
	s, _ := listener(t, func(s *scene) { s.opts.InterruptionQueue = "" })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.p.Interruptions(ctx)
		done <- err
	}()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, s.p.Acknowledge(t.Context(), "message/i-1"))
}

// EC2 takes the instances of a capacity block back before its end, and says nothing.
// Nodes need a notice in time.
func TestCapacityBlocksThatEnd(t *testing.T) {
	const id = "cr-0123456789abcdef0"
	s, w := listener(t, func(s *scene) {
		s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: id}}
	})
	end := s.cloud.Now().Add(2 * time.Hour)
	s.cloud.SetReservation(ec2types.CapacityReservation{
		CapacityReservationId: new(id), InstanceType: new("m5.large"), AvailabilityZone: new("us-east-1a"), TotalInstanceCount: new(int32(2)),
		InstanceMatchCriteria: ec2types.InstanceMatchCriteriaTargeted, ReservationType: ec2types.CapacityReservationTypeCapacityBlock,
		EndDate: &end,
	})
	_ = s.request("", nil)
	s.cloud.Advance(time.Minute)
	block := s.create("one", func(o cloudprovider.LaunchOption) bool { return o.Offering.CapacityType == "reserved" })
	require.Equal(t, id, block.ReservationID)
	s.create("two", large)

	require.Empty(t, s.notices())
	s.cloud.Advance(end.Sub(s.cloud.Now()) - 41*time.Minute)
	require.Empty(t, s.notices())
	s.cloud.Advance(time.Minute)
	want := []cloudprovider.Interruption{{
		InstanceID: block.ID, Kind: cloudprovider.InterruptionReservation, At: end.Add(-40 * time.Minute).UTC(), Deadline: end.Add(-30 * time.Minute).UTC(),
		Detail: "capacity block " + id + " ends at " + end.UTC().Format(time.RFC3339),
	}}
	require.Equal(t, want, s.notices())
	require.Empty(t, s.notices(), "once a minute")

	// Also by a process that did not launch it, and has not listed anything.
	s.p = s.provider()
	require.Equal(t, want, s.notices())
	s.cloud.Advance(time.Minute)
	s.script(awstest.Fault{Op: "DescribeInstanceStatus", Err: awstest.ErrDenied})
	require.Equal(t, want, s.notices(), "it comes again, whatever else cannot be asked")
	require.Contains(t, w.text(), "reading the status of instances failed")

	require.NoError(t, s.p.Delete(t.Context(), block.ID))
	s.cloud.Advance(time.Minute)
	require.Empty(t, s.notices(), "it goes down already")
}
