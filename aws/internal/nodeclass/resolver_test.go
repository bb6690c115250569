package nodeclass_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestNewResolverNamesDeniedImages(t *testing.T) {
	_, err := nodeclass.NewResolver(nil, nodeclass.ResolverOptions{DenyImages: []string{"ok-*", ""}})
	require.ErrorContains(t, err, "denyImages[1]")
}

func TestResolve(t *testing.T) {
	s := resolver(t, account())
	got := s.resolve(t, class())
	require.NoError(t, got.Err())
	require.Empty(t, got.Stale)
	require.Equal(t, Noon.Add(time.Minute), got.Next)
	status := got.Class.Status
	require.Equal(t, []awsv1.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az1"}, {ID: "subnet-b", Zone: "us-east-1b", ZoneID: "use1-az2"}},
		status.Subnets, "by id, whatever is free")
	require.Equal(t, []nodeclass.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az1", VPC: "vpc-1", Free: 3, At: Noon},
		{ID: "subnet-b", Zone: "us-east-1b", ZoneID: "use1-az2", VPC: "vpc-1", Free: 7, At: Noon}}, got.Subnets)
	require.Equal(t, []awsv1.SecurityGroup{{ID: "sg-1", Name: "shared"}, {ID: "sg-2", Name: "nodes"}}, status.SecurityGroups,
		"not that of another network")
	require.Equal(t, "nodes", status.InstanceProfile)
	require.Equal(t, awsv1.AMI{ID: "ami-neuron", Name: v1Name + "x86_64-neuron-1.34-v20261001", Requirements: []corev1.NodeSelectorRequirement{
		{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: "karpenter.k8s.aws/instance-accelerator-count", Operator: corev1.NodeSelectorOpExists},
	}}, status.AMIs[2])
	require.Equal(t, awsv1.AMI{ID: "ami-x86", Name: v1Name + "x86_64-standard-1.34-v20261001", Requirements: []corev1.NodeSelectorRequirement{
		{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: "karpenter.k8s.aws/instance-gpu-count", Operator: corev1.NodeSelectorOpDoesNotExist},
		{Key: "karpenter.k8s.aws/instance-accelerator-count", Operator: corev1.NodeSelectorOpDoesNotExist},
	}}, status.AMIs[4], "newest first")
	require.Len(t, got.Selection.Images(), 5)
	for _, c := range status.Conditions {
		require.Equal(t, metav1.Condition{Type: c.Type, Status: metav1.ConditionTrue, Reason: c.Type, ObservedGeneration: 4,
			LastTransitionTime: metav1.NewTime(Noon)}, c)
	}
	require.Len(t, status.Conditions, 8)
	require.NotNil(t, got.Class.Spec.MetadataOptions, "defaults are set")

	s.cloud.Calls()
	again := s.resolve(t, class())
	require.Equal(t, got.Class, again.Class)
	require.Empty(t, s.cloud.Calls(), "all remembered")
}

// Times of transition stay where nothing changes.
func TestTransitionTimes(t *testing.T) {
	s := resolver(t, account())
	first := s.resolve(t, class())
	s.clock.SetTime(Noon.Add(time.Hour))
	c := first.Class.DeepCopy()
	c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-0123"}}
	c.Generation = 5
	second := s.resolve(t, c)
	require.Equal(t, Noon.Add(time.Hour), condition(t, second, awsv1.ConditionTypeSubnetsReady).LastTransitionTime.Time)
	require.Equal(t, Noon.Add(time.Hour), condition(t, second, awsv1.ConditionTypeReady).LastTransitionTime.Time)
	require.Equal(t, Noon, condition(t, second, awsv1.ConditionTypeAMIsReady).LastTransitionTime.Time)
	require.EqualValues(t, 5, condition(t, second, awsv1.ConditionTypeAMIsReady).ObservedGeneration)
}

// Each mistake names the class, the field, the value and the remedy, and every one
// of them is in one error.
func TestBadInput(t *testing.T) {
	for name, tt := range map[string]struct {
		fields string // of the spec, as JSON
		kind   string
		reason string
		want   []string
	}{
		"unknown alias": {`{"amiSelectorTerms": [{"alias": "al2024@latest"}]}`,
			awsv1.ConditionTypeAMIsReady, nodeclass.ReasonInvalidSpec, []string{"spec.amiSelectorTerms[0].alias", "al2024"}},
		"two at signs": {`{"amiSelectorTerms": [{"alias": "al2023@v2@x"}]}`,
			awsv1.ConditionTypeAMIsReady, nodeclass.ReasonInvalidSpec, []string{"spec.amiSelectorTerms[0].alias", "al2023@v2@x"}},
		"pin that does not exist": {`{"amiSelectorTerms": [{"alias": "al2023@v20200101"}]}`,
			awsv1.ConditionTypeAMIsReady, awsv1.ReasonAMINotFound, []string{"spec.amiSelectorTerms", "v20200101", "1.34"}},
		"alias not for this version": {`{"amiSelectorTerms": [{"alias": "al2@latest"}]}`,
			awsv1.ConditionTypeAMIsReady, awsv1.ReasonUnsupportedAlias, []string{"amiSelectorTerms[0].alias", "1.32"}},
		"no subnet": {`{"subnetSelectorTerms": [{"tags": {"team": "data", "b": "*"}}, {"id": "subnet-0123"}]}`,
			awsv1.ConditionTypeSubnetsReady, awsv1.ReasonSubnetsNotFound, []string{"spec.subnetSelectorTerms", "b=* and team=data", "subnet-0123", "tag the subnets"}},
		"no security group": {`{"securityGroupSelectorTerms": [{"tags": null, "name": "lost"}]}`,
			awsv1.ConditionTypeSecurityGroupsReady, awsv1.ReasonSecurityGroupsNotFound, []string{"spec.securityGroupSelectorTerms", `"lost"`, "vpc-1"}},
		"no role": {`{"instanceProfile": null}`,
			awsv1.ConditionTypeValidationSucceeded, nodeclass.ReasonInvalidSpec, []string{"spec.role"}},
		"role without IAM": {`{"instanceProfile": null, "role": "node"}`,
			awsv1.ConditionTypeInstanceProfileReady, nodeclass.ReasonInstanceProfilesUnavailable, []string{"spec.role", `"node"`, "spec.instanceProfile"}},
		"volume size": {`{"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "70000Gi"}}]}`,
			awsv1.ConditionTypeValidationSucceeded, nodeclass.ReasonInvalidSpec, []string{"spec.blockDeviceMappings[0].ebs.volumeSize", "70000Gi"}},
		"tag": {`{"tags": {"karpenter.sh/nodeclaim": "x"}}`,
			awsv1.ConditionTypeValidationSucceeded, awsv1.ReasonTagValidationFailed, []string{"karpenter.sh/nodeclaim"}},
		"kubelet": {`{"kubelet": {"kubeReserved": {"gpu": "1"}}}`,
			awsv1.ConditionTypeValidationSucceeded, awsv1.ReasonInvalidKubeletConfiguration, []string{"spec.kubelet.kubeReserved"}},
		"expressions": {`{"kubelet": {"maxPods": "vcpus * 2"}}`,
			awsv1.ConditionTypeValidationSucceeded, awsv1.ReasonKubeletExpressionsDisabled, []string{"spec.kubelet.maxPods", "vcpus * 2", "switched off"}},
		"kubelet of another family": {`{"amiSelectorTerms": [{"alias": "bottlerocket@latest"}], "kubelet": {"podsPerCore": 3}}`,
			awsv1.ConditionTypeValidationSucceeded, awsv1.ReasonUnsupportedKubeletConfiguration, []string{"spec.kubelet.podsPerCore"}},
		"placement group": {`{"placementGroupSelector": {"name": "ring"}}`,
			awsv1.ConditionTypePlacementGroupReady, awsv1.ReasonPlacementGroupNotFound, []string{"spec.placementGroupSelector", `"ring"`, "create it"}},
		"placement group by id": {`{"placementGroupSelector": {"id": "pg-0123456789abcdef0"}}`,
			awsv1.ConditionTypePlacementGroupReady, awsv1.ReasonPlacementGroupNotFound, []string{"spec.placementGroupSelector", "pg-0123456789abcdef0"}},
		"everything selected": {`{"subnetSelectorTerms": [{"tags": null}]}`,
			awsv1.ConditionTypeSubnetsReady, nodeclass.ReasonInvalidSpec, []string{"spec.subnetSelectorTerms[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := resolver(t, account()).resolve(t, class(func(c *awsv1.EC2NodeClass) {
				require.NoError(t, json.Unmarshal([]byte(tt.fields), &c.Spec))
			}))
			is := condition(t, got, tt.kind)
			require.Equal(t, metav1.ConditionFalse, is.Status)
			require.Equal(t, tt.reason, is.Reason, is.Message)
			err := got.Err()
			require.ErrorIs(t, err, cloudprovider.ErrNotReady)
			require.ErrorContains(t, err, "EC2NodeClass web")
			for _, want := range tt.want {
				require.Contains(t, is.Message, want)
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, is.Message, "\n")
			ready := condition(t, got, awsv1.ConditionTypeReady)
			require.Equal(t, metav1.ConditionFalse, ready.Status)
			require.Equal(t, nodeclass.ReasonUnhealthyDependents, ready.Reason)
			require.Contains(t, ready.Message, tt.kind+"=False")
			require.NotEqual(t, metav1.ConditionTrue, condition(t, got, awsv1.ConditionTypeValidationSucceeded).Status, "nothing is tried")
		})
	}
}

// evaluator refuses "bad".
type evaluator struct{}

func (evaluator) Check(text string) error {
	if text == "bad" {
		return errors.New("not so")
	}
	return nil
}

func (evaluator) Evaluate(string, awsv1.ExpressionVariables) (int64, error) { return 1, nil }

func TestExpressions(t *testing.T) {
	var message string
	var failure error
	asked := 0
	with := func(_ *api.Clients, _ *nodeclass.Options, o *nodeclass.ResolverOptions) {
		o.Expressions = evaluator{}
		o.Unevaluated = func(_ context.Context, c *awsv1.EC2NodeClass) (string, error) {
			asked++
			require.NotEmpty(t, c.Status.Subnets)
			return message, failure
		}
	}
	s := resolver(t, account(), with)
	expression := func(text string) *awsv1.EC2NodeClass {
		return class(func(c *awsv1.EC2NodeClass) {
			c.Spec.Kubelet = &awsv1.KubeletConfiguration{KubeReserved: map[string]string{"cpu": text}}
		})
	}
	is := condition(t, s.resolve(t, expression("bad")), awsv1.ConditionTypeValidationSucceeded)
	require.Equal(t, awsv1.ReasonKubeletExpressionInvalid, is.Reason)
	require.Equal(t, `spec.kubelet.kubeReserved[cpu]: Invalid value: "bad": not so`, is.Message)
	require.Zero(t, asked)

	require.NoError(t, s.resolve(t, class()).Err())
	require.NoError(t, s.resolve(t, expression("100m")).Err())
	require.Zero(t, asked, "there is none")
	require.NoError(t, s.resolve(t, expression("vcpus")).Err())
	require.Equal(t, 1, asked)

	message = "m5.metal: below zero"
	is = condition(t, s.resolve(t, expression("vcpus")), awsv1.ConditionTypeValidationSucceeded)
	require.Equal(t, metav1.ConditionFalse, is.Status)
	require.Equal(t, awsv1.ReasonKubeletExpressionEvaluationFailed, is.Reason)
	require.Equal(t, message, is.Message)

	failure = &cloudprovider.Error{Op: "InstanceTypes", Kind: cloudprovider.KindThrottled}
	got := s.resolve(t, expression("vcpus"))
	is = condition(t, got, awsv1.ConditionTypeValidationSucceeded)
	require.Equal(t, metav1.ConditionUnknown, is.Status)
	require.Equal(t, nodeclass.ReasonLookupFailed, is.Reason)
	require.ErrorIs(t, got.Err(), cloudprovider.ErrThrottled)
}

func TestAllFaultsAtOnce(t *testing.T) {
	got := resolver(t, account()).resolve(t, class(func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms[0].Tags["team"] = "nobody"
		c.Spec.SecurityGroupSelectorTerms[0].Tags["team"] = "nobody"
		c.Spec.AMISelectorTerms[0].Alias = "al2@latest"
		c.Spec.Tags = map[string]string{"": "x"}
	}))
	for _, want := range []string{"AMIsReady", "SubnetsReady", "SecurityGroupsReady", "ValidationSucceeded"} {
		require.ErrorContains(t, got.Err(), want)
	}
}

// A fault of a part stands in its condition and in ValidationSucceeded; who reads
// the error wants it once.
func TestEachFaultOnce(t *testing.T) {
	got := resolver(t, account()).resolve(t, class(func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms = nil
		c.Spec.Tags = map[string]string{"": "x"}
	}))
	text := got.Err().Error()
	require.Equal(t, 1, strings.Count(text, "spec.subnetSelectorTerms: Required value"), text)
	require.Contains(t, text, "ValidationSucceeded: spec.tags")
	require.Contains(t, condition(t, got, awsv1.ConditionTypeValidationSucceeded).Message, "spec.subnetSelectorTerms: Required value")

	got = resolver(t, account()).resolve(t, class(func(c *awsv1.EC2NodeClass) { c.Spec.SubnetSelectorTerms = nil }))
	require.NotContains(t, got.Err().Error(), "ValidationSucceeded")
}

// SSM is down: the images of before stay, also over a restart.
func TestLastGoodImages(t *testing.T) {
	s := resolver(t, account())
	first := s.resolve(t, class())
	failCall(s.cloud, "GetParameter", "ThrottlingException")
	s.clock.SetTime(Noon.Add(10 * time.Minute))
	got := s.resolve(t, first.Class)
	require.NoError(t, got.Err())
	require.Equal(t, first.Class.Status.AMIs, got.Class.Status.AMIs)
	require.Len(t, got.Stale, 1)
	require.Contains(t, condition(t, got, awsv1.ConditionTypeAMIsReady).Message, "as of 2026-11-02T12:00:00Z")
	require.Contains(t, condition(t, got, awsv1.ConditionTypeAMIsReady).Message, "ThrottlingException")
	require.False(t, got.Selection.Empty())

	restarted := resolver(t, s.cloud)
	got = restarted.resolve(t, first.Class)
	require.NoError(t, got.Err())
	require.Equal(t, first.Class.Status.AMIs, got.Class.Status.AMIs)
	require.Contains(t, got.Stale[0], "as in the status before")
	require.True(t, got.Selection.Empty())

	// But not if the spec has changed meanwhile.
	changed := first.Class.DeepCopy()
	changed.Generation++
	got = resolver(t, s.cloud).resolve(t, changed)
	require.Empty(t, got.Class.Status.AMIs)
	is := condition(t, got, awsv1.ConditionTypeAMIsReady)
	require.Equal(t, metav1.ConditionUnknown, is.Status)
	require.Equal(t, nodeclass.ReasonLookupFailed, is.Reason)
	require.ErrorIs(t, got.Err(), cloudprovider.ErrThrottled)
	require.Positive(t, cloudprovider.RetryAfter(got.Err()))
	require.NotContains(t, is.Message, "retry after", "or it would change all the time")
}

// One of several parameters that cannot be read must not give a part of the images.
func TestPartOfParameters(t *testing.T) {
	c := account()
	s := resolver(t, c)
	c.Before = func(_ context.Context, operation string) error {
		if asked := c.Asked(); operation == "GetParameter" && asked[len(asked)-1] == "GetParameter "+eksImages+"x86_64/nvidia/recommended/image_id" {
			return Error("SSM", "GetParameter", "InternalServerError", "try again")
		}
		return nil
	}
	got := s.resolve(t, class())
	require.Empty(t, got.Class.Status.AMIs)
	require.Equal(t, metav1.ConditionUnknown, condition(t, got, awsv1.ConditionTypeAMIsReady).Status)

	// One that does not exist is no failure.
	c.Change(func(c *Cloud) {
		c.Before = nil
		delete(c.Parameters, eksImages+"x86_64/nvidia/recommended/image_id")
	})
	s.clock.SetTime(Noon.Add(10 * time.Minute))
	got = s.resolve(t, class())
	require.NoError(t, got.Err())
	require.Len(t, got.Class.Status.AMIs, 4)
}

// With all of EC2 out of reach a class that was ready stays ready.
func TestEverythingFailsAfterRestart(t *testing.T) {
	with := func(c *awsv1.EC2NodeClass) {
		c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-0123456789abcdef0"}}
	}
	s := resolver(t, account())
	s.cloud.Reservations = []ec2types.CapacityReservation{{CapacityReservationId: new("cr-0123456789abcdef0"), InstanceType: new("m5.large"),
		AvailabilityZone: new("us-east-1a"), OwnerId: new("123456789012"), InstanceMatchCriteria: "targeted", State: "active", AvailableInstanceCount: new(int32(3))}}
	first := s.resolve(t, class(with))
	require.NoError(t, first.Err())
	require.Len(t, first.Class.Status.CapacityReservations, 1)
	for _, operation := range []string{"GetParameter", "DescribeImages", "DescribeSubnets", "DescribeSecurityGroups", "DescribeCapacityReservations"} {
		failCall(s.cloud, operation, "InternalError")
	}
	got := resolver(t, s.cloud).resolve(t, first.Class)
	require.NoError(t, got.Err())
	require.Len(t, got.Stale, 4)
	want := first.Class.Status
	require.Equal(t, []any{want.AMIs, want.Subnets, want.SecurityGroups, want.CapacityReservations},
		[]any{got.Class.Status.AMIs, got.Class.Status.Subnets, got.Class.Status.SecurityGroups, got.Class.Status.CapacityReservations})
	require.Equal(t, "subnet-a", got.Subnets[0].ID)

	got = resolver(t, s.cloud).resolve(t, class(with))
	ready := condition(t, got, awsv1.ConditionTypeReady)
	require.Equal(t, metav1.ConditionUnknown, ready.Status)
	require.Equal(t, nodeclass.ReasonReconcilingDependents, ready.Reason)
	require.NotErrorIs(t, got.Err(), cloudprovider.ErrNotReady, "nothing is known to be wrong with the class")
	require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(got.Err()))
}

func TestReservations(t *testing.T) {
	s := resolver(t, account())
	one := func(id string, ends time.Time) ec2types.CapacityReservation {
		return ec2types.CapacityReservation{CapacityReservationId: &id, InstanceType: new("p5.48xlarge"), AvailabilityZone: new("us-east-1a"), OwnerId: new("123456789012"),
			InstanceMatchCriteria: "targeted", State: "active", ReservationType: ec2types.CapacityReservationTypeCapacityBlock, EndDate: &ends, Tags: tags("team", "ml")}
	}
	broken := one("cr-9", Noon.Add(time.Hour))
	broken.InstanceType = nil
	s.cloud.Reservations = []ec2types.CapacityReservation{one("cr-2", Noon.Add(24*time.Hour)), one("cr-1", Noon.Add(40*time.Minute+30*time.Second)), one("cr-3", Noon.Add(-time.Minute)), broken}
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "ml"}}}
	})
	got := s.resolve(t, c)
	require.NoError(t, got.Err())
	require.Len(t, got.Class.Status.CapacityReservations, 2)
	require.Equal(t, "cr-1", got.Class.Status.CapacityReservations[0].ID)
	require.Equal(t, Noon.Add(30*time.Second), got.Next, "when the first of them is to be drained")
	require.Contains(t, condition(t, got, awsv1.ConditionTypeCapacityReservationsReady).Message, "cr-9")

	off := resolver(t, s.cloud, func(_ *api.Clients, _ *nodeclass.Options, o *nodeclass.ResolverOptions) { o.ReservedCapacity = false })
	s.cloud.Calls()
	got = off.resolve(t, c)
	require.NoError(t, got.Err())
	require.Empty(t, got.Class.Status.CapacityReservations)
	require.Zero(t, s.cloud.Calls()["DescribeCapacityReservations"])
	require.Len(t, got.Class.Status.Conditions, 7)
}

func TestResolvePlacementGroup(t *testing.T) {
	s := resolver(t, account())
	s.cloud.PlacementGroups = []ec2types.PlacementGroup{{GroupId: new("pg-1"), GroupName: new("ring"), State: ec2types.PlacementGroupStateAvailable}}
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("ring")}
	})
	got := s.resolve(t, c)
	require.NoError(t, got.Err())
	require.Equal(t, "pg-1", *got.PlacementGroup.GroupId)

	// A group that could not be read is not one that is not there.
	failCall(s.cloud, "DescribePlacementGroups", "InternalError")
	got = resolver(t, s.cloud).resolve(t, c)
	is := condition(t, got, awsv1.ConditionTypePlacementGroupReady)
	require.Equal(t, metav1.ConditionUnknown, is.Status)
	require.Equal(t, awsv1.ReasonPlacementGroupResolutionFailed, is.Reason)
	require.Error(t, got.Err())
}

type profiles struct {
	name string
	err  error
	saw  []string
}

func (p *profiles) Ensure(_ context.Context, c *awsv1.EC2NodeClass) (string, error) {
	p.saw = append(p.saw, c.Spec.Role+" "+c.Status.InstanceProfile)
	return p.name, p.err
}

func TestInstanceProfile(t *testing.T) {
	p := &profiles{name: "shop_1"}
	s := resolver(t, account(), func(_ *api.Clients, _ *nodeclass.Options, o *nodeclass.ResolverOptions) { o.Profiles = p })
	c := class(func(c *awsv1.EC2NodeClass) { c.Spec.InstanceProfile, c.Spec.Role = nil, "node-role" })
	got := s.resolve(t, c)
	require.NoError(t, got.Err())
	require.Equal(t, "shop_1", got.Class.Status.InstanceProfile)
	p.err = errors.New("connection reset")
	p.name = ""
	got = s.resolve(t, got.Class)
	require.NoError(t, got.Err())
	require.Equal(t, "shop_1", got.Class.Status.InstanceProfile)
	require.Equal(t, []string{"node-role ", "node-role shop_1"}, p.saw)

	// Who makes profiles still sees it after a failure that follows a change of the spec.
	changed := got.Class.DeepCopy()
	changed.Generation++
	got = s.resolve(t, changed)
	require.Equal(t, metav1.ConditionUnknown, condition(t, got, awsv1.ConditionTypeInstanceProfileReady).Status)
	require.Equal(t, "shop_1", got.Class.Status.InstanceProfile)
	got = s.resolve(t, got.Class)
	require.Equal(t, "shop_1", got.Class.Status.InstanceProfile)
	require.Equal(t, []string{"node-role shop_1", "node-role shop_1"}, p.saw[2:])
	p.err = &cloudprovider.Error{Kind: cloudprovider.KindNotFound, Err: errors.New("the role cannot be found")}
	got = s.resolve(t, c)
	is := condition(t, got, awsv1.ConditionTypeInstanceProfileReady)
	require.Equal(t, nodeclass.ReasonRoleNotFound, is.Reason)
	require.Contains(t, is.Message, `spec.role: "node-role"`)
	require.ErrorIs(t, got.Err(), cloudprovider.ErrNotReady)
}

func TestDryRun(t *testing.T) {
	reason, failure, tried := "", error(nil), 0
	s := resolver(t, account(), func(_ *api.Clients, _ *nodeclass.Options, o *nodeclass.ResolverOptions) {
		o.DryRun = func(_ context.Context, c *awsv1.EC2NodeClass) (string, string, error) {
			tried++
			require.NotEmpty(t, c.Status.Subnets)
			require.NotEmpty(t, c.Status.AMIs)
			return reason, "ask for ec2:CreateFleet", failure
		}
	})
	require.NoError(t, s.resolve(t, class()).Err())
	reason = awsv1.ReasonCreateFleetAuthCheckFailed
	got := s.resolve(t, class())
	require.ErrorIs(t, got.Err(), cloudprovider.ErrNotReady)
	require.ErrorContains(t, got.Err(), "ask for ec2:CreateFleet")
	failure = errors.New("broken pipe")
	got = s.resolve(t, class())
	require.Equal(t, metav1.ConditionUnknown, condition(t, got, awsv1.ConditionTypeValidationSucceeded).Status)
	require.ErrorContains(t, got.Err(), "broken pipe")
	require.Equal(t, 3, tried)
	s.resolve(t, class(func(c *awsv1.EC2NodeClass) { c.Spec.SubnetSelectorTerms[0].Tags["team"] = "x" }))
	require.Equal(t, 3, tried, "not while something is missing")
}

func TestServiceAddresses(t *testing.T) {
	s := resolver(t, account(), func(c *api.Clients, o *nodeclass.Options, _ *nodeclass.ResolverOptions) {
		c.EKS, o.KubernetesVersion = nil, "1.34"
	})
	got := s.resolve(t, class())
	require.Equal(t, awsv1.ReasonClusterCIDRResolutionFailed, condition(t, got, awsv1.ConditionTypeValidationSucceeded).Reason)
	s = resolver(t, account(), func(c *api.Clients, o *nodeclass.Options, _ *nodeclass.ResolverOptions) {
		c.EKS, o.KubernetesVersion, o.ServiceCIDR = nil, "1.34", "10.0.0.0/16"
	})
	require.NoError(t, s.resolve(t, class()).Err())
	s = resolver(t, account(), func(c *api.Clients, o *nodeclass.Options, _ *nodeclass.ResolverOptions) { c.EKS = nil })
	got = s.resolve(t, class())
	require.ErrorContains(t, got.Err(), "kubernetesVersion")
}

// The cluster cannot be read and was not before: nothing is known to be wrong.
func TestClusterUnknown(t *testing.T) {
	s := resolver(t, account())
	failCall(s.cloud, "DescribeCluster", "ThrottlingException")
	family := amiselect.FamilyAL2023
	got := s.resolve(t, class(func(c *awsv1.EC2NodeClass) {
		c.Spec.AMIFamily, c.Spec.AMISelectorTerms = &family, []awsv1.AMISelectorTerm{{Tags: map[string]string{"none": "none"}}}
	}))
	is := condition(t, got, awsv1.ConditionTypeValidationSucceeded)
	require.Equal(t, metav1.ConditionUnknown, is.Status)
	require.Equal(t, awsv1.ReasonClusterCIDRResolutionFailed, is.Reason)
	got = s.resolve(t, class())
	require.Equal(t, metav1.ConditionUnknown, condition(t, got, awsv1.ConditionTypeAMIsReady).Status)
	require.ErrorIs(t, got.Err(), cloudprovider.ErrThrottled)
}

// If the subnets are in two networks, groups are not restricted to one of them.
func TestSubnetsOfTwoNetworks(t *testing.T) {
	s := resolver(t, account())
	s.cloud.Subnets[0].VpcId = new("vpc-9")
	got := s.resolve(t, class())
	require.NoError(t, got.Err())
	require.Len(t, got.Class.Status.SecurityGroups, 3)

	s = resolver(t, account())
	got = s.resolve(t, class(func(c *awsv1.EC2NodeClass) {
		c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-3"}, {Name: "nodes"}}
	}))
	require.Equal(t, []awsv1.SecurityGroup{{ID: "sg-2", Name: "nodes"}, {ID: "sg-3", Name: "nodes"}}, got.Class.Status.SecurityGroups,
		"who names one by id should hear of it")
}

// Which groups count hangs on the network of the subnets: while that is not known, those
// of another network are not taken for selected.
func TestGroupsWhileTheNetworkIsUnknown(t *testing.T) {
	ready := resolver(t, account()).resolve(t, class()).Class
	byID := func(c *awsv1.EC2NodeClass) {
		c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-3"}, {ID: "sg-1"}}
	}
	silent := func(c *Cloud) { failCall(c, "DescribeSubnets", "InternalError") }
	untagged := func(c *Cloud) { c.Change(func(c *Cloud) { c.Subnets = nil }) }
	for name, tt := range map[string]struct {
		class  *awsv1.EC2NodeClass
		edit   func(*awsv1.EC2NodeClass)
		cloud  func(*Cloud)
		status metav1.ConditionStatus
		reason string
		groups []string
	}{
		"a new process, and EC2 does not answer": {class: ready, cloud: silent,
			status: metav1.ConditionTrue, reason: awsv1.ConditionTypeSecurityGroupsReady, groups: []string{"sg-1", "sg-2"}},
		"there is nothing of before either": {class: class(), cloud: silent,
			status: metav1.ConditionUnknown, reason: nodeclass.ReasonLookupFailed},
		"groups were not found before": {class: ready, edit: func(c *awsv1.EC2NodeClass) {
			c.Status.SecurityGroups = nil
			for i := range c.Status.Conditions {
				if one := &c.Status.Conditions[i]; one.Type == awsv1.ConditionTypeSecurityGroupsReady {
					one.Status = metav1.ConditionFalse
				}
			}
		}, cloud: silent, status: metav1.ConditionUnknown, reason: nodeclass.ReasonLookupFailed},
		"the subnets are gone": {class: ready, cloud: untagged,
			status: metav1.ConditionTrue, reason: awsv1.ConditionTypeSecurityGroupsReady, groups: []string{"sg-1", "sg-2"}},
		"a typo": {class: ready, edit: func(c *awsv1.EC2NodeClass) {
			c.Spec.SubnetSelectorTerms[0].Tags["team"], c.Generation = "wbe", c.Generation+1
		}, status: metav1.ConditionUnknown, reason: awsv1.ReasonDependenciesNotReady},
		"a fault of the terms": {class: ready, edit: func(c *awsv1.EC2NodeClass) {
			c.Spec.SubnetSelectorTerms, c.Generation = nil, c.Generation+1
		}, status: metav1.ConditionUnknown, reason: awsv1.ReasonDependenciesNotReady},
		"groups by id need no network": {class: ready, edit: byID, cloud: silent,
			status: metav1.ConditionTrue, reason: awsv1.ConditionTypeSecurityGroupsReady, groups: []string{"sg-1", "sg-3"}},
		"no group in any network": {class: ready, edit: func(c *awsv1.EC2NodeClass) {
			c.Spec.SecurityGroupSelectorTerms[0].Tags["team"] = "nobody"
		}, cloud: silent, status: metav1.ConditionFalse, reason: awsv1.ReasonSecurityGroupsNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			c, cloud := tt.class.DeepCopy(), account()
			if tt.edit != nil {
				tt.edit(c)
			}
			if tt.cloud != nil {
				tt.cloud(cloud)
			}
			got := resolver(t, cloud).resolve(t, c)
			is := condition(t, got, awsv1.ConditionTypeSecurityGroupsReady)
			require.Equal(t, tt.status, is.Status, is.Message)
			require.Equal(t, tt.reason, is.Reason, is.Message)
			var groups []string
			for _, g := range got.Class.Status.SecurityGroups {
				groups = append(groups, g.ID)
			}
			require.Equal(t, tt.groups, groups)
			if err := got.Err(); err != nil {
				require.Regexp(t, `SubnetsReady: .|SecurityGroupsReady: .`, err.Error(), "it says why")
			}
		})
	}
}

// A message is no longer than the API server takes.
func TestLongMessage(t *testing.T) {
	got := resolver(t, account()).resolve(t, class(func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms = nil
		for i := range 30 {
			tags := map[string]string{}
			for j := range 20 {
				tags["key-"+strconv.Itoa(j)] = strconv.Itoa(i) + strings.Repeat("é", 100)
			}
			c.Spec.SubnetSelectorTerms = append(c.Spec.SubnetSelectorTerms, awsv1.SubnetSelectorTerm{Tags: tags})
		}
	}))
	message := condition(t, got, awsv1.ConditionTypeSubnetsReady).Message
	require.LessOrEqual(t, len(message), 32768)
	require.Greater(t, len(message), 32000)
	require.True(t, utf8.ValidString(message))
}

// Without a client for parameters images are known by their names.
func TestWithoutSSM(t *testing.T) {
	s := resolver(t, account(), func(c *api.Clients, _ *nodeclass.Options, _ *nodeclass.ResolverOptions) { c.SSM = nil })
	got := s.resolve(t, class())
	require.NoError(t, got.Err())
	require.Len(t, got.Class.Status.AMIs, 5)
	got = s.resolve(t, class(func(c *awsv1.EC2NodeClass) {
		family := amiselect.FamilyAL2023
		c.Spec.AMIFamily, c.Spec.AMISelectorTerms = &family, []awsv1.AMISelectorTerm{{SSMParameter: "/mine"}}
	}))
	is := condition(t, got, awsv1.ConditionTypeAMIsReady)
	require.Equal(t, metav1.ConditionFalse, is.Status)
	require.Contains(t, is.Message, "/mine")
}

func TestOtherImageTerms(t *testing.T) {
	family := amiselect.FamilyCustom
	mine := publicImage("ami-0aa", "golden-7", "x86_64", "2026-10-05T00:00:00.000Z")
	mine.OwnerId, mine.ImageOwnerAlias, mine.Tags = new("111122223333"), nil, tags("stage", "prod")
	old := publicImage("ami-0bb", "golden-6", "x86_64", "2026-09-05T00:00:00.000Z")
	old.OwnerId, old.ImageOwnerAlias, old.DeprecationTime = new("111122223333"), nil, new("2026-10-01T00:00:00Z")
	for name, tt := range map[string]struct {
		term awsv1.AMISelectorTerm
		want string
	}{
		"name, of the account that asks": {awsv1.AMISelectorTerm{Name: "golden-*"}, "ami-0aa"},
		"owner self":                     {awsv1.AMISelectorTerm{Name: "golden-6", Owner: "self"}, "ami-0bb"},
		"tags":                           {awsv1.AMISelectorTerm{Tags: map[string]string{"stage": "prod"}}, "ami-0aa"},
		"id":                             {awsv1.AMISelectorTerm{ID: "ami-0bb"}, "ami-0bb"},
		"parameter":                      {awsv1.AMISelectorTerm{SSMParameter: "/golden"}, "ami-0aa"},
		"nothing of one's own":           {awsv1.AMISelectorTerm{Name: "none-*"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := account()
			c.Images, c.Parameters = append(c.Images, mine, old), map[string]string{"/golden": "ami-0aa"}
			got := resolver(t, c).resolve(t, class(func(c *awsv1.EC2NodeClass) {
				c.Spec.AMIFamily, c.Spec.AMISelectorTerms = &family, []awsv1.AMISelectorTerm{tt.term}
			}))
			if tt.want == "" {
				require.Equal(t, awsv1.ReasonAMINotFound, condition(t, got, awsv1.ConditionTypeAMIsReady).Reason)
				return
			}
			require.NoError(t, got.Err())
			require.Len(t, got.Class.Status.AMIs, 1)
			require.Equal(t, tt.want, got.Class.Status.AMIs[0].ID)
			require.Equal(t, tt.want == "ami-0bb", got.Class.Status.AMIs[0].Deprecated)
		})
	}
}

func TestMinImageAgeAndDeny(t *testing.T) {
	c := account()
	c.Images = append(c.Images, publicImage("ami-older", v1Name+"x86_64-standard-1.34-v20260901", "x86_64", "2026-09-01T01:00:00.000Z"))
	s := resolver(t, c, func(_ *api.Clients, _ *nodeclass.Options, o *nodeclass.ResolverOptions) {
		o.MinImageAge, o.DenyImages = 40*24*time.Hour, []string{"ami-none"}
	})
	got := s.resolve(t, class())
	require.NoError(t, got.Err())
	require.Len(t, got.Class.Status.AMIs, 1)
	require.Equal(t, "ami-older", got.Class.Status.AMIs[0].ID)
}

// A hundred classes with one alias, and a refresh of all.
func TestHundredClassesOneQuestion(t *testing.T) {
	s := resolver(t, account())
	for range 2 {
		for i := range 100 {
			require.NoError(t, s.resolve(t, class(func(c *awsv1.EC2NodeClass) { c.Name = "web-" + strconv.Itoa(i) })).Err())
		}
		calls := s.cloud.Calls()
		require.Equal(t, map[string]int{"GetParameter": 5, "DescribeImages": 1, "DescribeSubnets": 1, "DescribeSecurityGroups": 1, "DescribeCluster": 1}, calls)
		s.clock.Step(5 * time.Minute)
	}
}

func TestContextAndNil(t *testing.T) {
	s := resolver(t, account())
	_, err := s.resolver.Resolve(bg, nil)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_, err = s.resolver.Resolve(ctx, class())
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, s.cloud.Calls())
	ctx, cancel = context.WithCancel(bg)
	s.cloud.Before = func(_ context.Context, operation string) error {
		if operation == "DescribeSubnets" {
			cancel()
		}
		return ctx.Err()
	}
	_, err = s.resolver.Resolve(ctx, class())
	require.ErrorIs(t, err, context.Canceled)
}
