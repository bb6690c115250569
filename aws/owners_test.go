package aws_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// partial is an EC2 that does not list one of the instances yet.
type partial struct {
	aws.EC2API
	hidden *atomic.Value // its ID
}

func (p partial) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, opts ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	out, err := p.EC2API.DescribeInstances(ctx, in, opts...)
	if err == nil {
		for i := range out.Reservations {
			r := &out.Reservations[i]
			r.Instances = slices.DeleteFunc(r.Instances, func(i ec2types.Instance) bool { return *i.InstanceId == p.hidden.Load() })
		}
	}
	return out, err
}

// A process ends right after it has launched a dozen, and the next one begins while
// EC2 lists all but one of them. Which of those is whose is not to be guessed: one
// may be on record as that of another request.
func TestABatchThatIsListedInPartIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var hidden atomic.Value
		hidden.Store("")
		s := newScene(t, func(s *scene) {
			s.opts.Batch.Idle, s.opts.Batch.Max = 200*time.Millisecond, time.Second
			s.wrap = func(c aws.Clients) aws.Clients {
				c.EC2 = partial{c.EC2, &hidden}
				return c
			}
		})
		launched := s.launchAll(tokens(12), large)
		hidden.Store(s.cloud.Instances()[0].ID)
		s.cloud.Advance(5 * time.Second)

		s.p = s.provider()
		got, errs := s.createAll(tokens(12), large)
		require.Empty(t, got)
		for _, err := range errs {
			require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err), "%v", err)
			require.Equal(t, 25*time.Second, cloudprovider.RetryAfter(err))
			require.ErrorContains(t, err, "repeat with the same token")
		}
		require.Equal(t, 12, s.cloud.Running(), "nothing more was launched")

		hidden.Store("")
		s.cloud.Advance(25 * time.Second)
		got = s.launchAll(tokens(12), large)
		require.Equal(t, 12, s.cloud.Running())
		requireSame(t, launched, got)
	})
}

// A batch may be smaller than was asked for. After a moment that is certain.
func TestABatchThatIsSmallerIsNotWaitedForLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(s *scene) { s.opts.Batch.Idle, s.opts.Batch.Max = 200*time.Millisecond, time.Second })
		s.cloud.SetStock(cloudprovider.Scope{InstanceType: "m5.large"}, 11)
		launched, errs := s.createAll(tokens(12), large)
		require.Len(t, launched, 11)
		require.Len(t, errs, 1)
		s.cloud.SetStock(cloudprovider.Scope{InstanceType: "m5.large"}, -1)
		s.cloud.Advance(30 * time.Second)
		s.p = s.provider()
		got, errs := s.createAll(tokens(12), large)
		require.Len(t, got, 11, "what is there is known at once")
		require.Len(t, errs, 1)
		require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(errs[0]), "%v", errs[0])
		require.Equal(t, time.Minute, cloudprovider.RetryAfter(errs[0]))
		s.cloud.Advance(time.Minute)
		got = s.launchAll(tokens(12), large)
		require.Equal(t, 12, s.cloud.Running())
		requireSame(t, launched, got)
	})
}

// However long ago it was, and whatever the clock says: who has launched what is in
// the tags.
func TestABatchThatIsAllThereIsKnownForever(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(s *scene) { s.opts.Batch.Idle, s.opts.Batch.Max = 200*time.Millisecond, time.Second })
		launched := s.launchAll(tokens(12), large)
		for range 3 {
			s.cloud.Advance(20 * time.Hour)
			s.p = s.provider()
			got := s.launchAll(tokens(12)[1:], large)
			require.Equal(t, 12, s.cloud.Running(), "nothing more was launched")
			requireSame(t, got, launched)
		}
		list, err := s.p.List(t.Context())
		require.NoError(t, err)
		for _, i := range list {
			require.NotEmpty(t, i.Name)
		}
	})
}
