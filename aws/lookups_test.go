package aws_test

import (
	"context"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// ways are how an API fails.
var ways = map[string]error{
	"500": awstest.ErrBroken, "403": awstest.ErrDenied, "hangs": awstest.ErrHang, "cut": awstest.ErrCut,
}

// lookups are the calls by which a provider gets to know what it remembers.
var lookups = []string{
	"GetProducts", "DescribeSpotPriceHistory", "GetParameter", "DescribeImages", "DescribeSubnets", "DescribeSecurityGroups",
	"DescribeCapacityReservations", "DescribePlacementGroups", "DescribeInstanceTypes", "DescribeInstanceTypeOfferings",
	"DescribeCluster", "GetManagedResource",
}

// patient returns a deadline that is only reached by what waits for something that never
// comes.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// However an API fails, what it said before holds, and nobody waits for it.
func TestALookUpThatFailsHoldsUpNobody(t *testing.T) {
	for way, fail := range ways {
		inBubble(t, way, func(t *testing.T) {
			s := newScene(t, func(s *scene) {
				s.world.Types = some("c5.large", "g4dn.xlarge", "m5.large", "m6g.large")
				s.world.Reservations = []ec2types.CapacityReservation{{
					CapacityReservationId: new("cr-0123456789abcdef0"), InstanceType: new("m5.large"), AvailabilityZone: new("us-east-1a"), TotalInstanceCount: new(int32(2)),
				}}
				s.world.PlacementGroups = []ec2types.PlacementGroup{{
					GroupId: new("pg-1"), GroupName: new("spread"), Strategy: ec2types.PlacementStrategySpread, State: ec2types.PlacementGroupStateAvailable,
				}}
				s.class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("spread")}
				s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-0123456789abcdef0"}}
			})
			first, err := s.p.InstanceTypes(patient(t), nodePool())
			require.NoError(t, err)
			for _, action := range lookups {
				require.NoError(t, s.cloud.Script(awstest.Fault{Op: action, Err: fail}))
				s.cloud.Advance(13 * time.Hour)
				s.cloud.ForgetCalls()
				for range 5 {
					types, err := s.p.InstanceTypes(patient(t), nodePool())
					require.NoError(t, err, action)
					require.Len(t, types, len(first), action)
				}
				if way != "hangs" {
					require.Error(t, s.p.Refresh(patient(t)), action)
				}
				_, err := s.p.InstanceTypes(patient(t), nodePool())
				require.NoError(t, err, action)
				s.cloud.ClearScript()
				s.cloud.Release()
				_ = s.p.Refresh(patient(t))
				require.Positive(t, s.cloud.Count(action), action)
				require.LessOrEqual(t, s.cloud.Count(action), 5*3*2, "%s: five questions at most, three times each by the SDK, with a second connection", action)
				s.pass(2 * time.Hour)
			}
			s.create("one", large)
		})
	}
}

// From the start, without any price of AWS: there are those that are compiled in.
func TestNoPricesHoldUpNobody(t *testing.T) {
	for way, fail := range ways {
		inBubble(t, way, func(t *testing.T) {
			s := newScene(t, func(s *scene) {
				cloud, err := awstest.New(&awstest.Options{Clock: time.Date(2027, 1, 2, 15, 4, 5, 0, time.UTC)})
				require.NoError(t, err)
				require.NoError(t, cloud.Script(awstest.Fault{Op: "GetProducts", Err: fail}, awstest.Fault{Op: "DescribeSpotPriceHistory", Err: fail}))
				s.cloud, s.config, s.lazy = cloud, inMemory{cloud}.config(), true
			})
			types, err := s.p.InstanceTypes(patient(t), nodePool())
			require.NoError(t, err)
			require.NotEmpty(t, types)
			i, err := s.p.Create(patient(t), s.request("one", large))
			require.NoError(t, err)
			require.Positive(t, i.Price)
			now, err := s.p.Status(patient(t))
			require.NoError(t, err)
			for _, source := range now.Prices {
				require.Equal(t, source.Prices, source.Stale, "%s: what is compiled in is out of date", source.Name)
			}
			s.cloud.ClearScript()
			s.cloud.Release()
			_ = s.p.Refresh(patient(t))
			s.pass(time.Hour)
			found := false
			for _, o := range s.request("two", large).Options {
				found = found || o.Key() == (cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: "on-demand"})
			}
			require.True(t, found)
			now, err = s.p.Status(patient(t))
			require.NoError(t, err)
			require.Positive(t, now.Prices[0].Prices)
			require.Zero(t, now.Prices[0].Stale, "those of AWS count once it answers")
		})
	}
}

// A provider that is closed leaves nothing behind that is still asking.
func TestCloseEndsWhatIsLookedUp(t *testing.T) {
	s := newScene(t)
	reached, _, err := s.cloud.Hold("DescribeSubnets")
	require.NoError(t, err)
	waiting := make(chan error)
	go func() {
		_, err := s.p.InstanceTypes(t.Context(), nodePool())
		waiting <- err
	}()
	<-reached
	require.NoError(t, s.p.Close(patient(t)))
	require.ErrorContains(t, <-waiting, "after Close")
}
