package iam_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/iam"
)

func TestValidateNamesEveryFault(t *testing.T) {
	err := iam.Config{
		ClusterName: "demo*",
		Region:      "eu-west",
		Account:     "12345678901x",
		Partition:   "aws-cn",
		NodeRoles:   []string{"nodes", "arn:aws-cn:iam::12345678901x:role/*"},
		QueueARN:    "demo",
		Parameters:  []string{"/images/golden"},
	}.Validate()
	require.EqualError(t, err, strings.Join([]string{
		`clusterName: Invalid value: "demo*": want the name of an EKS cluster: letters, digits, - and _, at most 100`,
		`region: Invalid value: "eu-west": want the name of a region, such as eu-west-1`,
		`account: Invalid value: "12345678901x": want the twelve digits of an AWS account`,
		`partition: Invalid value: "aws-cn": the region is in aws; write that, or leave it out`,
		`nodeRoles[0]: Invalid value: "nodes": want the ARN of a role of the account, without wildcards: arn:aws-cn:iam::12345678901x:role/NAME`,
		`nodeRoles[1]: Invalid value: "arn:aws-cn:iam::12345678901x:role/*": want the ARN of a role of the account, without wildcards: arn:aws-cn:iam::12345678901x:role/NAME`,
		`queueARN: Invalid value: "demo": want the ARN of a queue of the account and region: arn:aws-cn:sqs:eu-west:12345678901x:NAME`,
		`parameters[0]: Invalid value: "/images/golden": want the ARN of a parameter of the region, without wildcards: arn:aws-cn:ssm:eu-west:12345678901x:parameter/NAME`,
	}, "\n"))
	_, err = iam.ControllerPolicies(iam.Config{})
	require.EqualError(t, err, strings.Join([]string{
		"clusterName: Required value: the name of an EKS cluster: letters, digits, - and _, at most 100",
		"region: Required value: the name of a region, such as eu-west-1",
		"account: Required value: the twelve digits of an AWS account",
		"nodeRoles: Required value: name the roles that nodes may have, as arn:aws:iam:::role/NAME",
	}, "\n"))
}

func TestValidateParts(t *testing.T) {
	change := func(set func(*iam.Config)) iam.Config {
		c := demo()
		set(&c)
		return c
	}
	for _, ok := range []iam.Config{
		demo(),
		change(func(c *iam.Config) { c.Partition = "aws" }),
		change(func(c *iam.Config) { c.QueueARN += ".fifo" }),
		change(func(c *iam.Config) { c.ClusterName = "0" + strings.Repeat("_", 99) }),
		change(func(c *iam.Config) { c.NodeRoles[0] = "arn:aws:iam::123456789012:role/a/b/c+=,.@-_" }),
		change(func(c *iam.Config) { c.Parameters[0] = "arn:aws:ssm:eu-west-1:210987654321:parameter/a" }),
	} {
		require.NoError(t, ok.Validate())
	}
	for _, bad := range []iam.Config{
		change(func(c *iam.Config) { c.ClusterName = "-demo" }),
		change(func(c *iam.Config) { c.ClusterName = strings.Repeat("a", 101) }),
		change(func(c *iam.Config) { c.ClusterName = "${aws:PrincipalTag/x}" }),
		change(func(c *iam.Config) { c.Region = "eu--1" }),
		change(func(c *iam.Config) { c.Region = "EU-west-1" }),
		change(func(c *iam.Config) { c.Region = "*" }),
		change(func(c *iam.Config) { c.NodeRoles[0] = "arn:aws:iam::123456789012:role/" }),
		change(func(c *iam.Config) { c.NodeRoles[0] = "arn:aws:iam::210987654321:role/a" }),
		change(func(c *iam.Config) { c.NodeRoles[0] = "arn:aws:iam::123456789012:role/a?" }),
		change(func(c *iam.Config) { c.NodeRoles[0] = "arn:aws:iam::123456789012:role/a b" }),
		change(func(c *iam.Config) { c.QueueARN = "arn:aws:sqs:eu-west-2:123456789012:demo" }),
		change(func(c *iam.Config) { c.QueueARN = "arn:aws:sqs:eu-west-1:123456789012:*" }),
		change(func(c *iam.Config) { c.Parameters[0] = "arn:aws:ssm:eu-west-1:123456789012:parameter/*" }),
		change(func(c *iam.Config) { c.Parameters[0] = "arn:aws:ssm:eu-west-1:123456789012:document/a" }),
		change(func(c *iam.Config) { c.Parameters[0] = "arn:aws:ssm:eu-west-1::parameter/a" }),
	} {
		require.Error(t, bad.Validate(), "%+v", bad)
	}
}

func TestPartitionOf(t *testing.T) {
	for region, want := range map[string]string{
		"us-east-1": "aws", "cn-northwest-1": "aws-cn", "us-gov-east-1": "aws-us-gov", "us-iso-east-1": "aws-iso",
		"us-isob-east-1": "aws-iso-b", "eu-isoe-west-1": "aws-iso-e", "us-isof-south-1": "aws-iso-f", "eusc-de-east-1": "aws-eusc",
		"": "aws",
	} {
		require.Equal(t, want, iam.PartitionOf(region), region)
	}
}

// FuzzConfig feeds any names. What passes validation has no wildcard and no
// variable in it, and its documents can be read.
func FuzzConfig(f *testing.F) {
	f.Add("demo", "eu-west-1", "123456789012", "nodes", "demo")
	f.Add("a\"b", "cn-north-1", "١٢٣٤٥٦٧٨٩٠١٢", "${x}", "*")
	f.Fuzz(func(t *testing.T, cluster, region, account, role, queue string) {
		prefix := "arn:" + iam.PartitionOf(region) + ":"
		c := iam.Config{ClusterName: cluster, Region: region, Account: account,
			NodeRoles: []string{prefix + "iam::" + account + ":role/" + role},
			QueueARN:  prefix + "sqs:" + region + ":" + account + ":" + queue,
		}
		ps, err := iam.ControllerPolicies(c)
		if err != nil {
			require.Nil(t, ps)
			return
		}
		for _, name := range []string{cluster, region, account, role, queue} {
			require.False(t, strings.ContainsAny(name, "*?${}\" \n"), name)
		}
		for _, p := range ps {
			require.NoError(t, p.Check(iam.MaxManagedPolicySize))
		}
	})
}
