package iam_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/aws/iam"
)

func ExampleControllerPolicies() {
	policies, err := iam.ControllerPolicies(iam.Config{
		ClusterName: "demo",
		Region:      "eu-west-1",
		Account:     "123456789012",
		NodeRoles:   []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-demo"},
		QueueARN:    "arn:aws:sqs:eu-west-1:123456789012:demo",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range policies {
		fmt.Println(p.Name, p.Size() <= iam.MaxManagedPolicySize)
		if p.Name == iam.Interruption {
			fmt.Printf("%s", p.JSON())
		}
	}
	// Output:
	// NodeLifecycle true
	// IAMIntegration true
	// EKSIntegration true
	// Interruption true
	// {
	//   "Version": "2012-10-17",
	//   "Statement": [
	//     {
	//       "Sid": "AllowReadingQueue",
	//       "Effect": "Allow",
	//       "Action": [
	//         "sqs:DeleteMessage",
	//         "sqs:GetQueueUrl",
	//         "sqs:ReceiveMessage"
	//       ],
	//       "Resource": [
	//         "arn:aws:sqs:eu-west-1:123456789012:demo"
	//       ]
	//     }
	//   ]
	// }
	// ResourceDiscovery true
}

func ExampleConfig_Validate() {
	fmt.Println(iam.Config{
		ClusterName: "demo",
		Region:      "eu-west-1",
		Account:     "123456789012",
		NodeRoles:   []string{"arn:aws:iam::123456789012:role/*"},
	}.Validate())
	// Output:
	// nodeRoles[0]: Invalid value: "arn:aws:iam::123456789012:role/*": want the ARN of a role of the account, without wildcards: arn:aws:iam::123456789012:role/NAME
}

func ExampleActions() {
	for _, c := range iam.Actions() {
		if c.Service == "eks" || c.Operation == "CreateFleet" {
			fmt.Println(c.Service, c.Operation, c.Permissions)
		}
	}
	// Output:
	// ec2 CreateFleet [ec2:CreateFleet ec2:CreateTags ec2:RunInstances iam:PassRole]
	// eks DescribeCluster [eks:DescribeCluster]
}

func ExampleMerge() {
	policies, err := iam.ControllerPolicies(demo())
	if err != nil {
		fmt.Println(err)
		return
	}
	one := iam.Merge("controller", policies...)
	fmt.Println(len(one.Statements), one.Check(iam.MaxInlineRolePolicySize))
	// Output: 18 <nil>
}

func ExamplePartitionOf() {
	fmt.Println(iam.PartitionOf("cn-north-1"), iam.PartitionOf("eu-west-1"))
	// Output: aws-cn aws
}

func ExamplePolicy() {
	p := iam.Policy{Name: "images", Statements: []iam.Statement{{
		Sid:       "AllowReadingImages",
		Actions:   []string{"ec2:DescribeImages"},
		Resources: []string{"*"},
		Conditions: []iam.Condition{
			{Operator: "StringEquals", Key: "aws:RequestedRegion", Values: []string{"eu-west-1"}},
		},
	}}}
	fmt.Println(p.Size(), p.Check(100))
	// Output: 200 policy images has 200 characters, IAM takes 100: split it, or name fewer roles or parameters
}
