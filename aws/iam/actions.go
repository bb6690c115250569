package iam

// Call is an operation of an AWS API that the provider makes use of.
type Call struct {
	// Service is the service, by the name of its package in the AWS SDK for Go,
	// such as ec2.
	Service string
	// Operation is the name of the operation, which is that of the method of the
	// client.
	Operation string
	// Permissions are the rights the call takes, sorted. Most take one by the
	// same name; some take more, for what they do on the way.
	Permissions []string
	// Purpose says in a few words what it is for.
	Purpose string
}

// Actions returns every operation that the provider makes use of, sorted by
// service and operation, with the rights it takes. What the operations take
// together is what the policies of ControllerPolicies grant if everything is in
// use. The list is the caller's.
//
// RunInstances is only called as a dry run, to see whether it would be allowed.
func Actions() []Call {
	var calls []Call
	for _, service := range [][]Call{
		zonalShiftCalls(), ec2Calls(), eksCalls(), iamCalls(), pricingCalls(), sqsCalls(), ssmCalls(),
	} {
		calls = append(calls, service...)
	}
	return calls
}

func call(service, prefix, operation, purpose string, more ...string) Call {
	return Call{service, operation, append([]string{prefix + ":" + operation}, more...), purpose}
}

func zonalShiftCalls() []Call {
	return []Call{call("arczonalshift", "arc-zonal-shift", "GetManagedResource", "zones that the cluster is shifted away from")}
}

func ec2Calls() []Call {
	ec2 := func(operation, purpose string, more ...string) Call {
		return call("ec2", "ec2", operation, purpose, more...)
	}
	return []Call{
		{"ec2", "CreateFleet", []string{"ec2:CreateFleet", "ec2:CreateTags", "ec2:RunInstances", "iam:PassRole"}, "launch instances"},
		ec2("CreateLaunchTemplate", "describe instances to launch", "ec2:CreateTags"),
		ec2("CreateTags", "name instances after their nodes"),
		ec2("DeleteLaunchTemplate", "remove what is not in use"),
		ec2("DescribeCapacityReservations", "reservations and what is left of them"),
		ec2("DescribeImages", "images to boot"),
		ec2("DescribeInstanceStatus", "failed checks and announced maintenance"),
		ec2("DescribeInstanceTypeOfferings", "which type is in which zone"),
		ec2("DescribeInstanceTypes", "what types are made of"),
		ec2("DescribeInstances", "instances of the cluster"),
		ec2("DescribeLaunchTemplates", "launch templates of the cluster"),
		ec2("DescribePlacementGroups", "placement groups to launch into"),
		ec2("DescribeSecurityGroups", "security groups of nodes"),
		ec2("DescribeSpotPriceHistory", "spot prices"),
		ec2("DescribeSubnets", "subnets and their free addresses"),
		{"ec2", "RunInstances", []string{"ec2:CreateTags", "ec2:RunInstances", "iam:PassRole"}, "dry run: may a class be launched?"},
		ec2("TerminateInstances", "remove nodes"),
	}
}

func eksCalls() []Call {
	return []Call{call("eks", "eks", "DescribeCluster", "endpoint, version and service addresses")}
}

func iamCalls() []Call {
	iam := func(operation, purpose string, more ...string) Call {
		return call("iam", "iam", operation, purpose, more...)
	}
	return []Call{
		iam("AddRoleToInstanceProfile", "give a profile its role", "iam:PassRole"),
		iam("CreateInstanceProfile", "make a profile for a class", "iam:TagInstanceProfile"),
		iam("DeleteInstanceProfile", "remove what is not in use"),
		iam("GetInstanceProfile", "is it there, and which role has it?"),
		iam("ListInstanceProfiles", "profiles of the cluster"),
		iam("RemoveRoleFromInstanceProfile", "take the role off before deleting"),
	}
}

func pricingCalls() []Call {
	return []Call{call("pricing", "pricing", "GetProducts", "on-demand prices")}
}

func sqsCalls() []Call {
	return []Call{
		call("sqs", "sqs", "DeleteMessage", "interruptions that were dealt with"),
		call("sqs", "sqs", "GetQueueUrl", "where the queue is"),
		call("sqs", "sqs", "ReceiveMessage", "interruptions"),
	}
}

func ssmCalls() []Call {
	return []Call{call("ssm", "ssm", "GetParameter", "ids of published images")}
}
