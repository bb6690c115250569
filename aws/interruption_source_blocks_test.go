package aws_test

import (
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

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
