package awstest_test

import (
	"context"
	"errors"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
)

// start opens a server that is closed at the end of the test.
func start(t testing.TB, opts *awstest.Options) *awstest.Server {
	t.Helper()
	s, err := awstest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func client(s *awstest.Server) *ec2.Client { return ec2.NewFromConfig(s.Config()) }

// code returns the code of an error of AWS.
func code(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

// template makes a launch template.
func template(t testing.TB, s *awstest.Server, name string, edit ...func(*ec2types.RequestLaunchTemplateData)) {
	t.Helper()
	data := &ec2types.RequestLaunchTemplateData{
		ImageId:           new(image(t, s, ec2types.ArchitectureValuesX8664)),
		UserData:          new("aGVsbG8="),
		NetworkInterfaces: []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: new(int32(0)), Groups: []string{"sg-0000000000000000a"}}},
	}
	for _, e := range edit {
		e(data)
	}
	_, err := client(s).CreateLaunchTemplate(context.Background(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: data})
	require.NoError(t, err)
}

// image returns an image of the default ones.
func image(t testing.TB, s *awstest.Server, arch ec2types.ArchitectureValues) string {
	t.Helper()
	out, err := client(s).DescribeImages(context.Background(), &ec2.DescribeImagesInput{
		Filters: []ec2types.Filter{{Name: new("architecture"), Values: []string{string(arch)}}, {Name: new("name"), Values: []string{"*al2023*standard*"}}}})
	require.NoError(t, err)
	require.NotEmpty(t, out.Images)
	return *out.Images[0].ImageId
}

// fleet asks for n machines by template "web", of types in the first subnet.
func fleet(n int, spot bool, types ...ec2types.InstanceType) *ec2.CreateFleetInput {
	in := &ec2.CreateFleetInput{
		Type: ec2types.FleetTypeInstant,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: new(int32(n)), DefaultTargetCapacityType: ec2types.DefaultTargetCapacityTypeOnDemand,
		},
		LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: new("web"), Version: new("$Latest")},
		}},
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeInstance,
			Tags: []ec2types.Tag{{Key: new("karpenter.sh/nodepool"), Value: new("general")}}}},
	}
	if spot {
		in.TargetCapacitySpecification.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeSpot
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized}
	}
	for _, it := range types {
		in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: it, SubnetId: new("subnet-000000000000000a0")})
	}
	return in
}

func launch(t testing.TB, s *awstest.Server, in *ec2.CreateFleetInput) *ec2.CreateFleetOutput {
	t.Helper()
	out, err := client(s).CreateFleet(context.Background(), in)
	require.NoError(t, err)
	return out
}

// launched returns the IDs of all machines of an answer.
func launched(out *ec2.CreateFleetOutput) (ids []string) {
	for _, i := range out.Instances {
		ids = append(ids, i.InstanceIds...)
	}
	return ids
}

// refused returns the types and codes of the errors of an answer.
func refused(out *ec2.CreateFleetOutput) (list []string) {
	for _, e := range out.Errors {
		list = append(list, string(e.LaunchTemplateAndOverrides.Overrides.InstanceType)+" "+*e.ErrorCode)
	}
	return list
}

var background = context.Background()

// patient has the SDK try once only.
func once(s *awstest.Server) *ec2.Client {
	return ec2.NewFromConfig(s.Config(), func(o *ec2.Options) { o.Retryer = awssdk.NopRetryer{} })
}
