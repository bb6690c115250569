package instancetype_test

import (
	"slices"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

func reservation(edit ...func(*ec2types.CapacityReservation)) ec2types.CapacityReservation {
	r := ec2types.CapacityReservation{
		CapacityReservationId: new("cr-1"), InstanceType: new("m5.large"), AvailabilityZone: new("us-east-1a"), OwnerId: new("111122223333"),
		InstanceMatchCriteria: ec2types.InstanceMatchCriteriaTargeted, State: ec2types.CapacityReservationStateActive,
		InstancePlatform: "Linux/UNIX", AvailableInstanceCount: new(int32(3)),
	}
	for _, e := range edit {
		e(&r)
	}
	return r
}

func TestReadReservations(t *testing.T) {
	type change = func(*ec2types.CapacityReservation)
	block := func(it string, left time.Duration) change {
		return func(r *ec2types.CapacityReservation) {
			r.ReservationType, r.InstanceType, r.EndDate = ec2types.CapacityReservationTypeCapacityBlock, &it, new(noon.Add(left))
		}
	}
	const active, expiring = awsv1.CapacityReservationStateActive, awsv1.CapacityReservationStateExpiring
	for _, c := range []struct {
		name  string
		edit  change
		state awsv1.CapacityReservationState // "" if it is left out
		fault string
	}{
		{"as it comes", func(*ec2types.CapacityReservation) {}, active, ""},
		{"not active", func(r *ec2types.CapacityReservation) { r.State = ec2types.CapacityReservationStateScheduled }, "", ""},
		{"ends now", func(r *ec2types.CapacityReservation) { r.EndDate = &noon }, "", ""},
		{"ends soon, but is no block", func(r *ec2types.CapacityReservation) { r.EndDate = new(noon.Add(1)) }, active, ""},
		{"a block", block("p5.48xlarge", 40*time.Minute+1), active, ""},
		{"a block near its end", block("p5.48xlarge", 40*time.Minute), expiring, ""},
		{"a block of UltraServers", block("p6e-gb200.36xlarge", 70*time.Minute+1), active, ""},
		{"one near its end", block("p6e-gb200.36xlarge", 70*time.Minute), expiring, ""},
		{"another", block("trn2u.48xlarge", 70*time.Minute), expiring, ""},
		{"no UltraServer", block("trn2.48xlarge", 70*time.Minute), active, ""},
		{"a block without end", func(r *ec2types.CapacityReservation) { r.ReservationType = "capacity-block" }, active, ""},
		{"no id", func(r *ec2types.CapacityReservation) { r.CapacityReservationId = nil }, "", "m5.large: capacity reservation : without id, instance type or zone; left out"},
		{"no zone", func(r *ec2types.CapacityReservation) { r.AvailabilityZone = nil }, "", "m5.large: capacity reservation cr-1: without id, instance type or zone; left out"},
		{"no type", func(r *ec2types.CapacityReservation) { r.InstanceType = nil }, "", "instance type without a name: capacity reservation cr-1: without id, instance type or zone; left out"},
		{"a type of later days", func(r *ec2types.CapacityReservation) { r.ReservationType = "lottery" }, "", `m5.large: capacity reservation cr-1: its type "lottery" is not known; left out`},
		{"no criteria", func(r *ec2types.CapacityReservation) { r.InstanceMatchCriteria = "" }, "", `m5.large: capacity reservation cr-1: its match criteria "" are not known; left out`},
		{"Windows", func(r *ec2types.CapacityReservation) { r.InstancePlatform = "Windows with SQL Server" }, "",
			"m5.large: capacity reservation cr-1: it is for Windows with SQL Server, and the images are AL2023; left out"},
		{"no platform", func(r *ec2types.CapacityReservation) { r.InstancePlatform = "" }, active, ""},
	} {
		got, problems := instancetype.ReadReservations(noon, amiselect.FamilyAL2023, []ec2types.CapacityReservation{reservation(c.edit)})
		if c.state == "" {
			require.Empty(t, got, c.name)
			if c.fault == "" {
				require.Empty(t, problems, c.name)
				continue
			}
			require.Len(t, problems, 1, c.name)
			require.Equal(t, c.fault, problems[0].String(), c.name)
			continue
		}
		require.Empty(t, problems, c.name)
		require.Len(t, got, 1, c.name)
		require.Equal(t, c.state, got[0].State, c.name)
	}
	got, problems := instancetype.ReadReservations(noon, amiselect.FamilyWindows2022, []ec2types.CapacityReservation{reservation()})
	require.Empty(t, got)
	require.Len(t, problems, 1)

	full := reservation(func(r *ec2types.CapacityReservation) {
		r.Interruptible, r.EndDate, r.CapacityReservationId = new(true), new(noon.Add(time.Hour)), new("cr-0")
	})
	list := []ec2types.CapacityReservation{reservation(), full, full}
	want := []awsv1.CapacityReservation{
		{ID: "cr-0", InstanceType: "m5.large", AvailabilityZone: "us-east-1a", OwnerID: "111122223333", InstanceMatchCriteria: "targeted",
			ReservationType: "default", Interruptible: true, EndTime: &metav1.Time{Time: noon.Add(time.Hour)}, State: active},
		{ID: "cr-1", InstanceType: "m5.large", AvailabilityZone: "us-east-1a", OwnerID: "111122223333", InstanceMatchCriteria: "targeted",
			ReservationType: "default", State: active},
	}
	for range 2 {
		got, problems = instancetype.ReadReservations(noon, amiselect.FamilyAL2023, list)
		require.Empty(t, problems)
		require.Equal(t, want, got)
		slices.Reverse(list)
	}
}

func TestNextReservationChange(t *testing.T) {
	_, found := instancetype.NextReservationChange(noon, nil)
	require.False(t, found)
	end := func(after time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(after)} }
	list := []awsv1.CapacityReservation{
		{ReservationType: "default"}, {ReservationType: "default", EndTime: end(3 * time.Hour)},
		{ReservationType: "capacity-block", InstanceType: "p5.48xlarge", EndTime: end(2 * time.Hour)},
		{ReservationType: "default", EndTime: end(-time.Hour)},
	}
	for _, at := range []time.Duration{80 * time.Minute, 2 * time.Hour, 3 * time.Hour} {
		next, found := instancetype.NextReservationChange(noon.Add(at-1), list)
		require.True(t, found)
		require.Equal(t, noon.Add(at), next)
	}
	_, found = instancetype.NextReservationChange(noon.Add(3*time.Hour), list)
	require.False(t, found)
}

// A block whose status was read before it began to expire is not launched into.
func TestStaleReservationStatus(t *testing.T) {
	in := input(t, class(amiselect.FamilyAL2023, func(c *awsv1.EC2NodeClass) {
		c.Status.CapacityReservations = []awsv1.CapacityReservation{{ID: "cr-1", InstanceType: "p5.48xlarge", AvailabilityZone: "us-east-1a",
			ReservationType: "capacity-block", EndTime: &metav1.Time{Time: noon.Add(time.Hour)}, State: awsv1.CapacityReservationStateActive}}
	}))
	in.Stock = stock(map[string]int32{"cr-1": 1})
	require.True(t, offering(t, find(t, build(t, in, nil), "p5.48xlarge"), "us-east-1a", "reserved").Launchable())
	in.Now = noon.Add(20 * time.Minute)
	require.False(t, offering(t, find(t, build(t, in, nil), "p5.48xlarge"), "us-east-1a", "reserved").Available)
}

func TestStock(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	said := func(n int32) []ec2types.CapacityReservation {
		return []ec2types.CapacityReservation{reservation(func(r *ec2types.CapacityReservation) { r.AvailableInstanceCount = &n }), {}}
	}
	var s instancetype.Stock
	require.Zero(t, s.Left("cr-1"))
	s = s.Observe(at(0), said(3))
	require.Equal(t, 3, s.Left("cr-1"))
	one := s.Launched(at(10), "cr-1")
	two := one.Launched(at(20), "cr-1")
	require.Equal(t, []int{3, 2, 1}, []int{s.Left("cr-1"), one.Left("cr-1"), two.Left("cr-1")})
	require.Equal(t, 0, one.Launched(at(20), "cr-1").Launched(at(20), "cr-1").Launched(at(20), "cr-1").Left("cr-1"), "not below zero")
	require.Equal(t, 1, two.Left("cr-1"), "what others made of it does not show")
	require.Equal(t, 2, two.Terminated(at(30), "cr-1").Left("cr-1"))

	require.Equal(t, 1, two.Observe(at(15), said(2)).Left("cr-1"), "the second launch is not in the answer")
	require.Equal(t, 1, two.Observe(at(20), said(1)).Left("cr-1"), "both are")
	require.Equal(t, 1, two.Observe(at(-1), said(9)).Left("cr-1"), "an old answer")
	require.Equal(t, 2, s.Launched(at(0), "cr-1").Observe(at(0), said(2)).Left("cr-1"))
	require.Equal(t, 3, s.Launched(at(-5), "cr-1").Left("cr-1"), "a launch that was in the answer")

	full := two.Full(at(40), "cr-1")
	require.Zero(t, full.Left("cr-1"))
	require.Equal(t, 1, full.Terminated(at(50), "cr-1").Left("cr-1"))
	require.Equal(t, 4, full.Observe(at(60), said(4)).Left("cr-1"))
	require.Zero(t, full.Observe(at(30), said(4)).Left("cr-1"), "asked before it was refused")

	var none instancetype.Stock
	require.Zero(t, none.Launched(at(0), "cr-2").Left("cr-2"))
	require.Equal(t, 1, none.Terminated(at(0), "cr-2").Left("cr-2"))
	require.Zero(t, none.Observe(at(0), said(-3)).Left("cr-1"))
	require.Equal(t, 3, s.Keep("cr-1", "cr-9").Left("cr-1"))
	require.Zero(t, s.Keep("cr-9").Left("cr-1"))
}
