package awstest_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestFleetLaunchesTheCheapest(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	out := launch(t, s, fleet(2, false, "m5.large", "c5.large", "r5.large"))
	require.Len(t, launched(out), 2)
	require.Len(t, out.Instances, 1)
	i := out.Instances[0]
	require.Equal(t, ec2types.InstanceType("c5.large"), i.InstanceType)
	require.Equal(t, "us-east-1a", *i.LaunchTemplateAndOverrides.Overrides.AvailabilityZone)
	require.Equal(t, "web", s.LaunchTemplates()[0].Name)
	require.Equal(t, "hello", s.LaunchTemplates()[0].UserData)
	require.Equal(t, *i.LaunchTemplateAndOverrides.LaunchTemplateSpecification.LaunchTemplateId, s.LaunchTemplates()[0].ID)
	require.Empty(t, out.Errors)
	require.Equal(t, 2, s.Running())

	described, err := client(s).DescribeInstances(background, &ec2.DescribeInstancesInput{InstanceIds: launched(out)})
	require.NoError(t, err)
	require.Len(t, described.Reservations, 2)
	d := described.Reservations[0].Instances[0]
	require.Equal(t, ec2types.InstanceStateNameRunning, d.State.Name)
	require.Equal(t, s.Now(), *d.LaunchTime)
	require.Equal(t, "us-east-1a", *d.Placement.AvailabilityZone)
	require.Equal(t, "subnet-000000000000000a0", *d.SubnetId)
	require.Equal(t, "sg-0000000000000000a", *d.SecurityGroups[0].GroupId)
	require.Equal(t, ec2types.ArchitectureValuesX8664, d.Architecture)
	require.Contains(t, d.Tags, ec2types.Tag{Key: new("karpenter.sh/nodepool"), Value: new("general")})
	require.Equal(t, "10.0.0.4", *d.PrivateIpAddress)
	require.Len(t, d.NetworkInterfaces, 1)
}

// Sixty types in six zones are more than the 300 overrides that EC2 allows fleets of
// other types.
func TestFleetTakesManyOverrides(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	in := fleet(1, false, "m5.large")
	one := in.LaunchTemplateConfigs[0].Overrides[0]
	for range 359 {
		in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, one)
	}
	require.Len(t, launched(launch(t, s, in)), 1)
}

func TestFleetByPriority(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	in := fleet(1, false, "m5.large", "c5.large")
	in.OnDemandOptions = &ec2types.OnDemandOptionsRequest{AllocationStrategy: ec2types.FleetOnDemandAllocationStrategyPrioritized}
	in.LaunchTemplateConfigs[0].Overrides[0].Priority = new(1.5)
	in.LaunchTemplateConfigs[0].Overrides[1].Priority = new(2.5)
	require.Equal(t, ec2types.InstanceType("m5.large"), launch(t, s, in).Instances[0].InstanceType)
	in.ClientToken = nil
	in.OnDemandOptions.AllocationStrategy = "best"
	_, err := client(s).CreateFleet(background, in)
	require.Equal(t, "InvalidParameterValue", code(err))
}

func TestFleetTokenIsIdempotent(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	in := fleet(3, true, "m5.large")
	in.ClientToken = new("claim-1")
	first := launched(launch(t, s, in))
	require.Equal(t, first, launched(launch(t, s, in)))
	require.Len(t, s.Instances(), 3)

	in.TargetCapacitySpecification.TotalTargetCapacity = new(int32(4))
	_, err := client(s).CreateFleet(background, in)
	require.Equal(t, "IdempotentParameterMismatch", code(err))

	in = fleet(1, true, "m5.large")
	in.ClientToken = new("claim-2")
	s.SetStock(cloudprovider.Scope{}, 0)
	require.Len(t, launch(t, s, in).Errors, 1)
	s.SetStock(cloudprovider.Scope{}, -1)
	require.Len(t, launch(t, s, in).Errors, 1, "a token remembers a failure too")
}

// Half a fleet: what is in stock is launched, and the rest is listed as errors.
func TestPartialFleet(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	s.SetStock(cloudprovider.Scope{InstanceType: "c5.large"}, 2)
	s.SetStock(cloudprovider.Scope{InstanceType: "m5.large", CapacityType: "on-demand"}, 1)
	out := launch(t, s, fleet(5, false, "m5.large", "c5.large"))
	require.Len(t, launched(out), 3)
	require.Equal(t, []string{"c5.large InsufficientInstanceCapacity", "m5.large InsufficientInstanceCapacity"}, refused(out))

	_, err := client(s).TerminateInstances(background, &ec2.TerminateInstancesInput{InstanceIds: launched(out)})
	require.NoError(t, err)
	require.Len(t, launched(launch(t, s, fleet(5, false, "m5.large", "c5.large"))), 3, "what terminated is in stock again")
}

func TestRefusals(t *testing.T) {
	types := []ec2types.InstanceType{"m5.large"}
	for _, c := range []struct {
		name string
		opts *awstest.Options
		edit func(*awstest.Server)
		data func(*ec2types.RequestLaunchTemplateData)
		spot bool
		it   ec2types.InstanceType
		want string
	}{
		{name: "scripted", want: "UnfulfillableCapacity", edit: func(s *awstest.Server) {
			require.NoError(t, s.Script(awstest.Fault{Op: "CreateFleet", Err: awstest.Refusal{Scope: cloudprovider.Scope{Zone: "us-east-1a"}, Code: "UnfulfillableCapacity"}}))
		}},
		{name: "scripted once", want: "InternalError", edit: func(s *awstest.Server) {
			require.NoError(t, s.Script(awstest.Fault{Op: "CreateFleet", Nth: 1, Err: awstest.Refusal{Scope: cloudprovider.Scope{}, Code: "InternalError"}}))
		}},
		{name: "no addresses", want: "InsufficientFreeAddressesInSubnet", edit: func(s *awstest.Server) { s.SetAddresses("subnet-000000000000000a0", 0) }},
		{name: "quota", want: "VcpuLimitExceeded", opts: &awstest.Options{OnDemandVCPUs: 1}},
		{name: "spot quota", want: "MaxSpotInstanceCountExceeded", opts: &awstest.Options{SpotVCPUs: 1}, spot: true},
		{name: "no role for spot", want: "AuthFailure.ServiceLinkedRoleCreationNotPermitted", opts: &awstest.Options{NoSpotRole: true}, spot: true},
		{name: "not in the zone", want: "Unsupported", opts: &awstest.Options{TypeZones: map[string][]string{"m5.large": {"us-east-1b"}}}},
		{name: "image of another kind", want: "InvalidParameterValue", it: "m6g.large"},
		{name: "unknown type", want: "InvalidParameterValue", it: "m5.tiny"},
		{name: "unknown image", want: "InvalidAMIID.NotFound", data: func(d *ec2types.RequestLaunchTemplateData) { d.ImageId = new("ami-0") }},
		{name: "unknown profile", want: "InvalidParameterValue", data: func(d *ec2types.RequestLaunchTemplateData) {
			d.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: new("nobody")}
		}},
		{name: "unknown group", want: "InvalidGroup.NotFound", data: func(d *ec2types.RequestLaunchTemplateData) { d.NetworkInterfaces[0].Groups = []string{"sg-0"} }},
		{name: "group of another network", want: "InvalidParameter", opts: &awstest.Options{SecurityGroups: []ec2types.SecurityGroup{
			{GroupId: new("sg-0000000000000000a"), VpcId: new("vpc-0")}}}},
		{name: "unknown reservation", want: "InvalidCapacityReservationId.NotFound", data: reserve("cr-0")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.opts)
			if c.edit != nil {
				c.edit(s)
			}
			template(t, s, "web", func(d *ec2types.RequestLaunchTemplateData) {
				if c.data != nil {
					c.data(d)
				}
			})
			if c.it != "" {
				types = []ec2types.InstanceType{c.it}
			} else {
				types = []ec2types.InstanceType{"m5.large"}
			}
			out := launch(t, s, fleet(1, c.spot, types...))
			require.Empty(t, launched(out))
			require.Equal(t, []string{string(types[0]) + " " + c.want}, refused(out))
			require.NotEmpty(t, *out.Errors[0].ErrorMessage)
		})
	}
}

func reserve(id string) func(*ec2types.RequestLaunchTemplateData) {
	return func(d *ec2types.RequestLaunchTemplateData) {
		d.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: ec2types.CapacityReservationPreferenceCapacityReservationsOnly,
			CapacityReservationTarget:     &ec2types.CapacityReservationTarget{CapacityReservationId: &id},
		}
	}
}

func TestReservation(t *testing.T) {
	s := start(t, nil)
	s.SetReservation(ec2types.CapacityReservation{CapacityReservationId: new("cr-0123456789abcdef0"), InstanceType: new("m5.large"),
		AvailabilityZone: new("us-east-1a"), TotalInstanceCount: new(int32(2)), EndDate: new(s.Now().Add(time.Hour))})
	template(t, s, "web", reserve("cr-0123456789abcdef0"))
	out := launch(t, s, fleet(3, false, "m5.large"))
	require.Len(t, launched(out), 2)
	require.Equal(t, []string{"m5.large ReservationCapacityExceeded"}, refused(out))

	list, err := client(s).DescribeCapacityReservations(background, &ec2.DescribeCapacityReservationsInput{
		Filters: []ec2types.Filter{{Name: new("state"), Values: []string{"active"}}}, CapacityReservationIds: []string{"cr-0123456789abcdef0"}})
	require.NoError(t, err)
	require.Equal(t, int32(0), *list.CapacityReservations[0].AvailableInstanceCount)
	require.Equal(t, s.Now().Add(time.Hour), *list.CapacityReservations[0].EndDate)
	require.Equal(t, "use1-az1", *list.CapacityReservations[0].AvailabilityZoneId)

	d, err := client(s).DescribeInstances(background, &ec2.DescribeInstancesInput{InstanceIds: launched(out)[:1]})
	require.NoError(t, err)
	i := d.Reservations[0].Instances[0]
	require.Equal(t, "cr-0123456789abcdef0", *i.CapacityReservationId)
	require.Equal(t, ec2types.CapacityReservationPreferenceCapacityReservationsOnly, i.CapacityReservationSpecification.CapacityReservationPreference)
	require.NoError(t, s.Terminate(launched(out)[0]))
	list, err = client(s).DescribeCapacityReservations(background, &ec2.DescribeCapacityReservationsInput{})
	require.NoError(t, err)
	require.Equal(t, int32(1), *list.CapacityReservations[0].AvailableInstanceCount)
	_, err = client(s).DescribeCapacityReservations(background, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{"cr-0"}})
	require.Equal(t, "InvalidCapacityReservationId.NotFound", code(err))
}

func TestFleetChecksItsRequest(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	for _, c := range []struct {
		edit func(*ec2.CreateFleetInput)
		want string
	}{
		{func(in *ec2.CreateFleetInput) { in.Type = ec2types.FleetTypeMaintain }, "InvalidParameterValue"},
		{func(in *ec2.CreateFleetInput) { in.TargetCapacitySpecification.TotalTargetCapacity = new(int32(0)) }, "InvalidTargetCapacitySpecification"},
		{func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs = []ec2types.FleetLaunchTemplateConfigRequest{}
		}, "MissingParameter"},
		{func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName = new("other")
		}, "InvalidLaunchTemplateName.NotFoundException"},
		{func(in *ec2.CreateFleetInput) { in.DryRun = new(true) }, "DryRunOperation"},
	} {
		in := fleet(1, false, "m5.large")
		c.edit(in)
		_, err := once(s).CreateFleet(background, in)
		require.Equal(t, c.want, code(err))
	}
	require.Empty(t, s.Instances())
	calls := s.Calls()
	require.Equal(t, awstest.Call{Service: "ec2", Action: "CreateFleet", At: s.Now(), DryRun: true, Code: "DryRunOperation", Objects: 1,
		Tags: map[string]map[string]string{"instance": {"karpenter.sh/nodepool": "general"}}}, calls[len(calls)-1])
}
