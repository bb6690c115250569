package launch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

func tagsOf(all map[string]string) []ec2types.Tag {
	var out []ec2types.Tag
	for k, v := range all {
		out = append(out, ec2types.Tag{Key: new(k), Value: new(v)})
	}
	return out
}

func instance(id string, change ...func(*ec2types.Instance)) ec2types.Instance {
	i := ec2types.Instance{
		InstanceId: &id, InstanceType: "m5.large", ImageId: new("ami-1"), SubnetId: new("subnet-1"),
		LaunchTime: new(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)),
		Placement:  &ec2types.Placement{AvailabilityZone: new("us-east-1a")},
		State:      &ec2types.InstanceState{Name: ec2types.InstanceStateNameRunning},
		Tags: tagsOf(map[string]string{
			"karpenter.sh/nodepool": "general", "karpenter.k8s.aws/ec2nodeclass": "default", "eks:eks-cluster-name": "demo",
		}),
	}
	for _, f := range change {
		f(&i)
	}
	return i
}

func TestReadInstance(t *testing.T) {
	only := &ec2types.CapacityReservationSpecificationResponse{CapacityReservationPreference: ec2types.CapacityReservationPreferenceCapacityReservationsOnly}
	aimed := &ec2types.CapacityReservationSpecificationResponse{CapacityReservationTarget: &ec2types.CapacityReservationTargetResponse{CapacityReservationId: new("cr-1")}}
	for name, c := range map[string]struct {
		change func(*ec2types.Instance)
		want   func(*launch.Record)
	}{
		"on demand": {func(*ec2types.Instance) {}, func(*launch.Record) {}},
		"spot": {func(i *ec2types.Instance) { i.InstanceLifecycle = ec2types.InstanceLifecycleTypeSpot },
			func(r *launch.Record) { r.CapacityType = "spot" }},
		"reserved": {func(i *ec2types.Instance) {
			i.CapacityReservationId, i.CapacityReservationSpecification = new("cr-1"), only
		},
			func(r *launch.Record) { r.CapacityType, r.ReservationID = "reserved", "cr-1" }},
		"aimed at a reservation": {func(i *ec2types.Instance) {
			i.CapacityReservationId, i.CapacityReservationSpecification = new("cr-1"), aimed
		},
			func(r *launch.Record) { r.CapacityType, r.ReservationID = "reserved", "cr-1" }},
		"in an open reservation by chance": {func(i *ec2types.Instance) { i.CapacityReservationId = new("cr-1") }, func(*launch.Record) {}},
		"capacity block": {func(i *ec2types.Instance) {
			i.CapacityReservationId, i.InstanceLifecycle = new("cr-1"), "capacity-block"
		},
			func(r *launch.Record) { r.CapacityType, r.ReservationID, r.Block = "reserved", "cr-1", true }},
		"interruptible": {func(i *ec2types.Instance) {
			i.CapacityReservationId, i.InstanceLifecycle = new("cr-1"), "interruptible-capacity-reservation"
		}, func(r *launch.Record) { r.CapacityType, r.ReservationID, r.Interruptible = "reserved", "cr-1", true }},
		"going down": {func(i *ec2types.Instance) { i.State.Name = ec2types.InstanceStateNameShuttingDown },
			func(r *launch.Record) { r.Terminating = true }},
		"gone": {func(i *ec2types.Instance) { i.State.Name = ec2types.InstanceStateNameTerminated },
			func(r *launch.Record) { r.Terminating, r.Gone = true, true }},
		"in a group": {func(i *ec2types.Instance) {
			i.Placement.GroupId, i.Placement.PartitionNumber, i.Placement.Tenancy = new("pg-1"), new(int32(2)), "dedicated"
		}, func(r *launch.Record) { r.GroupID, r.Partition, r.Tenancy = "pg-1", 2, "dedicated" }},
		"security groups": {func(i *ec2types.Instance) {
			i.SecurityGroups = []ec2types.GroupIdentifier{{GroupId: new("sg-2")}, {GroupId: new("sg-1")}, {GroupId: new("sg-2")}}
		}, func(r *launch.Record) { r.SecurityGroups = []string{"sg-1", "sg-2"} }},
	} {
		t.Run(name, func(t *testing.T) {
			i := instance("i-1", c.change)
			got, ok := launch.ReadInstance(&i)
			require.True(t, ok)
			plain := instance("i-1")
			want, _ := launch.ReadInstance(&plain)
			c.want(&want)
			require.Equal(t, want, got)
		})
	}
	i := instance("i-1")
	r, _ := launch.ReadInstance(&i)
	require.Equal(t, "aws:///us-east-1a/i-1", r.ProviderID())
	require.Equal(t, []string{"general", "default", ""}, []string{r.NodePool(), r.NodeClass(), r.NodeClaim()})
	require.Equal(t, "on-demand", r.CapacityType)
	_, ok := r.Roster()
	require.False(t, ok)
	_, ok = launch.ReadInstance(&ec2types.Instance{})
	require.False(t, ok)
	r, ok = launch.ReadInstance(&ec2types.Instance{InstanceId: new("i-2")})
	require.True(t, ok, "the rest may be missing")
	require.Equal(t, "on-demand", r.CapacityType)
}

func TestParseProviderID(t *testing.T) {
	zone, id, ok := launch.ParseProviderID("aws:///us-east-1a/i-0123456789abcdef0")
	require.True(t, ok)
	require.Equal(t, []string{"us-east-1a", "i-0123456789abcdef0"}, []string{zone, id})
	for _, text := range []string{"", "i-0123456789abcdef0", "aws:///", "aws:////i-1", "aws:///a/b/i-1", "gce:///a/i-1", "aws:///a/x-1", "aws:///a/i-XYZ", "aws:///a/i-"} {
		_, _, ok := launch.ParseProviderID(text)
		require.False(t, ok, text)
	}
}

func FuzzParseProviderID(f *testing.F) {
	f.Add("aws:///us-east-1a/i-0123456789abcdef0")
	f.Fuzz(func(t *testing.T, text string) {
		zone, id, ok := launch.ParseProviderID(text)
		require.Equal(t, ok, zone != "" && id != "")
		if ok {
			require.Equal(t, text, (&launch.Record{Zone: zone, ID: id}).ProviderID())
		}
	})
}

// cloud is instances in memory.
type cloud struct {
	api.EC2 // what is not asked for panics

	mu        sync.Mutex
	all       []ec2types.Instance
	describes []*ec2.DescribeInstancesInput
	ends      [][]string
	fail      error // of the next call
	pageSize  int
}

func (c *cloud) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.describes = append(c.describes, in)
	if err := c.fail; err != nil {
		c.fail = nil
		return nil, err
	}
	var found []ec2types.Instance
	for _, i := range c.all {
		if matches(&i, in.Filters) {
			found = append(found, i)
		}
	}
	size, from := c.pageSize, 0
	if size == 0 {
		size = len(found) + 1
	}
	if in.NextToken != nil {
		_, _ = fmt.Sscan(*in.NextToken, &from)
	}
	out := &ec2.DescribeInstancesOutput{}
	for _, i := range found[from:min(len(found), from+size)] {
		out.Reservations = append(out.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{i}})
	}
	if from+size < len(found) {
		out.NextToken = new(fmt.Sprint(from + size))
	}
	return out, nil
}

func matches(i *ec2types.Instance, filters []ec2types.Filter) bool {
	tags := map[string]string{}
	for _, t := range i.Tags {
		tags[*t.Key] = *t.Value
	}
	for _, f := range filters {
		ok := false
		switch key, isTag := strings.CutPrefix(*f.Name, "tag:"); {
		case isTag:
			ok = slices.Contains(f.Values, tags[key])
		case *f.Name == "tag-key":
			_, ok = tags[f.Values[0]]
		case *f.Name == "instance-id":
			ok = slices.Contains(f.Values, *i.InstanceId)
		case *f.Name == "instance-state-name":
			ok = slices.Contains(f.Values, string(i.State.Name))
		}
		if !ok {
			return false
		}
	}
	return true
}

func (c *cloud) TerminateInstances(_ context.Context, in *ec2.TerminateInstancesInput, _ ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends = append(c.ends, in.InstanceIds)
	if err := c.fail; err != nil {
		c.fail = nil
		return nil, err
	}
	out := &ec2.TerminateInstancesOutput{}
	for _, id := range in.InstanceIds {
		n := slices.IndexFunc(c.all, func(i ec2types.Instance) bool { return *i.InstanceId == id })
		if n < 0 {
			return nil, &smithy.GenericAPIError{Code: "InvalidInstanceID.NotFound", Message: id}
		}
	}
	for _, id := range in.InstanceIds {
		out.TerminatingInstances = append(out.TerminatingInstances, ec2types.InstanceStateChange{
			InstanceId: new(id), CurrentState: &ec2types.InstanceState{Name: ec2types.InstanceStateNameShuttingDown}})
	}
	return out, nil
}

func client(t *testing.T, c *cloud) *launch.Instances {
	t.Helper()
	one, err := launch.NewInstances(c, "demo", &batcher.Options{
		AfterFunc: func(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) }, Idle: 20 * time.Millisecond,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, one.Close(context.Background())) })
	return one
}

func TestGetsAreOneCall(t *testing.T) {
	c := &cloud{}
	for n := range 10 {
		c.all = append(c.all, instance(fmt.Sprintf("i-%d", n)))
	}
	one := client(t, c)
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			id := fmt.Sprintf("i-%d", n)
			r, err := one.Get(t.Context(), id)
			if n < 10 {
				require.NoError(t, err)
				require.Equal(t, id, r.ID)
			} else {
				require.ErrorIs(t, err, cloudprovider.ErrNotFound)
			}
		})
	}
	wg.Wait()
	require.Len(t, c.describes, 1)
	require.Empty(t, c.describes[0].InstanceIds, "one id that is not there would spoil the call")
}

func TestGetAnswersForTheClusterAlone(t *testing.T) {
	c := &cloud{all: []ec2types.Instance{
		instance("i-1", func(i *ec2types.Instance) { i.Tags = tagsOf(map[string]string{"eks:eks-cluster-name": "demo"}) }),
		instance("i-2", func(i *ec2types.Instance) {
			i.Tags = tagsOf(map[string]string{"eks:eks-cluster-name": "x", "karpenter.sh/nodepool": "a", "karpenter.k8s.aws/ec2nodeclass": "b"})
		}),
		instance("i-3", func(i *ec2types.Instance) { i.State.Name = ec2types.InstanceStateNameTerminated }),
	}}
	for _, id := range []string{"i-1", "i-2", "i-3"} {
		_, err := client(t, c).Get(t.Context(), id)
		require.ErrorIs(t, err, cloudprovider.ErrNotFound, id)
	}
}

func TestAFailedGetIsNotNotFound(t *testing.T) {
	c := &cloud{fail: &smithy.GenericAPIError{Code: "RequestLimitExceeded"}}
	_, err := client(t, c).Get(t.Context(), "i-1")
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
}

func TestTenThousandInstancesAreListedPageByPage(t *testing.T) {
	c := &cloud{pageSize: 1000}
	for n := range 10_000 {
		c.all = append(c.all, instance(fmt.Sprintf("i-%d", n)))
	}
	one := client(t, c)
	seen, most := 0, 0
	require.NoError(t, one.Each(t.Context(), launch.Present, func(launch.Record) {
		seen++
		most = max(most, seen-1000*(len(c.describes)-1))
	}))
	require.Equal(t, 10_000, seen)
	require.Len(t, c.describes, 10)
	require.Equal(t, 1000, most, "each page is done with before the next is asked for")
	require.EqualValues(t, 1000, *c.describes[0].MaxResults)
}

func TestEachByState(t *testing.T) {
	c := &cloud{all: []ec2types.Instance{instance("i-1"), instance("i-2", func(i *ec2types.Instance) { i.State.Name = ec2types.InstanceStateNameTerminated })}}
	count := func(s launch.States) (n int) {
		require.NoError(t, client(t, c).Each(t.Context(), s, func(launch.Record) { n++ }))
		return n
	}
	require.Equal(t, 1, count(launch.Present))
	require.Equal(t, 2, count(launch.Remembered))
	c.fail = &smithy.GenericAPIError{Code: "UnauthorizedOperation"}
	require.ErrorIs(t, client(t, c).Each(t.Context(), launch.Present, func(launch.Record) {}), cloudprovider.ErrDenied)
}

func TestTerminationsAreOneCall(t *testing.T) {
	c := &cloud{all: []ec2types.Instance{instance("i-1"), instance("i-2"), instance("i-3")}}
	one := client(t, c)
	var wg sync.WaitGroup
	for _, id := range []string{"i-1", "i-2", "i-3", "i-1"} {
		wg.Go(func() { require.NoError(t, one.Terminate(t.Context(), id)) })
	}
	wg.Wait()
	require.Equal(t, [][]string{{"i-1", "i-2", "i-3"}}, c.ends)
}

func TestAnUnknownInstanceDoesNotSpoilTheOthers(t *testing.T) {
	c := &cloud{all: []ec2types.Instance{instance("i-1"), instance("i-2")}}
	one := client(t, c)
	var wg sync.WaitGroup
	for _, id := range []string{"i-1", "i-2", "i-9"} {
		wg.Go(func() {
			err := one.Terminate(t.Context(), id)
			if id == "i-9" {
				require.ErrorIs(t, err, cloudprovider.ErrNotFound)
			} else {
				require.NoError(t, err)
			}
		})
	}
	wg.Wait()
	c.fail = &smithy.GenericAPIError{Code: "RequestLimitExceeded"}
	require.ErrorIs(t, one.Terminate(t.Context(), "i-1"), cloudprovider.ErrThrottled)
}

// Terminating is what EC2 allows few calls of.
func TestOneUnknownInstanceAmongManyTakesFewCalls(t *testing.T) {
	c := &cloud{}
	for n := range 256 {
		c.all = append(c.all, instance(fmt.Sprintf("i-%03x", n)))
	}
	c.all = slices.Delete(c.all, 100, 101)
	one, err := launch.NewInstances(c, "demo", &batcher.Options{
		AfterFunc: func(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) },
		Idle:      time.Hour, MaxItems: 256,
	})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for n := range 256 {
		wg.Go(func() {
			err := one.Terminate(t.Context(), fmt.Sprintf("i-%03x", n))
			require.Equal(t, n == 100, err != nil, "%d: %v", n, err)
		})
	}
	wg.Wait()
	require.Len(t, c.ends, 17, "the whole, and two halves of each part that it is in")
}
