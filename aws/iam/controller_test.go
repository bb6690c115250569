package iam_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/iam"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

func TestGolden(t *testing.T) {
	china := demo()
	china.Region, china.QueueARN, china.ZonalShift, china.Parameters = "cn-north-1", "", false, nil
	china.NodeRoles = []string{"arn:aws-cn:iam::123456789012:role/nodes/a", "arn:aws-cn:iam::123456789012:role/b"}
	china.ForeignInstanceProfiles = true
	for name, c := range map[string]iam.Config{"everything.txt": demo(), "china.txt": china} {
		var text strings.Builder
		for _, p := range policies(t, c) {
			fmt.Fprintf(&text, "# %s, %d characters\n%s\n", p.Name, p.Size(), p.JSON())
		}
		golden.Equal(t, text.String(), name)
	}
}

// TestActionsAndPoliciesAgree: what the calls take is what is granted, no less
// and no more.
func TestActionsAndPoliciesAgree(t *testing.T) {
	granted, taken := map[string]bool{}, map[string]bool{}
	for _, p := range policies(t, demo()) {
		for _, s := range p.Statements {
			for _, a := range s.Actions {
				granted[a] = true
			}
		}
	}
	for _, c := range iam.Actions() {
		require.True(t, slices.IsSorted(c.Permissions), c.Operation)
		require.NotEmpty(t, c.Purpose)
		for _, p := range c.Permissions {
			taken[p] = true
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(granted)), slices.Sorted(maps.Keys(taken)))
}

func TestActionsAreSorted(t *testing.T) {
	var names []string
	for _, c := range iam.Actions() {
		names = append(names, c.Service+"."+c.Operation)
	}
	require.IsIncreasing(t, names)
	iam.Actions()[0].Permissions[0] = "x"
	require.NotEqual(t, "x", iam.Actions()[0].Permissions[0])
}

// with returns a context of key and value in turn.
func with(pairs ...string) map[string][]string {
	context := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		context[pairs[i]] = append(context[pairs[i]], pairs[i+1])
	}
	return context
}

func TestWhatIsAllowed(t *testing.T) {
	const (
		instance = "arn:aws:ec2:eu-west-1:123456789012:instance/i-1"
		template = "arn:aws:ec2:eu-west-1:123456789012:launch-template/lt-1"
		profile  = "arn:aws:iam::123456789012:instance-profile/karpenter/eu-west-1/demo/u/demo_1"
		role     = "arn:aws:iam::123456789012:role/KarpenterNodeRole-demo"
		cluster  = "kubernetes.io/cluster/demo"
		eks      = "eks:eks-cluster-name"
	)
	own := with("aws:ResourceTag/"+cluster, "owned", "aws:ResourceTag/karpenter.sh/nodepool", "general")
	tags := with("aws:RequestTag/"+cluster, "owned", "aws:RequestTag/"+eks, "demo", "aws:RequestTag/karpenter.sh/nodepool", "")
	foreign := with("aws:ResourceTag/kubernetes.io/cluster/other", "owned", "aws:ResourceTag/karpenter.sh/nodepool", "general")
	ownProfile := with("aws:ResourceTag/"+cluster, "owned", "aws:ResourceTag/topology.kubernetes.io/region", "eu-west-1",
		"aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass", "default")
	join := func(contexts ...map[string][]string) map[string][]string {
		out := map[string][]string{}
		for _, c := range contexts {
			maps.Copy(out, c)
		}
		return out
	}
	tests := []struct {
		name string
		r    request
		want bool
	}{
		{"terminate a node", request{"ec2:TerminateInstances", instance, own}, true},
		{"terminate a node of another cluster", request{"ec2:TerminateInstances", instance, foreign}, false},
		{"terminate somebody's instance", request{"ec2:TerminateInstances", instance, nil}, false},
		{"terminate in another region", request{"ec2:TerminateInstances", strings.Replace(instance, "eu-west-1", "eu-west-2", 1), own}, false},
		{"terminate in another account", request{"ec2:TerminateInstances", strings.Replace(instance, "123456789012", "210987654321", 1), own}, false},
		{"delete a launch template", request{"ec2:DeleteLaunchTemplate", template, own}, true},
		{"delete somebody's launch template", request{"ec2:DeleteLaunchTemplate", template, nil}, false},
		{"launch with tags", request{"ec2:CreateFleet", "arn:aws:ec2:eu-west-1:123456789012:fleet/f-1", tags}, true},
		{"launch without tags", request{"ec2:CreateFleet", "arn:aws:ec2:eu-west-1:123456789012:fleet/f-1", nil}, false},
		{"launch with the tag of another cluster", request{"ec2:RunInstances", instance, join(tags, with("aws:RequestTag/"+eks, "other"))}, false},
		{"launch from an image", request{"ec2:RunInstances", "arn:aws:ec2:eu-west-1::image/ami-1", nil}, true},
		{"launch into a shared subnet", request{"ec2:RunInstances", "arn:aws:ec2:eu-west-1:210987654321:subnet/subnet-1", nil}, true},
		{"launch into another region", request{"ec2:RunInstances", "arn:aws:ec2:us-east-1:210987654321:subnet/subnet-1", nil}, false},
		{"launch with own template", request{"ec2:CreateFleet", template, own}, true},
		{"launch with somebody's template", request{"ec2:CreateFleet", template, nil}, false},
		{"tag while launching", request{"ec2:CreateTags", instance, join(tags, with("ec2:CreateAction", "RunInstances"))}, true},
		{"tag while doing something else", request{"ec2:CreateTags", instance, join(tags, with("ec2:CreateAction", "CreateVolume"))}, false},
		{"name an instance after its node", request{"ec2:CreateTags", instance, join(own, with("aws:TagKeys", "Name", "aws:TagKeys", "karpenter.sh/nodeclaim", "aws:TagKeys", eks, "aws:RequestTag/"+eks, "demo"))}, true},
		{"take an instance over", request{"ec2:CreateTags", instance, join(own, with("aws:TagKeys", cluster))}, false},
		{"give an instance away", request{"ec2:CreateTags", instance, join(own, with("aws:TagKeys", eks, "aws:RequestTag/"+eks, "other"))}, false},
		{"pass the node role to EC2", request{"iam:PassRole", role, with("iam:PassedToService", "ec2.amazonaws.com")}, true},
		{"pass the node role to Lambda", request{"iam:PassRole", role, with("iam:PassedToService", "lambda.amazonaws.com")}, false},
		{"pass another role", request{"iam:PassRole", "arn:aws:iam::123456789012:role/admin", with("iam:PassedToService", "ec2.amazonaws.com")}, false},
		{"create a profile", request{"iam:CreateInstanceProfile", profile, with("aws:RequestTag/"+cluster, "owned", "aws:RequestTag/"+eks, "demo",
			"aws:RequestTag/topology.kubernetes.io/region", "eu-west-1", "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass", "default")}, true},
		{"create a profile without tags", request{"iam:CreateInstanceProfile", profile, nil}, false},
		{"delete a profile", request{"iam:DeleteInstanceProfile", profile, ownProfile}, true},
		{"delete a profile of the other region", request{"iam:DeleteInstanceProfile", profile, join(ownProfile, with("aws:ResourceTag/topology.kubernetes.io/region", "eu-west-2"))}, false},
		{"give somebody's profile a role", request{"iam:AddRoleToInstanceProfile", profile, nil}, false},
		{"read the cluster", request{"eks:DescribeCluster", "arn:aws:eks:eu-west-1:123456789012:cluster/demo", nil}, true},
		{"read another cluster", request{"eks:DescribeCluster", "arn:aws:eks:eu-west-1:123456789012:cluster/demo2", nil}, false},
		{"read the queue", request{"sqs:ReceiveMessage", "arn:aws:sqs:eu-west-1:123456789012:demo", nil}, true},
		{"write to the queue", request{"sqs:SendMessage", "arn:aws:sqs:eu-west-1:123456789012:demo", nil}, false},
		{"read a public parameter", request{"ssm:GetParameter", "arn:aws:ssm:eu-west-1::parameter/aws/service/eks/x", nil}, true},
		{"read a parameter that is named", request{"ssm:GetParameter", "arn:aws:ssm:eu-west-1:123456789012:parameter/images/golden", nil}, true},
		{"read a secret", request{"ssm:GetParameter", "arn:aws:ssm:eu-west-1:123456789012:parameter/secret", nil}, false},
		{"look at the region", request{"ec2:DescribeInstances", "*", with("aws:RequestedRegion", "eu-west-1")}, true},
		{"look at another region", request{"ec2:DescribeInstances", "*", with("aws:RequestedRegion", "us-east-1")}, false},
	}
	ps := policies(t, demo())
	for _, tt := range tests {
		require.Equal(t, tt.want, allows(ps, tt.r), tt.name)
		require.Equal(t, tt.want, allows([]iam.Policy{iam.Merge("all", ps...)}, tt.r), tt.name)
	}
}

func TestOptionalParts(t *testing.T) {
	c := demo()
	c.QueueARN, c.ZonalShift, c.ForeignInstanceProfiles = "", false, true
	ps := policies(t, c)
	var names, actions []string
	for _, p := range ps {
		names = append(names, p.Name)
		for _, s := range p.Statements {
			actions = append(actions, s.Actions...)
		}
	}
	require.Equal(t, []string{iam.NodeLifecycle, iam.IAMIntegration, iam.EKSIntegration, iam.ResourceDiscovery}, names)
	for _, a := range actions {
		require.False(t, strings.HasPrefix(a, "sqs:") || strings.HasPrefix(a, "arc-"), a)
		require.True(t, a == "iam:PassRole" || !strings.HasPrefix(a, "iam:"), a)
	}
}

// TestDocumentsAreInOrder: what IAM asks of a document holds, with the longest
// names there are.
func TestDocumentsAreInOrder(t *testing.T) {
	long := demo()
	long.ClusterName = strings.Repeat("c", 100)
	long.Region = "us-gov-west-1"
	long.NodeRoles = []string{"arn:aws-us-gov:iam::123456789012:role/" + strings.Repeat("p/", 256) + strings.Repeat("r", 64)}
	long.QueueARN = "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:" + strings.Repeat("q", 80)
	long.Parameters = nil
	for _, c := range []iam.Config{demo(), long} {
		ps := policies(t, c)
		all := iam.Merge("all", ps...)
		require.NoError(t, all.Check(iam.MaxInlineRolePolicySize))
		sids := map[string]bool{}
		for _, s := range all.Statements {
			require.False(t, sids[s.Sid], s.Sid)
			sids[s.Sid] = true
			require.Empty(t, strings.Trim(s.Sid, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), s.Sid)
			require.NotEmpty(t, s.Resources)
		}
		for _, p := range ps {
			require.LessOrEqual(t, p.Size(), iam.MaxManagedPolicySize)
			var doc map[string]any
			require.NoError(t, json.Unmarshal(p.JSON(), &doc))
			require.Equal(t, "2012-10-17", doc["Version"])
		}
	}
}

func TestTooManyRolesAreAnError(t *testing.T) {
	c := demo()
	for i := range 200 {
		c.NodeRoles = append(c.NodeRoles, fmt.Sprintf("arn:aws:iam::123456789012:role/nodes-%d", i))
	}
	_, err := iam.ControllerPolicies(c)
	require.ErrorContains(t, err, "policy IAMIntegration has ")
	require.ErrorContains(t, err, "characters, IAM takes 6144: split it, or name fewer roles or parameters")
}

func TestInputsAreNotShared(t *testing.T) {
	c := demo()
	first := policies(t, c)
	before := string(iam.Merge("all", first...).JSON())
	merged := iam.Merge("all", first...)
	for i := range merged.Statements {
		merged.Statements[i].Actions[0], merged.Statements[i].Resources[0] = "x", "x"
		for j := range merged.Statements[i].Conditions {
			merged.Statements[i].Conditions[j].Values[0] = "x"
		}
	}
	require.Equal(t, before, string(iam.Merge("all", first...).JSON()))
	first[1].Statements[0].Resources[0] = "x"
	require.Equal(t, demo(), c)
}
