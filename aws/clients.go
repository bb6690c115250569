package aws

import "github.com/dovetail-sdk/dovetail/aws/internal/api"

// EC2API is the part of Amazon EC2 that the provider calls: describing instance
// types, offerings, spot prices, images, subnets, security groups, reservations,
// placement groups, launch templates, instances and their status; creating fleets, launch
// templates and tags; running instances as a dry run; deleting launch templates;
// terminating instances. *ec2.Client of the AWS SDK implements it.
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

// IAMAPI is the part of AWS IAM that the provider calls: making, reading, listing
// and deleting instance profiles and the role in them. *iam.Client implements it.
type IAMAPI = api.IAM

// EKSAPI is the part of Amazon EKS that the provider calls: DescribeCluster.
// *eks.Client implements it.
type EKSAPI = api.EKS

// ZonalShiftAPI is the part of ARC zonal shift that the provider calls:
// GetManagedResource. *arczonalshift.Client implements it.
type ZonalShiftAPI = api.ZonalShift

// Clients are the ways to reach AWS. EC2 is required; any other may be nil, and
// its field says what is done without it. All must be safe for concurrent use, as
// those of the AWS SDK are.
type Clients = api.Clients
