package nodeclass_test

import (
	"context"
	"errors"
	"testing"
	"time"

	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func tags(pairs ...string) (out []ec2types.Tag) {
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, ec2types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return out
}

func subnet(id, zone, zoneID string, free int32, pairs ...string) ec2types.Subnet {
	return ec2types.Subnet{SubnetId: &id, AvailabilityZone: &zone, AvailabilityZoneId: &zoneID, VpcId: new("vpc-1"),
		AvailableIpAddressCount: &free, Tags: tags(pairs...)}
}

func network() *Cloud {
	return &Cloud{Subnets: []ec2types.Subnet{
		subnet("subnet-c", "us-east-1c", "use1-az4", 9, "team", "web"),
		subnet("subnet-a", "us-east-1a", "use1-az1", 250, "team", "web", "tier", "private"),
		subnet("subnet-b", "us-east-1b", "use1-az2", 100, "team", "data", "tier", "private"),
		{SubnetId: new("subnet-nowhere"), Tags: tags("team", "web")},
	}}
}

func ids[T any](all []T, id func(T) string) (out []string) {
	for _, one := range all {
		out = append(out, id(one))
	}
	return out
}

func TestSubnets(t *testing.T) {
	for name, tt := range map[string]struct {
		terms []awsv1.SubnetSelectorTerm
		want  []string
		calls int
	}{
		"id":                    {[]awsv1.SubnetSelectorTerm{{ID: "subnet-b"}}, []string{"subnet-b"}, 1},
		"ids are one call":      {[]awsv1.SubnetSelectorTerm{{ID: "subnet-c"}, {ID: "subnet-a"}, {ID: "subnet-a"}}, []string{"subnet-a", "subnet-c"}, 1},
		"unknown id":            {[]awsv1.SubnetSelectorTerm{{ID: "subnet-0"}}, nil, 1},
		"tags are ANDed":        {[]awsv1.SubnetSelectorTerm{{Tags: map[string]string{"team": "web", "tier": "private"}}}, []string{"subnet-a"}, 1},
		"a tag that is there":   {[]awsv1.SubnetSelectorTerm{{Tags: map[string]string{"tier": "*"}}}, []string{"subnet-a", "subnet-b"}, 1},
		"wildcard":              {[]awsv1.SubnetSelectorTerm{{Tags: map[string]string{"team": "w*"}}}, []string{"subnet-a", "subnet-c"}, 1},
		"terms are ORed":        {[]awsv1.SubnetSelectorTerm{{ID: "subnet-a"}, {Tags: map[string]string{"team": "data"}}}, []string{"subnet-a", "subnet-b"}, 2},
		"each counts once":      {[]awsv1.SubnetSelectorTerm{{ID: "subnet-a"}, {Tags: map[string]string{"team": "web"}}}, []string{"subnet-a", "subnet-c"}, 2},
		"equal terms ask once":  {[]awsv1.SubnetSelectorTerm{{Tags: map[string]string{"team": "data"}}, {Tags: map[string]string{"team": "data"}}}, []string{"subnet-b"}, 1},
		"id counts before tags": {[]awsv1.SubnetSelectorTerm{{ID: "subnet-a", Tags: map[string]string{"team": "data"}}}, []string{"subnet-a"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := network()
			c.PageSize = 1
			s := sources(t, c, newClock())
			got, reading, err := s.Subnets(bg, tt.terms)
			require.NoError(t, err)
			require.Equal(t, tt.want, ids(got, func(s nodeclass.Subnet) string { return s.ID }))
			require.Equal(t, Noon, reading.At)
			first := len(c.Asked())
			require.GreaterOrEqual(t, first, tt.calls)
			_, _, err = s.Subnets(bg, tt.terms)
			require.NoError(t, err)
			require.Len(t, c.Asked(), first, "remembered")
		})
	}
}

func TestSubnetFactsAndZones(t *testing.T) {
	c, k := network(), newClock()
	s := sources(t, c, k)
	terms := []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"team": "web"}}}
	got, _, err := s.Subnets(bg, terms)
	require.NoError(t, err)
	require.Equal(t, nodeclass.Subnet{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az1", VPC: "vpc-1", Free: 250, At: Noon}, got[0])
	require.Equal(t, []instancetype.Zone{{Name: "us-east-1a", ID: "use1-az1"}, {Name: "us-east-1c", ID: "use1-az4"}}, s.Zones())

	c.Change(func(c *Cloud) { c.Subnets[1].AvailableIpAddressCount = new(int32(3)) })
	got, _, _ = s.Subnets(bg, terms)
	require.EqualValues(t, 250, got[0].Free)
	s.ForgetSubnets()
	require.NoError(t, s.Refresh(bg))
	got, _, _ = s.Subnets(bg, terms)
	require.EqualValues(t, 3, got[0].Free)
}

// A term that selects everything never reaches EC2.
func TestEmptyTerms(t *testing.T) {
	c := network()
	s := sources(t, c, newClock())
	_, _, err := s.Subnets(bg, []awsv1.SubnetSelectorTerm{{ID: "subnet-a"}, {Tags: map[string]string{}}})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.ErrorContains(t, err, "subnetSelectorTerms[1]")
	_, _, err = s.SecurityGroups(bg, []awsv1.SecurityGroupSelectorTerm{{}})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	_, _, err = s.Reservations(bg, []awsv1.CapacityReservationSelectorTerm{{OwnerID: "123456789012"}})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	_, _, err = s.PlacementGroup(bg, &awsv1.PlacementGroupSelector{Name: new("")})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.Empty(t, c.Calls())
}

// One term of two that cannot be read is no answer: half of the subnets would make
// nodes in the other half drift.
func TestPartialFailureIsFailure(t *testing.T) {
	c, k := network(), newClock()
	s := sources(t, c, k)
	terms := []awsv1.SubnetSelectorTerm{{ID: "subnet-b"}, {Tags: map[string]string{"team": "web"}}}
	first := true
	c.Before = func(context.Context, string) error {
		if first {
			first = false
			return nil
		}
		return errors.New("connection reset by peer")
	}
	got, _, err := s.Subnets(bg, terms)
	require.ErrorContains(t, err, "connection reset by peer")
	require.Nil(t, got)
	c.Change(func(c *Cloud) { c.Before = nil })
	k.Step(10 * time.Second)
	_ = s.Refresh(bg)
	got, _, err = s.Subnets(bg, terms)
	require.NoError(t, err)
	require.Len(t, got, 3)

	fail(c, "DescribeSubnets", throttled("DescribeSubnets"))
	k.Step(time.Minute)
	_ = s.Refresh(bg)
	got, reading, err := s.Subnets(bg, terms)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.True(t, reading.Stale)
	require.ErrorIs(t, reading.Err, cloudprovider.ErrThrottled)
}

func TestSecurityGroups(t *testing.T) {
	c := &Cloud{PageSize: 1, SecurityGroups: []ec2types.SecurityGroup{
		group("sg-3", "nodes", "vpc-2"), group("sg-1", "nodes", "vpc-1", "team", "web"), group("sg-2", "pods-x", "vpc-1", "team", "web"),
	}}
	s := sources(t, c, newClock())
	got, _, err := s.SecurityGroups(bg, []awsv1.SecurityGroupSelectorTerm{{Name: "pods-*"}, {Name: "nodes"}, {ID: "sg-1"}, {Tags: map[string]string{"team": "web"}}})
	require.NoError(t, err)
	require.Equal(t, []nodeclass.SecurityGroup{{ID: "sg-1", Name: "nodes", VPC: "vpc-1"}, {ID: "sg-2", Name: "pods-x", VPC: "vpc-1"}, {ID: "sg-3", Name: "nodes", VPC: "vpc-2"}}, got)
	asked := map[string]bool{}
	for _, a := range c.Asked() {
		asked[a] = true
	}
	require.Equal(t, map[string]bool{"DescribeSecurityGroups group-id=sg-1": true, "DescribeSecurityGroups group-name=nodes,pods-*": true,
		"DescribeSecurityGroups tag:team=web": true}, asked)
}

func reservation(id string, left int32, pairs ...string) ec2types.CapacityReservation {
	return ec2types.CapacityReservation{CapacityReservationId: &id, AvailableInstanceCount: &left, State: ec2types.CapacityReservationStateActive,
		OwnerId: new("123456789012"), InstanceMatchCriteria: ec2types.InstanceMatchCriteriaTargeted, Tags: tags(pairs...)}
}

func TestReservationsAndStock(t *testing.T) {
	c, k := &Cloud{PageSize: 2, Reservations: []ec2types.CapacityReservation{
		reservation("cr-3", 5, "team", "web"), reservation("cr-1", 2, "team", "web"), reservation("cr-2", 1, "team", "web"), reservation("cr-4", 4),
		{CapacityReservationId: new("cr-5"), State: ec2types.CapacityReservationStateExpired, Tags: tags("team", "web")},
	}}, newClock()
	s := sources(t, c, k)
	id := func(r ec2types.CapacityReservation) string { return *r.CapacityReservationId }
	terms := []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "web"}, OwnerID: "123456789012"}, {ID: "cr-4"}, {ID: "cr-0"}, {ID: "cr-5"}}
	got, _, err := s.Reservations(bg, terms)
	require.NoError(t, err, "an id that is not there selects nothing")
	require.Equal(t, []string{"cr-1", "cr-2", "cr-3", "cr-4"}, ids(got, id))
	require.Equal(t, 5, c.Calls()["DescribeCapacityReservations"], "two pages, and one for each id")
	require.Equal(t, 2, s.Stock().Left("cr-1"))

	k.Step(time.Second)
	_ = s.Refresh(bg)
	s.ReservationLaunched("cr-1")
	s.ReservationFull("cr-3")
	require.Equal(t, 1, s.Stock().Left("cr-1"))
	require.Zero(t, s.Stock().Left("cr-3"))
	s.ReservationTerminated("cr-1")
	require.Equal(t, 2, s.Stock().Left("cr-1"))
	require.Empty(t, c.Calls())

	k.Step(time.Minute)
	_ = s.Refresh(bg)
	_, _, err = s.Reservations(bg, terms)
	require.NoError(t, err)
	require.Equal(t, 5, s.Stock().Left("cr-3"), "EC2 says so now")

	c.Change(func(c *Cloud) { c.Reservations = c.Reservations[1:] })
	k.Step(2 * time.Minute)
	_ = s.Refresh(bg)
	for range 2 {
		_, _, err = s.Reservations(bg, terms)
		require.NoError(t, err)
		k.Step(2 * time.Minute)
		_ = s.Refresh(bg)
	}
	require.Zero(t, s.Stock().Left("cr-3"), "gone")
	require.Equal(t, 2, s.Stock().Left("cr-1"))
	got, _, err = s.Reservations(bg, []awsv1.CapacityReservationSelectorTerm{{InstanceMatchCriteria: "targeted"}})
	require.NoError(t, err)
	require.Len(t, got, 3)
	got, _, err = s.Reservations(bg, nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

// That a group does not exist is an answer; that EC2 does not say is none.
func TestPlacementGroup(t *testing.T) {
	c, k := &Cloud{PlacementGroups: []ec2types.PlacementGroup{
		{GroupId: new("pg-1"), GroupName: new("ring"), State: ec2types.PlacementGroupStateAvailable, Strategy: ec2types.PlacementStrategyCluster},
		{GroupId: new("pg-2"), GroupName: new("going"), State: ec2types.PlacementGroupStateDeleting},
	}}, newClock()
	s := sources(t, c, k)
	for _, selector := range []*awsv1.PlacementGroupSelector{{Name: new("ring")}, {ID: new("pg-1")}} {
		got, _, err := s.PlacementGroup(bg, selector)
		require.NoError(t, err)
		require.Equal(t, "pg-1", *got.GroupId)
	}
	got, _, err := s.PlacementGroup(bg, nil)
	require.NoError(t, err)
	require.Nil(t, got)
	for _, name := range []string{"none", "going"} {
		got, reading, err := s.PlacementGroup(bg, &awsv1.PlacementGroupSelector{Name: &name})
		require.NoError(t, err)
		require.Nil(t, got)
		require.False(t, reading.Stale)
	}
	c.Calls()
	_, _, _ = s.PlacementGroup(bg, &awsv1.PlacementGroupSelector{Name: new("none")})
	require.Empty(t, c.Calls(), "that there is none is remembered too")

	fail(c, "DescribePlacementGroups", throttled("DescribePlacementGroups"))
	k.Step(time.Minute)
	_ = s.Refresh(bg)
	got, reading, err := s.PlacementGroup(bg, &awsv1.PlacementGroupSelector{Name: new("ring")})
	require.NoError(t, err)
	require.Equal(t, "pg-1", *got.GroupId)
	require.True(t, reading.Stale)
	_, _, err = s.PlacementGroup(bg, &awsv1.PlacementGroupSelector{Name: new("new")})
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)

	// Deleted: it is gone, and does not come back from memory.
	fail(c, "DescribePlacementGroups", nil)
	c.Change(func(c *Cloud) { c.PlacementGroups = nil })
	for range 3 {
		k.Step(2 * time.Minute)
		_ = s.Refresh(bg)
		got, _, err = s.PlacementGroup(bg, &awsv1.PlacementGroupSelector{Name: new("ring")})
		require.NoError(t, err)
		require.Nil(t, got)
	}
}

func TestShiftedZones(t *testing.T) {
	c, k := region(t), newClock()
	s := sources(t, c, k)
	shift := func(zone string, status shifttypes.AppliedStatus, ends time.Time) shifttypes.ZonalShiftInResource {
		return shifttypes.ZonalShiftInResource{AwayFrom: &zone, AppliedStatus: status, ExpiryTime: &ends}
	}
	c.Shifts = []shifttypes.ZonalShiftInResource{
		shift("use1-az4", shifttypes.AppliedStatusApplied, Noon.Add(time.Hour)),
		shift("use1-az1", shifttypes.AppliedStatusApplied, Noon.Add(15*time.Second)),
		shift("use1-az2", shifttypes.AppliedStatusNotApplied, Noon.Add(time.Hour)),
		shift("use1-az6", shifttypes.AppliedStatusApplied, Noon.Add(-time.Hour)),
	}
	c.Autoshifts = []shifttypes.AutoshiftInResource{
		{AwayFrom: new("use1-az5"), AppliedStatus: shifttypes.AutoshiftAppliedStatusApplied},
		{AwayFrom: new("use1-az3"), AppliedStatus: shifttypes.AutoshiftAppliedStatusNotApplied},
	}
	got, err := s.ShiftedZones(bg)
	require.NoError(t, err)
	require.Equal(t, []string{"use1-az1", "use1-az4", "use1-az5"}, got)
	require.Contains(t, c.Asked(), "GetManagedResource arn:aws:eks:us-east-1:123456789012:cluster/shop")
	k.Step(15 * time.Second)
	_ = s.Refresh(bg)
	got, _ = s.ShiftedZones(bg)
	require.Equal(t, []string{"use1-az4", "use1-az5"}, got, "one has ended meanwhile")

	// Cancelled.
	c.Change(func(c *Cloud) { c.Shifts, c.Autoshifts = c.Shifts[1:2], nil })
	k.Step(15 * time.Second)
	_ = s.Refresh(bg)
	got, _ = s.ShiftedZones(bg)
	require.Empty(t, got)

	// While ARC cannot be reached what it said last holds.
	c.Change(func(c *Cloud) {
		c.Shifts = []shifttypes.ZonalShiftInResource{shift("use1-az4", shifttypes.AppliedStatusApplied, Noon.Add(time.Hour))}
	})
	k.Step(30 * time.Second)
	_ = s.Refresh(bg)
	_, _ = s.ShiftedZones(bg)
	fail(c, "GetManagedResource", errors.New("no route to host"))
	c.Calls()
	k.Step(30 * time.Minute)
	_ = s.Refresh(bg)
	for range 10 {
		got, err = s.ShiftedZones(bg)
		require.NoError(t, err)
		require.Equal(t, []string{"use1-az4"}, got)
	}
	require.Equal(t, 1, c.Calls()["GetManagedResource"], "not asked at every query")
	k.Step(time.Hour)
	_ = s.Refresh(bg)
	got, _ = s.ShiftedZones(bg)
	require.Empty(t, got, "and no longer than it said")
}

func TestShiftedZonesWithoutAnswer(t *testing.T) {
	c, k := region(t), newClock()
	fail(c, "GetManagedResource", Error("ARC Zonal Shift", "GetManagedResource", "AccessDeniedException", "denied"))
	s := sources(t, c, k)
	got, err := s.ShiftedZones(bg)
	require.NoError(t, err)
	require.Nil(t, got)
	require.ErrorIs(t, health(t, s, "zonal shifts").Err, cloudprovider.ErrDenied)
	require.ErrorContains(t, health(t, s, "zonal shifts").Err, "arc-zonal-shift:GetManagedResource")

	fail(c, "GetManagedResource", Error("ARC Zonal Shift", "GetManagedResource", "ResourceNotFoundException", ""))
	k.Step(time.Minute)
	_ = s.Refresh(bg)
	got, err = s.ShiftedZones(bg)
	require.NoError(t, err)
	require.Nil(t, got)
	require.Zero(t, health(t, s, "zonal shifts").Failures, "not turned on is an answer")

	s = sources(t, withTypes(t), k, func(c *api.Clients, _ *nodeclass.Options) { c.EKS = nil })
	got, err = s.ShiftedZones(bg)
	require.NoError(t, err)
	require.Nil(t, got)
	require.ErrorContains(t, health(t, s, "zonal shifts").Err, "the ARN of the cluster is not known; give it, or a client for EKS")

	s = sources(t, region(t), k, func(c *api.Clients, _ *nodeclass.Options) { c.ZonalShift = nil })
	got, err = s.ShiftedZones(bg)
	require.NoError(t, err)
	require.Nil(t, got)
}

func TestCluster(t *testing.T) {
	c, k := region(t), newClock()
	s := sources(t, c, k)
	got, _, err := s.Cluster(bg)
	require.NoError(t, err)
	require.Equal(t, nodeclass.Cluster{ARN: "arn:aws:eks:us-east-1:123456789012:cluster/shop", Account: "123456789012", Version: "1.34",
		Endpoint: "https://shop.example", CertificateAuthority: "Q0E=", ServiceCIDR: "10.100.0.0/16"}, got)
	c.Change(func(c *Cloud) { up := *c.Cluster; up.Version = new("1.35"); c.Cluster = &up })
	k.Step(5 * time.Minute)
	_ = s.Refresh(bg)
	got, _, _ = s.Cluster(bg)
	require.Equal(t, "1.35", got.Version)

	s = sources(t, c, k, func(_ *api.Clients, o *nodeclass.Options) {
		o.KubernetesVersion, o.ServiceCIDR = "1.31", "fd00:10::/108"
	})
	c.Calls()
	got, _, _ = s.Cluster(bg)
	require.Equal(t, "1.31", got.Version, "what the caller says counts")
	require.True(t, got.IPv6)

	s = sources(t, c, k, func(cl *api.Clients, o *nodeclass.Options) {
		cl.EKS, o.ClusterARN = nil, "arn:aws:eks:us-east-1:123456789012:cluster/shop"
	})
	got, reading, err := s.Cluster(bg)
	require.NoError(t, err)
	require.Equal(t, nodeclass.Cluster{ARN: "arn:aws:eks:us-east-1:123456789012:cluster/shop", Account: "123456789012"}, got)
	require.Zero(t, reading)

	c.Change(func(c *Cloud) { c.Cluster = nil })
	_, _, err = sources(t, c, k).Cluster(bg)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	require.ErrorContains(t, err, "shop")
}
