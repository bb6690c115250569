package aws_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// An answer may leave out by which override an instance was launched. Its ID, of
// which the zone is a part, must be right all the same.
func TestAnAnswerThatDoesNotSayWhere(t *testing.T) {
	bare := hooked(func(_ int, _ *ec2.CreateFleetInput, call func() (*ec2.CreateFleetOutput, error)) (*ec2.CreateFleetOutput, error) {
		out, err := call()
		if err == nil {
			for i := range out.Instances {
				out.Instances[i].LaunchTemplateAndOverrides, out.Instances[i].InstanceType = nil, ""
			}
		}
		return out, err
	})
	t.Run("listed", func(t *testing.T) {
		s := newScene(t, bare)
		i := s.create("one", large)
		require.Equal(t, s.cloud.Instances()[0].ProviderID(), i.ID)
		require.Equal(t, "m5.large", i.Type)
		require.NotEmpty(t, i.ImageID)
		require.NotEmpty(t, i.Labels["topology.kubernetes.io/zone"])
	})
	t.Run("not listed yet", func(t *testing.T) {
		s := newScene(t, bare, func(s *scene) { s.world.Lag = 8 * time.Second })
		_ = s.request("", large)
		s.cloud.Advance(time.Minute) // EC2 knows the instance profile
		req := s.request("one", large)
		_, err := s.p.Create(t.Context(), req)
		require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err), "%v", err)
		require.ErrorContains(t, err, "repeat with the same token")
		s.cloud.Advance(10 * time.Second)
		i, err := s.p.Create(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, s.cloud.Instances()[0].ProviderID(), i.ID)
		require.Equal(t, 1, s.cloud.Running())
	})
}

// trials keeps the dry runs of RunInstances.
type trials struct {
	aws.EC2API
	mu  sync.Mutex
	all []*ec2.RunInstancesInput
}

func (t *trials) RunInstances(ctx context.Context, in *ec2.RunInstancesInput, opts ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error) {
	t.mu.Lock()
	t.all = append(t.all, in)
	t.mu.Unlock()
	return t.EC2API.RunInstances(ctx, in, opts...)
}

// A policy of the account may forbid instances with public addresses.
func TestADryRunAsksForTheAddressThatALaunchAsksFor(t *testing.T) {
	for _, public := range []*bool{nil, ptr(false), ptr(true)} {
		seen := &trials{}
		s := newScene(t, func(s *scene) {
			s.class.Spec.AssociatePublicIPAddress = public
			s.wrap = func(c aws.Clients) aws.Clients {
				seen.EC2API, c.EC2 = c.EC2, seen
				return c
			}
		})
		require.NoError(t, s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef))
		require.NotEmpty(t, seen.all)
		require.Equal(t, public, seen.all[0].NetworkInterfaces[0].AssociatePublicIpAddress)
	}
}

// A dry run that fails is not repeated by everybody who waits for it.
func TestADryRunThatFailsIsNotRepeatedByAll(t *testing.T) {
	s := newScene(t)
	s.script(awstest.Fault{Op: "RunInstances", Err: awstest.ErrBroken})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			err := s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef)
			require.Error(t, err)
		})
	}
	wg.Wait()
	once := s.cloud.Count("RunInstances")
	require.LessOrEqual(t, once, 40, "subnets and attempts of one dry run")
	s.cloud.ClearScript()
	s.pass(10 * time.Second)
	require.NoError(t, s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef))
}

// What is left of a reservation is known each minute, so one that was full is not
// left alone for long.
func TestAReservationThatWasFullIsTriedSoon(t *testing.T) {
	const id = "cr-0123456789abcdef0"
	s := newScene(t, func(s *scene) {
		s.world.Reservations = []ec2types.CapacityReservation{{
			CapacityReservationId: ptr(id), InstanceType: ptr("m5.large"), AvailabilityZone: ptr("us-east-1a"), TotalInstanceCount: ptr(int32(2)),
		}}
		s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: id}}
	})
	reserved := func(o cloudprovider.LaunchOption) bool { return o.Offering.CapacityType == "reserved" }
	_ = s.request("", nil)
	s.cloud.Advance(time.Second)
	req := s.request("one", reserved)
	for range 4 {
		s.refuse(cloudprovider.Scope{ReservationID: id}, "ReservationCapacityExceeded")
		_, err := s.p.Create(t.Context(), req)
		require.Equal(t, "ReservationCapacityExceeded", reason(err), "however often it was full")
		s.cloud.ClearScript()
		_, err = s.p.Create(t.Context(), req)
		require.Equal(t, "RefusedLately", reason(err))
		s.pass(61 * time.Second) // reads what is left
	}
	i, err := s.p.Create(t.Context(), s.request("one", reserved))
	require.NoError(t, err)
	require.Equal(t, id, i.ReservationID)
}

// refuse has fleets refused a scope, until the script is cleared.
func (s *scene) refuse(scope cloudprovider.Scope, code string) {
	require.NoError(s, s.cloud.Script(awstest.Fault{Op: "CreateFleet", Err: awstest.Refusal{Scope: scope, Code: code}}))
}

// An account has quotas of spot instances by kinds of families; that of GPUs is zero
// unless somebody has asked for more. That must not cost all others their spot capacity.
func TestTheQuotaOfSpotGPUsLeavesOtherSpotAlone(t *testing.T) {
	s := newScene(t)
	spotOf := func(name string) func(cloudprovider.LaunchOption) bool {
		return func(o cloudprovider.LaunchOption) bool {
			return o.Offering.CapacityType == "spot" && o.InstanceType.Name == name
		}
	}
	s.refuse(cloudprovider.Scope{InstanceType: "g4dn.xlarge"}, "MaxSpotInstanceCountExceeded")
	req := s.request("gpu", spotOf("g4dn.xlarge"))
	_, err := s.p.Create(t.Context(), req)
	require.Equal(t, "MaxSpotInstanceCountExceeded", reason(err))
	_, err = s.p.Create(t.Context(), req)
	require.Equal(t, "RefusedLately", reason(err))
	require.Equal(t, "spot", s.create("web", spotOf("m5.large")).CapacityType)
}

// That something is not supported may be for what one class asks for. The others
// must not do without the offering for long.
func TestWhatIsNotSupportedIsLeftAloneForLongerEachTime(t *testing.T) {
	s := newScene(t)
	req := s.request("one", large)
	s.refuse(cloudprovider.Scope{InstanceType: "m5.large"}, "Unsupported")
	for _, wait := range []time.Duration{3 * time.Minute, 6 * time.Minute, 12 * time.Minute, 24 * time.Minute, 30 * time.Minute, 30 * time.Minute} {
		_, err := s.p.Create(t.Context(), req)
		require.Equal(t, "Unsupported", reason(err))
		s.cloud.Advance(wait - time.Second)
		_, err = s.p.Create(t.Context(), req)
		require.Equal(t, "RefusedLately", reason(err), "%v", wait)
		s.cloud.Advance(time.Second)
	}
}

// A subnet that is full does not take its zone out while another one has addresses.
func TestASubnetThatIsFullIsReplacedByAnotherOfItsZone(t *testing.T) {
	s := newScene(t)
	first := s.cloud.Options().Subnets[0]
	second := first
	second.SubnetId, second.CidrBlock = ptr("subnet-00000000000000fff"), ptr("10.99.0.0/24")
	s = newScene(t, func(other *scene) { other.world.Subnets = append(s.cloud.Options().Subnets, second) })
	zone := *first.AvailabilityZone
	s.cloud.SetAddresses(*second.SubnetId, 50)
	s.cloud.SetAddresses(*first.SubnetId, 100)
	inZone := func(o cloudprovider.LaunchOption) bool { return large(o) && o.Offering.Zone == zone }
	req := s.request("one", inZone)
	s.cloud.SetAddresses(*first.SubnetId, 0) // which is not known yet
	_, err := s.p.Create(t.Context(), req)
	require.Equal(t, "InsufficientFreeAddressesInSubnet", reason(err))
	_, err = s.p.Create(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, *second.SubnetId, s.cloud.Instances()[0].SubnetID)
}

// Another controller may take an instance profile for garbage. It is made again, and
// launches go on.
func TestAnInstanceProfileThatSomebodyDeletedIsMadeAgain(t *testing.T) {
	s := newScene(t)
	first := s.create("one", large)
	profile := s.cloud.InstanceProfiles()[0]
	iamClient := clients(s.config).IAM
	_, err := iamClient.RemoveRoleFromInstanceProfile(t.Context(), &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &profile.Name, RoleName: ptr("KarpenterNodeRole-demo")})
	require.NoError(t, err)
	_, err = iamClient.DeleteInstanceProfile(t.Context(), &iam.DeleteInstanceProfileInput{InstanceProfileName: &profile.Name})
	require.NoError(t, err)
	req := s.request("two", large)
	_, err = s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	s.cloud.Advance(cloudprovider.RetryAfter(err))
	second, err := s.p.Create(t.Context(), req)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID)
	require.Equal(t, profile.Name, s.cloud.InstanceProfiles()[0].Name)
}
