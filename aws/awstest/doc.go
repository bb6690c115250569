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
// A Cloud has a region with zones, subnets, security groups, images and their SSM parameters,
// instance types with prices, IAM roles, an EKS cluster and a queue; Options set them, and the
// defaults have some of each. It implements the operations that a provider of nodes calls:
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
// To simulate failures there are stock and prices for each offering (Cloud.SetStock), delayed answers
// (Options.Lag), quotas, and scripts:
//
//	server.Script(awstest.Fault{Op: "CreateFleet", Nth: 2, Err: awstest.ErrThrottled})
//	server.Script(awstest.Fault{Op: "CreateFleet", Err: awstest.ErrLost})
//	server.Script(awstest.Fault{Op: "CreateFleet", Err: awstest.Refusal{Scope: scope}})
//
// Cloud.Calls lists every call, including refused ones; compare Cloud.Actions with an IAM policy.
//
// # Left out
//
// Permissions: every signed call is allowed, unless a fault says otherwise. Signatures are required
// but not verified. Operations not listed above, and parameters that do not affect the launch of
// nodes. An empty queue answers a long poll at once.
//
// # Guarantees
//
// The same calls in the same order get the same answers. Client tokens make operations idempotent,
// as in AWS. Unknown actions, filters and values are errors, as in AWS, so that a misspelling
// shows. Any number of goroutines may use everything.
package awstest
