package api

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// EC2 is the part of Amazon EC2 that the provider calls. *ec2.Client
// implements it.
type EC2 interface {
	// CreateFleet launches instances, or as a dry run says whether it would be allowed.
	CreateFleet(context.Context, *ec2.CreateFleetInput, ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error)
	// CreateLaunchTemplate describes instances to launch.
	CreateLaunchTemplate(context.Context, *ec2.CreateLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error)
	// CreateTags names instances after their nodes.
	CreateTags(context.Context, *ec2.CreateTagsInput, ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error)
	// DeleteLaunchTemplate removes a launch template that is not in use.
	DeleteLaunchTemplate(context.Context, *ec2.DeleteLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error)
	// DescribeCapacityReservations lists reservations with their free instances.
	DescribeCapacityReservations(context.Context, *ec2.DescribeCapacityReservationsInput, ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error)
	// DescribeImages lists images to boot.
	DescribeImages(context.Context, *ec2.DescribeImagesInput, ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error)
	// DescribeInstanceStatus lists failed checks and announced maintenance.
	DescribeInstanceStatus(context.Context, *ec2.DescribeInstanceStatusInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error)
	// DescribeInstanceTypeOfferings lists which type is in which zone.
	DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error)
	// DescribeInstanceTypes lists the properties of instance types.
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error)
	// DescribeInstances lists instances of the cluster.
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
	// DescribeLaunchTemplates lists launch templates of the cluster.
	DescribeLaunchTemplates(context.Context, *ec2.DescribeLaunchTemplatesInput, ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error)
	// DescribePlacementGroups looks up a placement group to launch into.
	DescribePlacementGroups(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error)
	// DescribeSecurityGroups lists security groups of nodes.
	DescribeSecurityGroups(context.Context, *ec2.DescribeSecurityGroupsInput, ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error)
	// DescribeSpotPriceHistory lists spot prices.
	DescribeSpotPriceHistory(context.Context, *ec2.DescribeSpotPriceHistoryInput, ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error)
	// DescribeSubnets lists subnets and their free addresses.
	DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error)
	// RunInstances checks whether a launch is allowed. It is called only as a dry run.
	RunInstances(context.Context, *ec2.RunInstancesInput, ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error)
	// TerminateInstances removes instances.
	TerminateInstances(context.Context, *ec2.TerminateInstancesInput, ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error)
}

// SSM is the part of AWS Systems Manager that the provider calls. *ssm.Client
// implements it.
type SSM interface {
	// GetParameter reads the id of a published image.
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Pricing is the part of the AWS price list that the provider calls.
// *pricing.Client implements it. The price list is served in a few regions
// only, so each call sets the region of its options.
type Pricing interface {
	// GetProducts lists prices on demand.
	GetProducts(context.Context, *pricing.GetProductsInput, ...func(*pricing.Options)) (*pricing.GetProductsOutput, error)
}

// SQS is the part of Amazon SQS that the provider calls. *sqs.Client
// implements it.
type SQS interface {
	// DeleteMessage takes a notice that was dealt with off the queue.
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	// GetQueueUrl looks up where the queue is.
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	// ReceiveMessage waits for notices of interruptions.
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
}

// IAM is the part of AWS IAM that the provider calls. *iam.Client implements
// it.
type IAM interface {
	// AddRoleToInstanceProfile gives a profile its role.
	AddRoleToInstanceProfile(context.Context, *iam.AddRoleToInstanceProfileInput, ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error)
	// CreateInstanceProfile makes a profile for a class.
	CreateInstanceProfile(context.Context, *iam.CreateInstanceProfileInput, ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error)
	// DeleteInstanceProfile removes a profile that is not in use.
	DeleteInstanceProfile(context.Context, *iam.DeleteInstanceProfileInput, ...func(*iam.Options)) (*iam.DeleteInstanceProfileOutput, error)
	// GetInstanceProfile says whether a profile is there, and which role it has.
	GetInstanceProfile(context.Context, *iam.GetInstanceProfileInput, ...func(*iam.Options)) (*iam.GetInstanceProfileOutput, error)
	// ListInstanceProfiles lists the profiles of the cluster.
	ListInstanceProfiles(context.Context, *iam.ListInstanceProfilesInput, ...func(*iam.Options)) (*iam.ListInstanceProfilesOutput, error)
	// RemoveRoleFromInstanceProfile takes the role off a profile, before it is deleted.
	RemoveRoleFromInstanceProfile(context.Context, *iam.RemoveRoleFromInstanceProfileInput, ...func(*iam.Options)) (*iam.RemoveRoleFromInstanceProfileOutput, error)
}

// EKS is the part of Amazon EKS that the provider calls. *eks.Client
// implements it.
type EKS interface {
	// DescribeCluster says endpoint, version and addresses of the cluster.
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
}

// ZonalShift is the part of ARC zonal shift that the provider calls.
// *arczonalshift.Client implements it.
type ZonalShift interface {
	// GetManagedResource lists the zones that the cluster is shifted away from.
	GetManagedResource(context.Context, *arczonalshift.GetManagedResourceInput, ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error)
}

// Clients are the clients of the AWS services, see aws.Clients.
type Clients struct {
	EC2        EC2
	SSM        SSM
	Pricing    Pricing
	SQS        SQS
	IAM        IAM
	EKS        EKS
	ZonalShift ZonalShift
}
