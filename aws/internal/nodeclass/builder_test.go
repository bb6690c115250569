package nodeclass_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestBuilderImages(t *testing.T) {
	c := newBuilderSetup(t, stocked(t)).catalog(t, resolvedClass())
	requireSound(t, c.Types)
	require.Equal(t, "ami-x86neuron", c.Images["inf2.xlarge"])
	require.Equal(t, "ami-x86nvidia", c.Images["g4ad.xlarge"])
	require.Equal(t, "ami-armnvidia", c.Images["g5g.xlarge"])
	require.Equal(t, "ami-armstandard", c.Images["m6g.medium"])
	require.Equal(t, "ami-x86standard", c.Images["m5.large"])
}

// The same catalog is handed out until anything that it is made of changes; and
// then the new one has the change.
func TestCatalogIsKeptUntilSomethingChanges(t *testing.T) {
	s := newBuilderSetup(t, stocked(t))
	s.cloud.PlacementGroups = []ec2types.PlacementGroup{{GroupId: new("pg-1"), GroupName: new("ring"), State: ec2types.PlacementGroupStateAvailable, Strategy: "partition", PartitionCount: new(int32(2))}}
	s.cloud.Reservations = []ec2types.CapacityReservation{{CapacityReservationId: new("cr-0123456789abcdef0"), InstanceType: new("m5.large"),
		AvailabilityZone: new("us-east-1a"), OwnerId: new("123456789012"), InstanceMatchCriteria: "targeted", State: "active", AvailableInstanceCount: new(int32(3))}}
	c := resolvedClass(func(c *awsv1.EC2NodeClass) {
		c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("ring")}
		c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-0123456789abcdef0"}}
	})
	last := s.catalog(t, c)
	reserved := func(c *instancetype.Catalog) cloudprovider.Offering {
		return findOffering(t, findType(t, c, "m5.large"), "us-east-1a", karpv1.CapacityTypeReserved)
	}
	require.Equal(t, 3, reserved(last).ReservationCapacity)
	for _, step := range []struct {
		name   string
		change func()
		check  func(c *instancetype.Catalog)
	}{
		{"a class edited", func() { c.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(7))} }, func(c *instancetype.Catalog) {
			require.EqualValues(t, 7, findType(t, c, "m5.large").Capacity.Get("pods"))
		}},
		{"a CPU option", func() {
			c.Spec.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: new(awsv1.Enabled)}
		}, func(c *instancetype.Catalog) {
			require.False(t, findOffering(t, findType(t, c, "m5.large"), "us-east-1a", karpv1.CapacityTypeOnDemand).Available)
		}},
		{"and back", func() { c.Spec.CPUOptions = nil }, func(c *instancetype.Catalog) {
			require.True(t, findOffering(t, findType(t, c, "m5.large"), "us-east-1a", karpv1.CapacityTypeOnDemand).Available)
		}},
		{"a launch into a reservation", func() { s.clock.Step(1); s.sources.ReservationLaunched("cr-0123456789abcdef0") },
			func(c *instancetype.Catalog) { require.Equal(t, 2, reserved(c).ReservationCapacity) }},
		{"a spot price", func() {
			s.cloud.Spot[0].SpotPrice = new("0.09")
			s.clock.Step(time.Hour)
		}, func(c *instancetype.Catalog) {
			require.Equal(t, 0.09, findOffering(t, findType(t, c, "m5.large"), "us-east-1a", karpv1.CapacityTypeSpot).Price)
		}},
		{"a zonal shift", func() {
			s.cloud.Shifts = []shifttypes.ZonalShiftInResource{{AwayFrom: new("use1-az1"), AppliedStatus: "APPLIED", ExpiryTime: new(Noon.Add(99 * time.Hour))}}
			s.clock.Step(time.Minute)
		}, func(c *instancetype.Catalog) {
			require.False(t, findOffering(t, findType(t, c, "m5.large"), "us-east-1a", karpv1.CapacityTypeSpot).Available)
			require.False(t, reserved(c).Available)
			require.True(t, findOffering(t, findType(t, c, "m5.large"), "us-east-1b", karpv1.CapacityTypeSpot).Available)
		}},
		{"another image", func() {
			newer := s.cloud.Images[0]
			newer.ImageId, newer.CreationDate = new("ami-newer"), new("2026-11-01T01:00:00.000Z")
			s.cloud.Images = append(s.cloud.Images, newer)
			s.cloud.Parameters["/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"] = "ami-newer"
			s.clock.Step(5 * time.Minute)
		}, func(c *instancetype.Catalog) { require.Equal(t, "ami-newer", c.Images["m5.large"]) }},
		{"memory that a node reported", func() {
			verdict, err := s.builder.Observe(bg, instancetype.Observation{Nodes: instancetype.Nodes{InstanceType: "m5.large", Image: "ami-newer"}, Memory: 7 << 30, At: s.clock.Now()})
			require.NoError(t, err)
			require.Equal(t, instancetype.VerdictNew, verdict)
		}, func(c *instancetype.Catalog) {
			require.EqualValues(t, 7<<30, findType(t, c, "m5.large").Capacity.Get("memory"))
		}},
		{"and what was kept of it", func() { s.builder.Restore(instancetype.Learned{}) }, func(c *instancetype.Catalog) {
			require.NotEqualValues(t, 7<<30, findType(t, c, "m5.large").Capacity.Get("memory"))
		}},
		{"partitions", func() {
			s.cloud.PlacementGroups[0].PartitionCount = new(int32(5))
			s.clock.Step(time.Minute)
		},
			func(c *instancetype.Catalog) {
				got, _ := findType(t, c, "m5.large").Requirements.Get(awsv1.LabelPlacementGroupPartition)
				require.Len(t, values(got), 5)
			}},
		{"a new instance type", func() {
			s.cloud.Types[0].InstanceType = "m99.large"
			s.clock.Step(12 * time.Hour)
		}, func(c *instancetype.Catalog) { findType(t, c, "m99.large") }},
		{"time", func() { s.clock.Step(5 * time.Minute) }, func(*instancetype.Catalog) {}},
		{"a clock that goes back", func() { s.clock.Step(-time.Hour) }, func(*instancetype.Catalog) {}},
	} {
		require.True(t, last == s.catalog(t, c), "before %s", step.name)
		step.change()
		next := s.catalog(t, c)
		require.False(t, last == next, step.name)
		step.check(next)
		last = next
	}
}

// When a reservation ends, the catalog is made anew although nothing was said.
func TestReservationEnds(t *testing.T) {
	s := newBuilderSetup(t, stocked(t))
	ends := Noon.Add(42 * time.Minute)
	s.cloud.Reservations = []ec2types.CapacityReservation{{CapacityReservationId: new("cr-0123456789abcdef0"), InstanceType: new("m5.large"), EndDate: &ends,
		AvailabilityZone: new("us-east-1a"), OwnerId: new("123456789012"), InstanceMatchCriteria: "targeted", State: "active",
		ReservationType: ec2types.CapacityReservationTypeCapacityBlock, AvailableInstanceCount: new(int32(1))}}
	c := resolvedClass(func(c *awsv1.EC2NodeClass) {
		c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-0123456789abcdef0"}}
	})
	r, err := s.resolver.Resolve(bg, c)
	require.NoError(t, err)
	of := func() bool {
		made, err := s.builder.Build(bg, r.Class)
		require.NoError(t, err)
		return findOffering(t, findType(t, made, "m5.large"), "us-east-1a", karpv1.CapacityTypeReserved).Available
	}
	require.True(t, of())
	s.clock.SetTime(Noon.Add(2*time.Minute - 1))
	require.True(t, of())
	s.clock.SetTime(Noon.Add(2 * time.Minute))
	require.False(t, of(), "forty minutes before its end")
}

// A catalog that cannot be made whole is an error, and with an answer of before it
// is made of that.
func TestSourcesFail(t *testing.T) {
	s := newBuilderSetup(t, stocked(t))
	s.cloud.Fail = map[string]error{"DescribeInstanceTypes": errors.New("no route to host")}
	_, err := s.builder.Build(bg, resolvedClass())
	require.ErrorContains(t, err, "no route to host")
	s.cloud.Fail = map[string]error{"DescribePlacementGroups": errors.New("no route to host")}
	s.clock.SetTime(Noon.Add(time.Minute))
	_, err = s.builder.Build(bg, resolvedClass(func(c *awsv1.EC2NodeClass) {
		c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("ring")}
	}))
	require.ErrorContains(t, err, "no route to host")

	s.clock.SetTime(Noon.Add(2 * time.Minute))
	_ = s.sources.Refresh(bg)
	whole := s.catalog(t, resolvedClass())
	s.cloud.Fail = map[string]error{}
	for _, operation := range []string{"DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory", "GetProducts", "GetManagedResource", "DescribeSubnets", "DescribeCluster"} {
		s.cloud.Fail[operation] = Error("EC2", operation, "RequestLimitExceeded", "")
	}
	s.clock.SetTime(Noon.Add(30 * time.Hour))
	again := s.catalog(t, resolvedClass())
	require.Len(t, again.Types, len(whole.Types))
	require.Contains(t, again.Stale, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: karpv1.CapacityTypeSpot})
	require.NotContains(t, whole.Stale, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: karpv1.CapacityTypeSpot})
	require.True(t, findOffering(t, findType(t, again, "m5.large"), "us-east-1a", karpv1.CapacityTypeSpot).Available)
}

func TestBadClass(t *testing.T) {
	s := newBuilderSetup(t, stocked(t))
	_, err := s.builder.Build(bg, nil)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	_, err = s.builder.Build(bg, resolvedClass(func(c *awsv1.EC2NodeClass) {
		c.Spec.Kubelet = &awsv1.KubeletConfiguration{KubeReserved: map[string]string{"cpu": "much"}}
	}))
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.ErrorContains(t, err, "EC2NodeClass web")
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_, err = s.builder.Build(ctx, resolvedClass())
	require.ErrorIs(t, err, context.Canceled)
}

// What a caller does to his class later does not show in what is kept.
func TestClassIsCopied(t *testing.T) {
	s := newBuilderSetup(t, stocked(t))
	_ = s.catalog(t, resolvedClass())
	r, err := s.resolver.Resolve(bg, resolvedClass())
	require.NoError(t, err)
	mine := r.Class.DeepCopy()
	first, err := s.builder.Build(bg, mine)
	require.NoError(t, err)
	mine.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(5))}
	second, err := s.builder.Build(bg, mine)
	require.NoError(t, err)
	require.False(t, first == second)
	mine.UID = "uid-2"
	third, err := s.builder.Build(bg, mine)
	require.NoError(t, err)
	require.False(t, second == third, "a class that was made again is another one")
	require.Equal(t, second.Types, third.Types)
}

func TestBuilderObserve(t *testing.T) {
	s := newBuilderSetup(t, stocked(t))
	n := instancetype.Nodes{InstanceType: "m5.large", Image: "ami-x86standard"}
	for _, tt := range []struct {
		memory int64
		want   instancetype.Verdict
	}{{7 << 30, instancetype.VerdictNew}, {7<<30 - 1, instancetype.VerdictLower}, {7<<30 - 1, instancetype.VerdictSame}, {7<<30 + 9, instancetype.VerdictHigher}, {9 << 30, instancetype.VerdictImplausible}} {
		got, err := s.builder.Observe(bg, instancetype.Observation{Nodes: n, Memory: tt.memory, At: Noon})
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	require.Len(t, s.builder.Learned().All(), 1)
	failing := newBuilderSetup(t, &Cloud{})
	_, err := failing.builder.Observe(bg, instancetype.Observation{Nodes: n, Memory: 1, At: Noon})
	require.Error(t, err)
}

// Many at once, of several classes, while the world changes.
func TestConcurrentBuilds(t *testing.T) {
	cloud := stocked(t)
	now := time.Now // any clock that may be used by many
	src, err := nodeclass.NewSources(cloud.Clients(), nodeclass.Options{Region: "us-east-1", ClusterName: "shop", Now: now})
	require.NoError(t, err)
	resolver, err := nodeclass.NewResolver(src, nodeclass.ResolverOptions{Now: now})
	require.NoError(t, err)
	builder := instancetype.NewBuilder(src, instancetype.BuilderOptions{Region: "us-east-1", Now: now})
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			for range 5 {
				r, err := resolver.Resolve(bg, resolvedClass(func(c *awsv1.EC2NodeClass) { c.Name = string(rune('a' + i%3)) }))
				if err != nil || r.Err() != nil {
					t.Errorf("resolve: %v %v", err, r.Err())
					return
				}
				if _, err = builder.Build(bg, r.Class); err != nil {
					t.Errorf("build: %v", err)
				}
				src.ReservationLaunched("cr-1")
				src.ForgetSubnets()
				_ = src.Health()
				_, _ = builder.Observe(bg, instancetype.Observation{Nodes: instancetype.Nodes{InstanceType: "m5.large", Image: "ami-1"}, Memory: 7 << 30, At: Noon})
			}
		})
	}
	wait.Wait()
}
