package aws

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
)

// EC2API is the part of Amazon EC2 that the provider calls: CreateFleet,
// CreateLaunchTemplate, CreateTags, DeleteLaunchTemplate, DescribeCapacityReservations,
// DescribeImages, DescribeInstanceStatus, DescribeInstanceTypeOfferings,
// DescribeInstanceTypes, DescribeInstances, DescribeLaunchTemplates,
// DescribePlacementGroups, DescribeSecurityGroups, DescribeSpotPriceHistory,
// DescribeSubnets, RunInstances (as a dry run only) and TerminateInstances. *ec2.Client
// of the AWS SDK implements it.
type EC2API = api.EC2

// SSMAPI is the part of AWS Systems Manager that the provider calls:
// GetParameter. *ssm.Client implements it.
type SSMAPI = api.SSM

// PricingAPI is the part of the AWS price list that the provider calls:
// GetProducts. *pricing.Client implements it; each call sets the region, as the
// price list is served in a few regions only.
type PricingAPI = api.Pricing

// SQSAPI is the part of Amazon SQS that the provider calls: DeleteMessage,
// GetQueueUrl, ReceiveMessage. *sqs.Client implements it.
type SQSAPI = api.SQS

// IAMAPI is the part of AWS IAM that the provider calls: AddRoleToInstanceProfile,
// CreateInstanceProfile, DeleteInstanceProfile, GetInstanceProfile, ListInstanceProfiles
// and RemoveRoleFromInstanceProfile. *iam.Client implements it.
type IAMAPI = api.IAM

// EKSAPI is the part of Amazon EKS that the provider calls: DescribeCluster.
// *eks.Client implements it.
type EKSAPI = api.EKS

// ZonalShiftAPI is the part of ARC zonal shift that the provider calls:
// GetManagedResource. *arczonalshift.Client implements it.
type ZonalShiftAPI = api.ZonalShift

// Clients are the clients of the AWS services. EC2 is required; any other may be nil, and its field
// says what happens without it. All must be safe for concurrent use, as those of the AWS SDK are.
type Clients struct {
	EC2 EC2API
	// SSM reads the ids of published images. Without it, aliases are resolved by the
	// names of images, and a term with an ssmParameter is an error.
	SSM SSMAPI
	// Pricing gives prices on demand. Without it on-demand prices come from the price file and from
	// the built-in list.
	Pricing PricingAPI
	// SQS delivers notices of interruptions. Without it Interruptions returns only the events that
	// EC2 reports on request.
	SQS SQSAPI
	// IAM makes instance profiles for classes with a role. Without it, as in a VPC from
	// which IAM cannot be reached, classes name an instance profile.
	IAM IAMAPI
	// EKS returns the endpoint, version and service addresses of the cluster. Without it the caller
	// sets them in Options.Cluster.
	EKS EKSAPI
	// ZonalShift returns the zones that traffic is shifted away from. Without it no zone counts as
	// shifted.
	ZonalShift ZonalShiftAPI
}

// Connect returns clients of the AWS SDK with a configuration, which should have Retryer. It leaves
// out ZonalShift: set the field if the provider is to heed zonal shifts.
func Connect(cfg awssdk.Config) Clients {
	return Clients{
		EC2: ec2.NewFromConfig(cfg), SSM: ssm.NewFromConfig(cfg), Pricing: pricing.NewFromConfig(cfg),
		SQS: sqs.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg),
	}
}
