package aws_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
)

// A class with a fault launches nothing and says what is wrong.
func TestBadClasses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*awsv1.EC2NodeClass)
		text   []string
	}{
		"unknown alias":         {func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "ubuntu@latest" }, []string{"amiSelectorTerms[0].alias", "ubuntu"}},
		"pin that is not there": {func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "al2023@v20010101" }, []string{"al2023@v20010101"}},
		"no subnet": {func(c *awsv1.EC2NodeClass) { c.Spec.SubnetSelectorTerms[0].Tags = map[string]string{"no": "such"} },
			[]string{"subnetSelectorTerms"}},
		"no security group": {func(c *awsv1.EC2NodeClass) {
			c.Spec.SecurityGroupSelectorTerms[0].Tags = map[string]string{"no": "such"}
		},
			[]string{"securityGroupSelectorTerms"}},
		"role missing": {func(c *awsv1.EC2NodeClass) { c.Spec.Role = "NoSuchRole" }, []string{"spec.role", "NoSuchRole"}},
		"instance profile missing": {func(c *awsv1.EC2NodeClass) { c.Spec.Role, c.Spec.InstanceProfile = "", new("nobody") },
			[]string{"InstanceProfileNotFound", "spec.instanceProfile: nobody: there is no such instance profile; create it, or name another"}},
		"user data too large": {func(c *awsv1.EC2NodeClass) { c.Spec.UserData = new("#!/bin/sh\n" + strings.Repeat("#", 17_000)) },
			[]string{"user data", "16384"}},
		"block device size": {func(c *awsv1.EC2NodeClass) {
			c.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("100Ti"))}}}
		}, []string{"blockDeviceMappings[0].ebs.volumeSize", "100Ti"}},
		"restricted tag": {func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"karpenter.sh/nodepool": "x"} }, []string{"spec.tags"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			req := s.request("one", large)
			s.cloud.ForgetCalls()
			c.change(s.class)
			s.class.Generation++
			_, err := s.p.Create(t.Context(), req)
			require.Error(t, err)
			require.ErrorIs(t, err, cloudprovider.ErrNotReady)
			for _, text := range append(c.text, "default") {
				require.Contains(t, err.Error(), text)
			}
			require.ErrorIs(t, s.p.NodeClassReady(t.Context(), req.NodeClassRef), cloudprovider.ErrNotReady)
			class := s.read()
			require.NotEmpty(t, class.Status.Conditions)
			require.Zero(t, s.cloud.Running())
			for _, call := range s.cloud.Calls() {
				require.False(t, call.Action == "CreateFleet" && !call.DryRun, "nothing is launched")
			}
		})
	}
}

// A class that leaves no instance type a pod stays Ready, as in Karpenter, and says why nothing is launched.
func TestNoInstanceTypeIsLeft(t *testing.T) {
	s := newScene(t)
	s.class.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(0))}
	s.class.Generation++
	require.Empty(t, s.class.Validate())
	types, err := s.p.InstanceTypes(t.Context(), nodePool())
	require.NoError(t, err)
	require.Empty(t, types)
	status := s.read().Status
	at := slices.IndexFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == awsv1.ConditionTypeValidationSucceeded })
	require.Equal(t, metav1.ConditionTrue, status.Conditions[at].Status)
	require.Regexp(t, `^not tried, as no instance type can be launched now: all \d+ are left out, such as [a-z0-9.-]+: no address for a pod is left because of maxPods, [^;]*$`,
		status.Conditions[at].Message)
}

// What is wrong is said once, without the id of a request.
func TestRemediesAreSaidOnce(t *testing.T) {
	s := newScene(t)
	req := s.request("one", large)
	s.script(awstest.Fault{Op: "CreateFleet", Err: awstest.ErrDenied})
	_, err := s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.Equal(t, 1, strings.Count(err.Error(), "allow the controller"), err)
	require.ErrorContains(t, err, "allow the controller ec2:CreateFleet, as the policies in aws/iam do")

	s = newScene(t)
	s.class.Spec.Role = "nosuch"
	s.class.Generation++
	status := s.read().Status
	at := slices.IndexFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == awsv1.ConditionTypeInstanceProfileReady })
	require.Equal(t, `spec.role: "nosuch": IAM has no such role; create it, or name another`, status.Conditions[at].Message)
}

// A class is Ready soon after the instance profile that it names was made.
func TestInstanceProfileMadeLater(t *testing.T) {
	s := newScene(t)
	s.class.Spec.Role, s.class.Spec.InstanceProfile = "", new("late")
	s.class.Generation++
	ready := func() error { return s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef) }
	require.ErrorContains(t, ready(), "InstanceProfileNotFound")
	s.cloud.AddInstanceProfile(awstest.InstanceProfile{Name: "late", Role: "KarpenterNodeRole-demo"})
	s.pass(time.Minute)
	require.NoError(t, ready())
}

func TestDryRunsAreFewAndTellWhatIsNotAllowed(t *testing.T) {
	for action, reason := range map[string]string{
		"CreateLaunchTemplate": awsv1.ReasonCreateLaunchTemplateAuthCheckFailed,
		"CreateFleet":          awsv1.ReasonCreateFleetAuthCheckFailed,
		"RunInstances":         awsv1.ReasonRunInstancesAuthCheckFailed,
	} {
		t.Run(action, func(t *testing.T) {
			s := newScene(t)
			s.script(awstest.Fault{Op: action, Err: awstest.ErrDenied})
			for range 5 {
				err := s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef)
				require.ErrorIs(t, err, cloudprovider.ErrNotReady)
				require.ErrorContains(t, err, "ec2:"+action)
			}
			class := s.read()
			require.Contains(t, reasons(class.Status), reason)
			require.LessOrEqual(t, s.cloud.Count(action), 3)
		})
	}
	s := newScene(t, func(s *scene) { s.opts.NoDryRun = true })
	s.script(awstest.Fault{Op: "RunInstances", Err: awstest.ErrDenied})
	require.NoError(t, s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef))
	require.Zero(t, s.cloud.Count("RunInstances"))
}

// A dry run that is due is made beside the caller, who gets the answer of before; and
// one that gives none leaves that in force.
func TestADryRunThatIsDueHoldsUpNobody(t *testing.T) {
	ready := func(s *scene) error {
		return s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef)
	}
	for name, fault := range map[string]awstest.Fault{
		"broken":  {Op: "RunInstances", Err: awstest.ErrBroken},
		"hanging": {Op: "RunInstances", Err: awstest.ErrHang},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			require.NoError(t, ready(s))
			before := s.cloud.Count("RunInstances")
			s.script(fault)
			s.cloud.Advance(31 * time.Minute)
			for range 5 {
				require.NoError(t, ready(s), "what is known")
			}
			require.Eventually(t, func() bool { return s.cloud.Count("RunInstances") > before }, 30*time.Second, time.Millisecond)
			require.NoError(t, ready(s), "what is known")
		})
	}
	// That it is not allowed any more is an answer.
	s := newScene(t)
	require.NoError(t, ready(s))
	s.script(awstest.Fault{Op: "RunInstances", Err: awstest.ErrDenied})
	s.cloud.Advance(31 * time.Minute)
	require.NoError(t, ready(s), "what is known")
	require.Eventually(t, func() bool { return ready(s) != nil }, 30*time.Second, time.Millisecond)
	require.ErrorContains(t, ready(s), "ec2:RunInstances")
}

func reasons(status awsv1.EC2NodeClassStatus) []string {
	var out []string
	for _, c := range status.Conditions {
		out = append(out, c.Reason)
	}
	return out
}

func TestClassesThatAreNotThere(t *testing.T) {
	s := newScene(t)
	pool := nodePool()
	pool.Spec.Template.Spec.NodeClassRef.Name = "gone"
	_, err := s.p.InstanceTypes(t.Context(), pool)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	require.ErrorContains(t, err, "EC2NodeClass gone")
	_, err = s.p.InstanceTypes(t.Context(), nil)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	broken := newScene(t, func(s *scene) {
		s.opts.NodeClasses = func(context.Context, string) (*awsv1.EC2NodeClass, error) { return nil, errors.New("no API server") }
	})
	_, err = broken.p.InstanceTypes(t.Context(), nodePool())
	require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err))
	s.class.DeletionTimestamp = new(metav1.NewTime(s.cloud.Now()))
	require.ErrorIs(t, s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef), cloudprovider.ErrNotReady)
	_, err = s.p.InstanceTypes(t.Context(), nodePool())
	require.NoError(t, err, "nodes of it still run")
}

func TestLastGoodAnswersStayInForce(t *testing.T) {
	s := newScene(t)
	s.create("one", large)
	for _, action := range []string{"GetParameter", "GetProducts", "DescribeSpotPriceHistory", "DescribeImages", "DescribeSubnets", "DescribeInstanceTypes"} {
		s.script(awstest.Fault{Op: action, Err: awstest.ErrBroken})
	}
	s.cloud.Advance(24 * time.Hour)
	req := s.request("two", large)
	s.launch(req)
	// What is known answers at once, and is asked for anew beside the caller.
	require.Eventually(t, func() bool {
		now, err := s.p.Status(t.Context())
		require.NoError(t, err)
		return slices.ContainsFunc(now.Prices, func(p aws.PriceSource) bool { return p.Failures > 0 })
	}, 30*time.Second, time.Millisecond, "prices say that they are old")
	require.Eventually(t, func() bool {
		now, err := s.p.Status(t.Context())
		require.NoError(t, err)
		return slices.ContainsFunc(now.Lookups, func(l aws.Lookup) bool { return l.Failures > 0 && l.Err != nil })
	}, 30*time.Second, time.Millisecond, "so do other answers")
	s.read()
}

func TestNew(t *testing.T) {
	_, err := aws.New(aws.Clients{}, &aws.Options{
		ReservedENIs: -1, MemoryOverhead: "lots", ImageRefresh: time.Second, MinImageAge: -1, TemplateRetention: -1, Batch: aws.Batch{Max: -1},
	})
	for _, text := range []string{
		"region: empty", "cluster.name: empty", "nodeClasses: nil", "memoryOverhead", "reservedENIs: -1", "imageRefresh: 1s", "minImageAge", "templateRetention", "batch: max", "EC2: nil",
	} {
		require.ErrorContains(t, err, text)
	}
	s := newScene(t)
	s.cloud.ForgetCalls()
	_, err = aws.New(clients(s.config), &s.opts)
	require.NoError(t, err)
	require.Empty(t, s.cloud.Calls(), "nothing is called")
	s.opts.Availability = &availability.Options{TTL: -1}
	_, err = aws.New(clients(s.config), &s.opts)
	require.ErrorContains(t, err, "ttl")
	s.opts.Availability, s.opts.DenyImages = nil, []string{""}
	_, err = aws.New(clients(s.config), &s.opts)
	require.ErrorContains(t, err, "denyImages[0]")
}
