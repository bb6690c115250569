package interruption_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
)

func TestFromStatuses(t *testing.T) {
	long, recent := at.Add(-2*time.Minute), at.Add(-2*time.Minute+time.Nanosecond)
	impaired := func(name string, since time.Time) ec2types.InstanceStatusDetails {
		d := ec2types.InstanceStatusDetails{Name: ec2types.StatusName(name), Status: ec2types.StatusTypeFailed}
		if !since.IsZero() {
			d.ImpairedSince = &since
		}
		return d
	}
	checks := func(details ...ec2types.InstanceStatusDetails) *ec2types.InstanceStatusSummary {
		return &ec2types.InstanceStatusSummary{Details: details}
	}
	event := func(code, description string, after time.Duration) ec2types.InstanceStatusEvent {
		return ec2types.InstanceStatusEvent{Code: ec2types.EventCode(code), Description: &description, NotBefore: aws.Time(at.Add(after))}
	}
	passed := ec2types.InstanceStatusDetails{Name: "passed", Status: ec2types.StatusTypePassed, ImpairedSince: &long}
	statuses := []ec2types.InstanceStatus{
		{InstanceId: aws.String("i-3"), SystemStatus: checks(impaired("reachability", time.Time{}))},
		{InstanceId: aws.String("i-1"),
			InstanceStatus: checks(impaired("reachability", long), impaired("disk", long.Add(-time.Hour)), impaired("memory", recent), passed),
			Events: []ec2types.InstanceStatusEvent{
				event("system-reboot", "A reboot", 48*time.Hour),
				event("instance-retirement", "Retired", 24*time.Hour),
				event("instance-stop", "[Completed] Stopped", time.Hour),
				event("instance-stop", "[Canceled] Stopped", time.Hour),
				event("tea-break", "", time.Hour),
			}},
		{InstanceId: aws.String("i-1"), InstanceStatus: checks(impaired("reachability", long))},
		{InstanceId: aws.String("i-2"), SystemStatus: checks(impaired("reachability", recent))},
		{SystemStatus: checks(impaired("reachability", time.Time{}))},
		{InstanceId: aws.String("i-4"), Events: []ec2types.InstanceStatusEvent{{Code: "instance-reboot"}}},
	}
	want := []interruption.Message{
		{Kind: interruption.KindEventStatus, At: at, Deadline: at.Add(24 * time.Hour), InstanceIDs: []string{"i-1"}, Detail: "scheduled: instance-retirement, system-reboot"},
		{Kind: interruption.KindInstanceStatus, At: long.Add(-time.Hour), InstanceIDs: []string{"i-1"}, Detail: "failed checks of the instance: disk, reachability"},
		{Kind: interruption.KindSystemStatus, At: at, InstanceIDs: []string{"i-3"}, Detail: "failed checks of the host: reachability"},
		{Kind: interruption.KindEventStatus, At: at, InstanceIDs: []string{"i-4"}, Detail: "scheduled: instance-reboot"},
	}
	require.Equal(t, want, interruption.FromStatuses(at, statuses))
	slices.Reverse(statuses)
	require.Equal(t, want, interruption.FromStatuses(at, statuses), "in any order")
	require.Empty(t, interruption.FromStatuses(at, nil))
	require.IsIncreasing(t, interruption.EventCodes())
}
