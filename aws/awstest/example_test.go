package awstest_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/aws/smithy-go"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// A real client launches three machines of a type of which there are two, on the
// second try.
func Example() {
	server, err := awstest.Start(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	server.SetStock(cloudprovider.Scope{InstanceType: "m5.large"}, 2)
	if err := server.Script(awstest.Fault{Op: "CreateFleet", Nth: 1, Err: awstest.ErrThrottled}); err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	client := ec2.NewFromConfig(server.Config())
	images, err := client.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{
		{Name: awssdk.String("name"), Values: []string{"amazon-eks-node-al2023-x86_64-standard-*"}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: awssdk.String("web"),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: images.Images[0].ImageId},
	}); err != nil {
		fmt.Println(err)
		return
	}
	out, err := client.CreateFleet(ctx, &ec2.CreateFleetInput{
		Type:                        ec2types.FleetTypeInstant,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{TotalTargetCapacity: awssdk.Int32(3)},
		LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: awssdk.String("web"), Version: awssdk.String("$Latest")},
			Overrides: []ec2types.FleetLaunchTemplateOverridesRequest{
				{InstanceType: "m5.large", AvailabilityZone: awssdk.String("us-east-1a")},
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("launched:", len(out.Instances[0].InstanceIds))
	fmt.Println("refused: ", *out.Errors[0].ErrorCode)
	for _, call := range server.Calls() {
		fmt.Println(strings.TrimSpace(call.Service + " " + call.Action + " " + call.Code))
	}
	// Output:
	// launched: 2
	// refused:  InsufficientInstanceCapacity
	// ec2 DescribeImages
	// ec2 CreateLaunchTemplate
	// ec2 CreateFleet RequestLimitExceeded
	// ec2 CreateFleet
}

// The clock moves when the test says so.
func ExampleCloud_Advance() {
	cloud, err := awstest.New(&awstest.Options{Boot: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	cloud.Add(1, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: "spot"}, nil)
	fmt.Println(cloud.Instances()[0].State)
	cloud.Advance(time.Minute)
	fmt.Println(cloud.Instances()[0].State)
	id := cloud.Instances()[0].ID
	if _, err := cloud.Interrupt(id); err != nil {
		fmt.Println(err)
	}
	cloud.Advance(2 * time.Minute)
	fmt.Println(cloud.Instances()[0].State, "-", cloud.Instances()[0].Reason)
	// Output:
	// pending
	// running
	// terminated - Server.SpotInstanceTermination: Spot instance termination
}

// A fault says which calls, and what becomes of them.
func ExampleFault() {
	cloud, err := awstest.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = cloud.Script(
		awstest.Fault{Op: "CreateFleet", Nth: 2, Err: awstest.ErrThrottled},
		awstest.Fault{Op: "DescribeInstances", Until: time.Minute, Err: &smithy.GenericAPIError{Code: "InternalError", Message: "try later"}},
		awstest.Fault{Op: "CreateFleet", Err: awstest.Refusal{Scope: cloudprovider.Scope{Zone: "us-east-1a"}, Code: "UnfulfillableCapacity"}},
	)
	fmt.Println(err)
	fmt.Println(cloud.Script(awstest.Fault{Op: "LaunchRocket", Err: awstest.ErrLost}))
	// Output:
	// <nil>
	// awstest: fault 0: Op: there is no action "LaunchRocket"; use one of the package comment
}
