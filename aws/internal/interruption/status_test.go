package interruption_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
)

func TestFromStatuses(t *testing.T) {
	long, recent := at.Add(-2*time.Minute), at.Add(-2*time.Minute+time.Nanosecond)
	statuses := []interruption.InstanceStatus{
		{InstanceID: "i-3", System: []interruption.StatusCheck{{Name: "reachability", Failed: true}}},
		{InstanceID: "i-1",
			Instance: []interruption.StatusCheck{
				{Name: "reachability", Failed: true, ImpairedSince: long},
				{Name: "disk", Failed: true, ImpairedSince: long.Add(-time.Hour)},
				{Name: "memory", Failed: true, ImpairedSince: recent},
				{Name: "passed", ImpairedSince: long},
			},
			Events: []interruption.ScheduledEvent{
				{Code: "system-reboot", Description: "A reboot", NotBefore: at.Add(48 * time.Hour)},
				{Code: "instance-retirement", Description: "Retired", NotBefore: at.Add(24 * time.Hour)},
				{Code: "instance-stop", Description: "[Completed] Stopped", NotBefore: at.Add(time.Hour)},
				{Code: "instance-stop", Description: "[Canceled] Stopped", NotBefore: at.Add(time.Hour)},
				{Code: "tea-break", NotBefore: at.Add(time.Hour)},
			}},
		{InstanceID: "i-1", Instance: []interruption.StatusCheck{{Name: "reachability", Failed: true, ImpairedSince: long}}},
		{InstanceID: "i-2", System: []interruption.StatusCheck{{Name: "reachability", Failed: true, ImpairedSince: recent}}},
		{InstanceID: "", System: []interruption.StatusCheck{{Name: "reachability", Failed: true}}},
		{InstanceID: "i-4", Events: []interruption.ScheduledEvent{{Code: "instance-reboot"}}},
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
