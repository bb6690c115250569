// Package awstest is a small AWS on 127.0.0.1, for tests and examples. It speaks
// the protocols of the real services, so that the real clients of the AWS SDK talk
// to it, with nothing replaced but the endpoint.
//
// # Model
//
// Start opens a Server, which is a Cloud with an address:
//
//	server, err := awstest.Start(nil)
//	defer server.Close()
//	client := ec2.NewFromConfig(server.Config())
//
// A Cloud has a region with zones, subnets, security groups, images and their SSM
// parameters, instance types with prices, IAM roles, an EKS cluster and a queue;
// Options say what, and without them there is some of each. What it does of each
// service is what a provider of nodes calls:
//
//	EC2          describe zones, types, offerings, spot prices, images, subnets, groups,
//	             reservations, placement groups; launch templates, fleets, tags,
//	             instances and their status; dry runs
//	SSM          GetParameter
//	Pricing      GetProducts
//	SQS          GetQueueUrl, ReceiveMessage, DeleteMessage
//	IAM          instance profiles
//	EKS          DescribeCluster
//	zonal shift  GetManagedResource
//
// It has a clock that Cloud.Advance moves. Nothing sleeps, and nothing happens by
// itself.
//
// To make things go wrong there are stock and prices for each offering
// (Cloud.SetStock), rate limits, answers that lag behind (Options.Lag), quotas, and
// scripts:
//
//	server.Script(awstest.Fault{Op: "CreateFleet", Nth: 2, Err: awstest.ErrThrottled})
//	server.Script(awstest.Fault{Op: "CreateFleet", Err: awstest.ErrLost})
//	server.Script(awstest.Fault{Op: "CreateFleet", Err: awstest.Refusal{Scope: scope}})
//
// Cloud.Calls lists every call that came, refused ones too; Cloud.Actions is the
// list to compare with an IAM policy.
//
// # Left out
//
// Permissions: whoever signs is allowed everything, unless a fault says otherwise.
// Signatures are asked for and not computed. Operations not listed above, and of
// those listed the parameters that have no bearing on launching nodes. An empty
// queue answers a long poll at once.
//
// # Guarantees
//
// The same calls in the same order get the same answers. Idempotent operations are
// so by their tokens. Unknown actions, filters and values are errors, as they are
// in AWS, so that a misspelling shows. Everything may be used by any number of
// goroutines.
package awstest
