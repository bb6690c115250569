package aws_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/iam"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// everything is a scene in which the provider has done all that it can do.
func everything(t *testing.T) *scene {
	cloud := start(t, &awstest.Options{
		PlacementGroups: []ec2types.PlacementGroup{{GroupId: ptr("pg-0123456789abcdef0"), GroupName: ptr("racks"), Strategy: ec2types.PlacementStrategyCluster}},
		Reservations: []ec2types.CapacityReservation{{CapacityReservationId: ptr("cr-0123456789abcdef0"), InstanceType: ptr("m5.large"),
			AvailabilityZone: ptr("us-east-1a"), Tags: []ec2types.Tag{{Key: ptr("team"), Value: ptr("a")}}}},
	})
	s := newScene(t, func(s *scene) {
		s.cloud, s.opts.Now, s.opts.InterruptionQueue = cloud, cloud.Now, "demo"
		s.class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: ptr("racks")}
		s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "a"}}}
	})
	ctx := t.Context()
	i, bought := s.create("one", large), s.create("two", spot)
	claim := &karpv1.NodeClaim{}
	claim.Name, claim.Labels = "general-one", map[string]string{karpv1.NodePoolLabelKey: "general"}
	claim.Spec.NodeClassRef = nodePool().Spec.Template.Spec.NodeClassRef
	claim.Status.ProviderID, claim.Status.NodeName = i.ID, "node-1"
	_, err := s.p.TagInstance(ctx, claim)
	require.NoError(t, err)
	_, err = s.cloud.Interrupt(ec2ID(bought.ID))
	require.NoError(t, err)
	require.NoError(t, cloudprovider.Acknowledge(ctx, s.p, s.notices()...))
	require.NoError(t, s.p.Delete(ctx, bought.ID))
	_, err = s.p.CollectInstances(ctx, func(context.Context) ([]*karpv1.NodeClaim, error) { return nil, nil }, nil, nil)
	require.NoError(t, err)
	s.class.Spec.Role = "" // the profile of the role has no use any more
	s.class.Spec.InstanceProfile = ptr("foreign")
	s.cloud.Advance(25 * time.Hour)
	_, err = s.p.CollectInstanceProfiles(ctx, nil, nil)
	require.NoError(t, err)
	_, err = s.p.CollectLaunchTemplates(ctx)
	require.NoError(t, err)
	require.NoError(t, s.p.ReleaseNodeClass(ctx, s.class))
	return s
}

// What the provider calls is what package iam lists, no more and no less.
func TestActionsAreThoseOfIAM(t *testing.T) {
	s := everything(t)
	var listed []string
	for _, c := range iam.Actions() {
		listed = append(listed, c.Service+"."+c.Operation)
	}
	require.Equal(t, listed, s.cloud.Actions())
	for _, c := range s.cloud.Calls() {
		if c.Action == "RunInstances" {
			require.True(t, c.DryRun, "instances are launched by fleets")
		}
	}
}

// Every call is allowed by the policies, with the tags that it has.
func TestCallsAreAllowed(t *testing.T) {
	s := everything(t)
	policies, err := iam.ControllerPolicies(iam.Config{
		ClusterName: "demo", Region: "us-east-1", Account: "123456789012", ZonalShift: true,
		NodeRoles: []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-demo"},
		QueueARN:  "arn:aws:sqs:us-east-1:123456789012:demo",
	})
	require.NoError(t, err)
	all := iam.Merge("all", policies...).Statements
	permissions := map[string][]string{}
	for _, c := range iam.Actions() {
		permissions[c.Service+"."+c.Operation] = c.Permissions
	}
	made := map[string]map[string]string{} // the tags of what the provider makes, by kind
	checked := 0
	for _, c := range s.cloud.Calls() {
		for _, permission := range permissions[c.Service+"."+c.Action] {
			for _, r := range rightsOf(c, permission, made) {
				checked++
				require.True(t, slices.ContainsFunc(all, r.allowedBy), "%s is not allowed", r)
			}
		}
		for kind, tags := range c.Tags {
			if c.Action != "CreateTags" {
				made[kind] = tags
			}
		}
	}
	require.Greater(t, checked, 40)

	// The test would see it if something were not allowed.
	for _, r := range []right{
		{permission: "ec2:RebootInstances", arn: "arn:aws:ec2:us-east-1:123456789012:instance/i-0"},
		{permission: "ec2:TerminateInstances", arn: "arn:aws:ec2:us-east-1:123456789012:instance/i-0"},
		{permission: "ec2:CreateLaunchTemplate", arn: "arn:aws:ec2:us-east-1:123456789012:launch-template/lt-0"},
		{permission: "ec2:DescribeInstances", arn: "*", region: "eu-west-1"},
	} {
		require.False(t, slices.ContainsFunc(all, r.allowedBy), "%s", r)
	}
}

// right is a permission that a call takes, on a resource, in a context.
type right struct {
	permission, arn, region, create string
	request, resource               map[string]string // tags
}

func (r right) String() string {
	return fmt.Sprintf("%s on %s with tags %v, of the resource %v", r.permission, r.arn, r.request, r.resource)
}

// rightsOf are the resources that a call takes a permission on. What it names was
// made by the provider before, with the tags of made.
func rightsOf(c awstest.Call, permission string, made map[string]map[string]string) (rights []right) {
	arn := func(kind string) string { return "arn:aws:ec2:us-east-1:123456789012:" + kind + "/x" }
	r := right{permission: permission, arn: "*", region: "us-east-1"}
	switch {
	case permission == "iam:PassRole":
		r.arn = "arn:aws:iam::123456789012:role/KarpenterNodeRole-demo"
	case strings.Contains(permission, "InstanceProfile") && permission != "iam:ListInstanceProfiles":
		r.arn, r.request = "arn:aws:iam::123456789012:instance-profile/x", c.Tags["instance-profile"]
		r.resource = cmpOr(c.Tags["instance-profile"], made["instance-profile"])
	case permission == "eks:DescribeCluster" || permission == "arc-zonal-shift:GetManagedResource":
		r.arn = "arn:aws:eks:us-east-1:123456789012:cluster/demo"
	case strings.HasPrefix(permission, "sqs:"):
		r.arn = "arn:aws:sqs:us-east-1:123456789012:demo"
	case strings.HasPrefix(permission, "ssm:"):
		r.arn = "arn:aws:ssm:us-east-1::parameter/aws/service/x"
	case permission == "ec2:TerminateInstances", permission == "ec2:CreateTags" && c.Action == "CreateTags":
		r.arn, r.request, r.resource = arn("instance"), c.Tags["instance"], made["instance"]
	case permission == "ec2:DeleteLaunchTemplate":
		r.arn, r.resource = arn("launch-template"), made["launch-template"]
	case c.Tags != nil:
		r.create = c.Action
		for _, kind := range slices.Sorted(maps.Keys(c.Tags)) {
			r.arn, r.request = arn(kind), c.Tags[kind]
			rights = append(rights, r)
		}
		if permission == "ec2:CreateFleet" || permission == "ec2:RunInstances" {
			r.request, r.arn, r.resource = nil, arn("launch-template"), made["launch-template"]
			rights = append(rights, r)
			for _, kind := range []string{"subnet", "security-group", "placement-group", "capacity-reservation"} {
				r.arn = arn(kind)
				rights = append(rights, r)
			}
		}
		return rights
	}
	return []right{r}
}

func cmpOr(a, b map[string]string) map[string]string {
	if a != nil {
		return a
	}
	return b
}

// allowedBy evaluates a statement as IAM does, as far as those of the policies go.
func (r right) allowedBy(s iam.Statement) bool {
	matches := func(pattern, text string) bool {
		// A wildcard of IAM crosses slashes, one of package path does not.
		ok, err := path.Match(strings.ReplaceAll(pattern, "/", "|"), strings.ReplaceAll(text, "/", "|"))
		return err == nil && ok
	}
	if !slices.Contains(s.Actions, r.permission) || !slices.ContainsFunc(s.Resources, func(p string) bool { return p == "*" || matches(p, r.arn) }) {
		return false
	}
	for _, c := range s.Conditions {
		have := r.context(c.Key)
		ok := len(have) > 0
		switch c.Operator {
		case "ForAllValues:StringEquals", "StringEqualsIfExists":
			ok = true // also where there is none
		}
		for _, v := range have {
			ok = ok && slices.ContainsFunc(c.Values, func(want string) bool { return v == want || c.Operator == "StringLike" && matches(want, v) })
		}
		if !ok {
			return false
		}
	}
	return true
}

// context is what a call has for the key of a condition.
func (r right) context(key string) []string {
	tag := func(tags map[string]string, key string) []string {
		if v, ok := tags[key]; ok {
			return []string{v}
		}
		return nil
	}
	kind, name, _ := strings.Cut(key, "/")
	switch kind {
	case "aws:RequestTag":
		return tag(r.request, name)
	case "aws:ResourceTag":
		return tag(r.resource, name)
	case "aws:TagKeys":
		return slices.Sorted(maps.Keys(r.request))
	case "aws:RequestedRegion":
		return []string{r.region}
	case "ec2:CreateAction":
		return []string{r.create}
	case "iam:PassedToService":
		return []string{"ec2.amazonaws.com"}
	}
	return nil
}
