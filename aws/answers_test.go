package aws_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// An answer may leave out by which override an instance was launched. Its ID, of
// which the zone is a part, must be right all the same.
func TestAnAnswerThatDoesNotSayWhere(t *testing.T) {
	bare := hooked(func(_ int, _ *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
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
		i := s.launch(req)
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
	for _, public := range []*bool{nil, new(false), new(true)} {
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
			CapacityReservationId: new(id), InstanceType: new("m5.large"), AvailabilityZone: new("us-east-1a"), TotalInstanceCount: new(int32(2)),
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
	i := s.launch(s.request("one", reserved))
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

// failing answers calls of CreateFleet for spot with an internal error while it is set: for
// every override, or for the call as a whole.
type failing struct {
	overrides, call atomic.Bool
	spot            atomic.Int32 // calls for spot
}

func (f *failing) hook() func(*scene) {
	return hooked(func(_ int, in *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
		if in.TargetCapacitySpecification.DefaultTargetCapacityType != ec2types.DefaultTargetCapacityTypeSpot {
			return call()
		}
		f.spot.Add(1)
		switch {
		case f.call.Load():
			return nil, &smithy.GenericAPIError{Code: "InternalError", Message: "An internal error has occurred"}
		case f.overrides.Load():
			return &ec2.CreateFleetOutput{Errors: []ec2types.CreateFleetError{{ErrorCode: new("InternalError"), ErrorMessage: new("An internal error has occurred")}}}, nil
		}
		return call()
	})
}

// An internal error says nothing of stock. One that lasts leads to another capacity type all
// the same, and for a short time.
func TestAnInternalErrorThatLastsLeadsToAnotherCapacityType(t *testing.T) {
	f := &failing{}
	s := newScene(t, f.hook())
	var warned []string
	s.opts.Warn = func(w aws.Warning) { warned = append(warned, w.Detail) }
	s.p = s.provider()
	either := func(o cloudprovider.LaunchOption) bool {
		return o.InstanceType.Name == "m5.large" && o.Offering.CapacityType != "reserved"
	}
	req := s.request("one", either)
	f.overrides.Store(true)
	for range 3 {
		_, err := s.p.Create(t.Context(), req)
		require.Equal(t, "InternalError", reason(err))
	}
	i := s.launch(req)
	require.Equal(t, "on-demand", i.CapacityType)
	require.EqualValues(t, 3, f.spot.Load())
	require.Contains(t, warned, "EC2 keeps failing with an internal error: capacity-type=spot unavailable until "+
		s.cloud.Now().Add(2*time.Minute).UTC().Format(time.RFC3339)+": InternalError")
	for _, o := range s.request("two", either).Options {
		require.NotEqual(t, "spot", o.Offering.CapacityType, "no plan counts on it")
	}

	// After that one failure is enough, and one launch makes good for all.
	s.cloud.Advance(2 * time.Minute)
	two := s.request("two", either)
	_, err := s.p.Create(t.Context(), two)
	require.Equal(t, "InternalError", reason(err))
	i = s.launch(two)
	require.Equal(t, "on-demand", i.CapacityType)
	s.cloud.Advance(2 * time.Minute)
	f.overrides.Store(false)
	require.Equal(t, "spot", s.create("three", either).CapacityType)
	f.overrides.Store(true)
	four := s.request("four", either)
	for range 2 {
		_, err = s.p.Create(t.Context(), four)
		require.Equal(t, "InternalError", reason(err))
	}
	_, marked := s.p.Availability().Unavailable(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: "spot"})
	require.False(t, marked)
}

// Of a call that fails as a whole it is not known whether it has launched something, so it is
// repeated as it is. Calls for other tokens learn from it.
func TestAnInternalErrorOfWholeCallsLeadsToAnotherCapacityType(t *testing.T) {
	f := &failing{}
	s := newScene(t, f.hook())
	either := func(o cloudprovider.LaunchOption) bool {
		return o.InstanceType.Name == "m5.large" && o.Offering.CapacityType != "reserved"
	}
	_ = s.request("one", either)
	f.call.Store(true)
	for _, token := range []string{"one", "two", "three"} {
		req := s.request(token, either)
		for range 3 {
			_, err := s.p.Create(t.Context(), req)
			require.ErrorContains(t, err, "repeat with the same token", token)
		}
	}
	require.Equal(t, "on-demand", s.create("four", either).CapacityType)
}

// Racks of a partition placement group run out one by one.
func TestNoStockInOnePartitionClosesThatPartitionOnly(t *testing.T) {
	full := map[int32]bool{}
	s := newScene(t, func(s *scene) {
		s.world.PlacementGroups = []ec2types.PlacementGroup{{GroupId: new("pg-0123456789abcdef0"), GroupName: new("parts"),
			Strategy: ec2types.PlacementStrategyPartition, PartitionCount: new(int32(3)), State: "available"}}
		s.class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("parts")}
	})
	partitions := map[string]int32{} // by launch template
	s.wrap = func(c aws.Clients) aws.Clients {
		c.EC2 = &placed{c.EC2, partitions}
		hooked(func(_ int, in *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
			config := in.LaunchTemplateConfigs[0]
			if full[partitions[*config.LaunchTemplateSpecification.LaunchTemplateName]] {
				o := config.Overrides[0]
				return &ec2.CreateFleetOutput{Errors: []ec2types.CreateFleetError{{
					ErrorCode: new("InsufficientInstanceCapacity"), ErrorMessage: new("no capacity"),
					LaunchTemplateAndOverrides: &ec2types.LaunchTemplateAndOverridesResponse{
						Overrides: &ec2types.FleetLaunchTemplateOverrides{InstanceType: o.InstanceType, SubnetId: o.SubnetId, AvailabilityZone: o.AvailabilityZone},
					},
				}}}, nil
			}
			return call()
		})(s)
		return s.wrap(c)
	}
	s.p = s.provider()
	inA := func(o cloudprovider.LaunchOption) bool { return large(o) && o.Offering.Zone == "us-east-1a" }
	in := func(token string, allowed ...string) cloudprovider.LaunchRequest {
		req := s.request(token, inA)
		req.Requirements = req.Requirements.With(requirements.In(awsv1.LabelPlacementGroupPartition, allowed...))
		return req
	}
	full[1] = true
	_, err := s.p.Create(t.Context(), in("one", "1"))
	require.Equal(t, "InsufficientInstanceCapacity", reason(err))
	_, err = s.p.Create(t.Context(), in("one", "1"))
	require.Equal(t, "RefusedLately", reason(err))
	i := s.launch(in("two", "1", "2"))
	require.Equal(t, "2", i.Labels[awsv1.LabelPlacementGroupPartition], "the one that is open")
	s.create("three", inA) // EC2 chooses the partition
	_, marked := s.p.Availability().Unavailable(i.OfferingKey())
	require.False(t, marked)

	// Plans see a type without a partition when nothing of it is left there, and not before.
	labels := func() string {
		r, _ := s.request("", large).Options[0].InstanceType.Requirements.Get(awsv1.LabelPlacementGroupPartition)
		return r.String()
	}
	require.Contains(t, labels(), "in (1, 2, 3)")
	all := s.request("", func(o cloudprovider.LaunchOption) bool { return o.InstanceType.Name == "m5.large" })
	for n := range int32(3) {
		full[n+1] = true
		req := all
		req.Token = fmt.Sprint("all-", n+1)
		req.Requirements = req.Requirements.With(requirements.In(awsv1.LabelPlacementGroupPartition, fmt.Sprint(n+1)))
		for err = nil; reason(err) != "RefusedLately"; {
			_, err = s.p.Create(t.Context(), req)
			require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
		}
		if n == 0 {
			require.Contains(t, labels(), "in (2, 3)")
		}
	}
	types := s.types()
	for _, it := range types {
		require.NoError(t, it.Validate())
		for _, o := range it.Offerings {
			require.False(t, it.Name == "m5.large" && o.Available, "%v", o.Key(it.Name))
		}
	}
}

// placed notes the partition of each launch template that is made.
type placed struct {
	aws.EC2API
	partitions map[string]int32
}

func (t *placed) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, opts ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	if p := in.LaunchTemplateData.Placement; p != nil && p.PartitionNumber != nil {
		t.partitions[*in.LaunchTemplateName] = *p.PartitionNumber
	}
	return t.EC2API.CreateLaunchTemplate(ctx, in, opts...)
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
	second.SubnetId, second.CidrBlock = new("subnet-00000000000000fff"), new("10.99.0.0/24")
	s = newScene(t, func(other *scene) { other.world.Subnets = append(s.cloud.Options().Subnets, second) })
	zone := *first.AvailabilityZone
	s.cloud.SetAddresses(*second.SubnetId, 50)
	s.cloud.SetAddresses(*first.SubnetId, 100)
	inZone := func(o cloudprovider.LaunchOption) bool { return large(o) && o.Offering.Zone == zone }
	req := s.request("one", inZone)
	s.cloud.SetAddresses(*first.SubnetId, 0) // which is not known yet
	_, err := s.p.Create(t.Context(), req)
	require.Equal(t, "InsufficientFreeAddressesInSubnet", reason(err))
	s.launch(req)
	require.Equal(t, *second.SubnetId, s.cloud.Instances()[0].SubnetID)
}

// Another controller may take an instance profile for garbage. It is made again, and
// launches go on.
func TestAnInstanceProfileThatSomebodyDeletedIsMadeAgain(t *testing.T) {
	s := newScene(t)
	first := s.create("one", large)
	profile := s.cloud.InstanceProfiles()[0]
	iamClient := clients(s.config).IAM
	_, err := iamClient.RemoveRoleFromInstanceProfile(t.Context(), &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &profile.Name, RoleName: new("KarpenterNodeRole-demo")})
	require.NoError(t, err)
	_, err = iamClient.DeleteInstanceProfile(t.Context(), &iam.DeleteInstanceProfileInput{InstanceProfileName: &profile.Name})
	require.NoError(t, err)
	req := s.request("two", large)
	_, err = s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	s.cloud.Advance(cloudprovider.RetryAfter(err))
	second := s.launch(req)
	require.NotEqual(t, first.ID, second.ID)
	require.Equal(t, profile.Name, s.cloud.InstanceProfiles()[0].Name)
}
