package iam

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// The names of the policies that ControllerPolicies makes.
const (
	// NodeLifecycle is about launching, tagging and terminating instances.
	NodeLifecycle = "NodeLifecycle"
	// IAMIntegration is about roles and instance profiles.
	IAMIntegration = "IAMIntegration"
	// EKSIntegration is about the cluster.
	EKSIntegration = "EKSIntegration"
	// Interruption is about the queue.
	Interruption = "Interruption"
	// ZonalShift is about zonal shifts of the cluster.
	ZonalShift = "ZonalShift"
	// ResourceDiscovery is about reading.
	ResourceDiscovery = "ResourceDiscovery"
)

// ControllerPolicies returns the policies of the controller, in the order of the
// constants above. Interruption is only there with a QueueARN, and ZonalShift
// only with ZonalShift.
//
// The error joins every fault of the config, as Validate does, and for a valid
// one every policy that is larger than MaxManagedPolicySize, which only very long
// lists of NodeRoles or Parameters make it.
func ControllerPolicies(c Config) ([]Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	policies := []Policy{
		{NodeLifecycle, c.nodeLifecycle()},
		{IAMIntegration, c.iamIntegration()},
		{EKSIntegration, []Statement{{
			Sid:       "AllowReadingCluster",
			Actions:   []string{"eks:DescribeCluster"},
			Resources: []string{c.cluster()},
		}}},
	}
	if c.QueueARN != "" {
		policies = append(policies, Policy{Interruption, []Statement{{
			Sid:       "AllowReadingQueue",
			Actions:   []string{"sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"},
			Resources: []string{c.QueueARN},
		}}})
	}
	if c.ZonalShift {
		policies = append(policies, Policy{ZonalShift, []Statement{{
			Sid:       "AllowReadingZonalShift",
			Actions:   []string{"arc-zonal-shift:GetManagedResource"},
			Resources: []string{c.cluster()},
		}}})
	}
	policies = append(policies, Policy{ResourceDiscovery, c.resourceDiscovery()})
	var errs []error
	for _, p := range policies {
		errs = append(errs, p.Check(MaxManagedPolicySize))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return policies, nil
}

func (c Config) cluster() string {
	return c.arn("eks", c.Region, "cluster/"+c.ClusterName)
}

// ec2 returns ARNs of all resources of some types of EC2. owner is the account
// in them: images and snapshots have none, and what can be shared between
// accounts has that of its owner, whoever that is.
func (c Config) ec2(owner string, types ...string) []string {
	var arns []string
	for _, t := range types {
		arns = append(arns, "arn:"+c.partition()+":ec2:"+c.Region+":"+owner+":"+t+"/*")
	}
	return arns
}

func (c Config) nodeLifecycle() []Statement {
	launch := []string{"ec2:RunInstances", "ec2:CreateFleet"}
	created := c.ec2(c.Account, "fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request")
	cluster := awsv1.ClusterTagKey(c.ClusterName)
	owned := []Condition{
		equals("aws:ResourceTag/"+cluster, awsv1.ClusterTagValue),
		like("aws:ResourceTag/"+awsv1.NodePoolTagKey, "*"),
	}
	tagged := []Condition{
		equals("aws:RequestTag/"+cluster, awsv1.ClusterTagValue),
		equals("aws:RequestTag/"+awsv1.ClusterNameTagKey, c.ClusterName),
		like("aws:RequestTag/"+awsv1.NodePoolTagKey, "*"),
	}
	return []Statement{
		{
			Sid:     "AllowLaunchingWithExistingResources",
			Actions: launch,
			Resources: slices.Concat(
				c.ec2("", "image", "snapshot"),
				c.ec2("*", "security-group", "subnet", "capacity-reservation", "placement-group")),
		},
		{
			Sid:        "AllowLaunchingWithOwnLaunchTemplates",
			Actions:    launch,
			Resources:  c.ec2(c.Account, "launch-template"),
			Conditions: owned,
		},
		{
			Sid:        "AllowCreatingWithTags",
			Actions:    append(slices.Clone(launch), "ec2:CreateLaunchTemplate"),
			Resources:  created,
			Conditions: tagged,
		},
		{
			Sid:       "AllowTaggingOnCreation",
			Actions:   []string{"ec2:CreateTags"},
			Resources: created,
			Conditions: append(slices.Clone(tagged),
				equals("ec2:CreateAction", "RunInstances", "CreateFleet", "CreateLaunchTemplate")),
		},
		{
			Sid:       "AllowTaggingOwnInstances",
			Actions:   []string{"ec2:CreateTags"},
			Resources: c.ec2(c.Account, "instance"),
			Conditions: append(slices.Clone(owned),
				Condition{"StringEqualsIfExists", "aws:RequestTag/" + awsv1.ClusterNameTagKey, []string{c.ClusterName}},
				Condition{"ForAllValues:StringEquals", "aws:TagKeys", []string{awsv1.ClusterNameTagKey, awsv1.NodeClaimTagKey, awsv1.NameTagKey}}),
		},
		{
			Sid:        "AllowDeletingOwnResources",
			Actions:    []string{"ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"},
			Resources:  c.ec2(c.Account, "instance", "launch-template"),
			Conditions: owned,
		},
	}
}

func (c Config) iamIntegration() []Statement {
	services := []string{"ec2.amazonaws.com"}
	if c.partition() == "aws-cn" {
		// EC2 in China goes by either name.
		services = append(services, "ec2.amazonaws.com.cn")
	}
	statements := []Statement{{
		Sid:        "AllowPassingNodeRoles",
		Actions:    []string{"iam:PassRole"},
		Resources:  slices.Clone(c.NodeRoles),
		Conditions: []Condition{equals("iam:PassedToService", services...)},
	}}
	if c.ForeignInstanceProfiles {
		return statements
	}
	profiles := []string{c.arn("iam", "", "instance-profile/*")}
	cluster := awsv1.ClusterTagKey(c.ClusterName)
	owned := []Condition{
		equals("aws:ResourceTag/"+cluster, awsv1.ClusterTagValue),
		equals("aws:ResourceTag/"+corev1.LabelTopologyRegion, c.Region),
		like("aws:ResourceTag/"+awsv1.NodeClassTagKey, "*"),
	}
	tagged := []Condition{
		equals("aws:RequestTag/"+cluster, awsv1.ClusterTagValue),
		equals("aws:RequestTag/"+awsv1.ClusterNameTagKey, c.ClusterName),
		equals("aws:RequestTag/"+corev1.LabelTopologyRegion, c.Region),
		like("aws:RequestTag/"+awsv1.NodeClassTagKey, "*"),
	}
	return append(statements,
		Statement{"AllowCreatingInstanceProfiles", []string{"iam:CreateInstanceProfile"}, profiles, tagged},
		Statement{"AllowTaggingOwnInstanceProfiles", []string{"iam:TagInstanceProfile"}, profiles, slices.Concat(owned, tagged)},
		Statement{"AllowChangingOwnInstanceProfiles", []string{
			"iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile",
		}, profiles, owned},
	)
}

func (c Config) resourceDiscovery() []Statement {
	statements := []Statement{
		{
			Sid: "AllowReadingEC2OfRegion",
			Actions: []string{
				"ec2:DescribeCapacityReservations", "ec2:DescribeImages", "ec2:DescribeInstanceStatus",
				"ec2:DescribeInstanceTypeOfferings", "ec2:DescribeInstanceTypes", "ec2:DescribeInstances",
				"ec2:DescribeLaunchTemplates", "ec2:DescribePlacementGroups", "ec2:DescribeSecurityGroups",
				"ec2:DescribeSpotPriceHistory", "ec2:DescribeSubnets",
			},
			Resources:  []string{"*"},
			Conditions: []Condition{equals("aws:RequestedRegion", c.Region)},
		},
		{
			Sid:     "AllowReadingParameters",
			Actions: []string{"ssm:GetParameter"},
			Resources: append([]string{"arn:" + c.partition() + ":ssm:" + c.Region + "::parameter/aws/service/*"},
				c.Parameters...),
		},
		// The price list has its own region, and no resources.
		{Sid: "AllowReadingPrices", Actions: []string{"pricing:GetProducts"}, Resources: []string{"*"}},
	}
	if c.ForeignInstanceProfiles {
		return statements
	}
	// IAM takes no tags into account for these.
	return append(statements,
		Statement{Sid: "AllowListingInstanceProfiles", Actions: []string{"iam:ListInstanceProfiles"}, Resources: []string{"*"}},
		Statement{Sid: "AllowReadingInstanceProfiles", Actions: []string{"iam:GetInstanceProfile"}, Resources: []string{c.arn("iam", "", "instance-profile/*")}},
	)
}

func equals(key string, values ...string) Condition {
	return Condition{"StringEquals", key, values}
}

func like(key, pattern string) Condition {
	return Condition{"StringLike", key, []string{pattern}}
}
