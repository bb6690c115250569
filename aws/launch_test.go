package aws_test

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestWhatALaunchPutsIntoEC2(t *testing.T) {
	s := newScene(t, func(s *scene) {
		s.class.Spec.Tags = map[string]string{"team": "a", "Name": "mine"}
		s.class.Spec.UserData = new("#!/bin/sh\necho mine\n")
	})
	req := s.request("one", large)
	req.Labels = map[string]string{"example.com/team": "a"}
	req.Taints = []corev1.Taint{{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	i := s.launch(req)
	require.Equal(t, "us-east-1", i.Labels[corev1.LabelTopologyRegion])
	require.Equal(t, "default", i.Labels[awsv1.LabelInstanceTenancy])
	require.Equal(t, "general", i.Labels[karpv1.NodePoolLabelKey])
	require.Equal(t, "default", i.Labels[awsv1.LabelNodeClass])

	one := s.cloud.Instances()[0]
	for key, want := range map[string]string{
		"team": "a", "Name": "mine", "karpenter.sh/nodepool": "general", "karpenter.sh/nodeclaim": "general-one",
		"karpenter.k8s.aws/ec2nodeclass": "default", "eks:eks-cluster-name": "demo", "kubernetes.io/cluster/demo": "owned",
	} {
		require.Equal(t, want, one.Tags[key], key)
	}
	all := s.cloud.LaunchTemplates()
	require.Len(t, all, 2, "one is of the dry run")
	lt := all[slices.IndexFunc(all, func(l awstest.LaunchTemplate) bool { return l.Tags["karpenter.sh/nodepool"] != "" })]
	require.True(t, strings.HasPrefix(lt.Name, "karpenter.k8s.aws/"))
	require.Equal(t, "general", lt.Tags["karpenter.sh/nodepool"])
	for _, text := range []string{"echo mine", "example.com/team=a", "karpenter.sh/capacity-type=on-demand", "karpenter.sh/unregistered", "key: dedicated", "maxPods: 29", "karpenter.sh/nodepool=general"} {
		require.Contains(t, lt.UserData, text)
	}
	require.NotEmpty(t, lt.InstanceProfile)
}

func TestTemplatesAreOnePerImageAndNumberOfPods(t *testing.T) {
	s := newScene(t)
	_ = s.create("one", onDemand)
	templates := len(s.cloud.LaunchTemplates())
	require.Greater(t, templates, 2)
	s.class.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(20))}
	fewer := newScene(t, func(o *scene) { o.class = s.class })
	_ = fewer.create("one", onDemand)
	require.Less(t, len(fewer.cloud.LaunchTemplates()), templates, "one number of pods for all")
	s.cloud.ForgetCalls()
	_ = s.create("two", onDemand)
	require.Zero(t, s.cloud.Count("DescribeLaunchTemplates")-s.cloud.Count("CreateLaunchTemplate"), "what was made is known")
}

func TestExpressionsReachNodes(t *testing.T) {
	s := newScene(t, func(s *scene) {
		s.opts.KubeletExpressions = kubeletcel.New()
		s.class.Spec.Kubelet = &awsv1.KubeletConfiguration{
			MaxPods:      new(intstr.FromString("min(max_pods - 1, vcpus * 8)")),
			KubeReserved: map[string]string{"cpu": "vcpus * 31", "memory": "10 * max_pods + 1", "ephemeral-storage": "2Gi"},
		}
	})
	two := func(o cloudprovider.LaunchOption) bool {
		return onDemand(o) && (o.InstanceType.Name == "m5.large" || o.InstanceType.Name == "m5.xlarge")
	}
	for _, o := range s.request("ask", two).Options {
		vcpus := o.InstanceType.Capacity.Get(corev1.ResourceCPU) / 1000
		require.Equal(t, vcpus*8, o.InstanceType.Capacity.Get(corev1.ResourcePods))
		require.Equal(t, map[int64]int64{2: 70, 4: 130}[vcpus], o.InstanceType.Overhead.KubeReserved.Get(corev1.ResourceCPU))
		require.Equal(t, map[int64]int64{2: 176, 4: 336}[vcpus]<<20, o.InstanceType.Overhead.KubeReserved.Get(corev1.ResourceMemory))
	}
	_ = s.create("one", two)
	var texts []string
	for _, lt := range s.cloud.LaunchTemplates() {
		texts = append(texts, lt.UserData)
	}
	text := strings.Join(texts, "\n")
	for _, want := range []string{"maxPods: 16", "maxPods: 32", "cpu: 70m", "cpu: 130m", "memory: 176Mi", "memory: 336Mi", "ephemeral-storage: 2Gi"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "max_pods")

	s.class = s.class.DeepCopy()
	s.class.Spec.Kubelet.KubeReserved["cpu"] = `instance_type.startsWith("m5.") ? 0 - vcpus : 1`
	class := s.read()
	i := slices.IndexFunc(class.Status.Conditions, func(c metav1.Condition) bool { return c.Type == awsv1.ConditionTypeValidationSucceeded })
	require.Equal(t, awsv1.ReasonKubeletExpressionEvaluationFailed, class.Status.Conditions[i].Reason)
	require.Contains(t, class.Status.Conditions[i].Message, `for m5.2xlarge: it is -8; make it zero or more, as by max`)
	require.Contains(t, class.Status.Conditions[i].Message, "more instance types")
	require.NotContains(t, class.Status.Conditions[i].Message, "\n")

	s.opts.KubeletExpressions = nil
	err := s.provider().NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef)
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	require.ErrorContains(t, err, "expressions are switched off")
}

// TestDevicesBringAdapters: who asks for adapters by dynamic resource allocation
// gets the network interfaces that its driver publishes.
func TestDevicesBringAdapters(t *testing.T) {
	s := newScene(t, func(s *scene) { s.opts.NVIDIADevices, s.opts.EFADevices = true, true })
	p4d := func(o cloudprovider.LaunchOption) bool { return onDemand(o) && o.InstanceType.Name == "p4d.24xlarge" }
	adapters := func() (n int) {
		for _, lt := range s.cloud.LaunchTemplates() {
			for key, value := range lt.Data {
				if strings.Contains(key, "InterfaceType") && strings.HasPrefix(value, "efa") && lt.Tags[karpv1.NodePoolLabelKey] != "" {
					n++
				}
			}
		}
		return n
	}
	req := s.request("one", p4d)
	drivers := map[string]int{}
	for _, d := range req.Options[0].InstanceType.Devices {
		drivers[d.Driver] += d.Count
	}
	require.Equal(t, map[string]int{"gpu.nvidia.com": 8, "dra.net": 4}, drivers)
	req.Annotations = map[string]string{karpv1.DRADriversAnnotationKey: "gpu.nvidia.com"}
	s.launch(req)
	require.Zero(t, adapters())

	req = s.request("two", p4d)
	req.Annotations = map[string]string{karpv1.DRADriversAnnotationKey: "dra.net,gpu.nvidia.com"}
	s.launch(req)
	require.Equal(t, 4, adapters())
}

func TestSpotFallsBackToOnDemand(t *testing.T) {
	var warned []string
	var mu sync.Mutex
	s := newScene(t, func(s *scene) {
		s.opts.Warn = func(w aws.Warning) {
			mu.Lock()
			defer mu.Unlock()
			warned = append(warned, w.Reason)
		}
		s.world.NoSpotRole = true
	})
	req := s.request("one", func(o cloudprovider.LaunchOption) bool { return o.InstanceType.Name == "m5.large" })
	_, err := s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	var e *cloudprovider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, []cloudprovider.Scope{{CapacityType: "spot"}}, e.Scopes, "no spot at all")
	i := s.launch(req)
	require.Equal(t, "on-demand", i.CapacityType)
	require.Contains(t, warned, aws.WarnInflexible)
	types := s.types()
	for _, it := range types {
		for _, o := range it.Offerings {
			require.False(t, o.CapacityType == "spot" && o.Available)
		}
	}
}

func TestQuotaOfVCPUsIsNotAboutOneOffering(t *testing.T) {
	s := newScene(t, func(s *scene) { s.world.OnDemandVCPUs = 1 })
	_, err := s.p.Create(t.Context(), s.request("one", large))
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	require.Equal(t, "VcpuLimitExceeded", reason(err))
	_, err = s.p.Create(t.Context(), s.request("two", func(o cloudprovider.LaunchOption) bool { return o.Offering.CapacityType == "spot" }))
	require.NoError(t, err, "spot has a quota of its own")
}

func TestSubnetsWithoutAddresses(t *testing.T) {
	s := newScene(t)
	for _, n := range s.cloud.Options().Subnets {
		s.cloud.SetAddresses(*n.SubnetId, 0)
	}
	req := s.request("one", large)
	_, err := s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	require.Equal(t, "InsufficientFreeAddressesInSubnet", reason(err))
	require.ErrorContains(t, err, "larger subnet")
	for _, n := range s.cloud.Options().Subnets {
		s.cloud.SetAddresses(*n.SubnetId, 100)
	}
	s.pass(5 * time.Minute)
	_, err = s.p.Create(t.Context(), req)
	require.NoError(t, err, "once EC2 says that there are some")
}

// A zone is closed to all instance types, as all of them take addresses, until EC2 says
// that some are free again; and not before all of its subnets are full.
func TestAZoneWithoutAddressesIsNotAvailable(t *testing.T) {
	const first, second, other = "subnet-0a1", "subnet-0a2", "subnet-0b1"
	subnet := func(id, zone string) ec2types.Subnet {
		return ec2types.Subnet{SubnetId: &id, AvailabilityZone: &zone, AvailableIpAddressCount: new(int32(100)),
			CidrBlock: new("10.0.0.0/24"), Tags: tagsOf(map[string]string{"karpenter.sh/discovery": "demo"})}
	}
	s := newScene(t, func(s *scene) {
		s.world.Subnets = []ec2types.Subnet{subnet(first, "us-east-1a"), subnet(second, "us-east-1a"), subnet(other, "us-east-1b")}
	})
	// open is how many offerings are available in a zone.
	open := func(zone string) (n int) {
		types := s.types()
		for _, it := range types {
			for _, o := range it.Offerings {
				if o.Zone == zone && o.Available {
					n++
				}
			}
		}
		return n
	}
	here := func(o cloudprovider.LaunchOption) bool { return large(o) && o.Offering.Zone == "us-east-1a" }
	all, elsewhere := open("us-east-1a"), open("us-east-1b")
	require.Greater(t, all, 1)
	old := s.request("old", func(o cloudprovider.LaunchOption) bool {
		return onDemand(o) && o.InstanceType.Name != "m5.large" && o.Offering.Zone == "us-east-1a"
	})

	s.cloud.SetAddresses(first, 0)
	_, err := s.p.Create(t.Context(), s.request("one", here))
	require.Equal(t, "InsufficientFreeAddressesInSubnet", reason(err))
	require.Equal(t, all, open("us-east-1a"), "there is another subnet")
	s.cloud.SetAddresses(second, 0)
	_, err = s.p.Create(t.Context(), s.request("two", here))
	require.Equal(t, "InsufficientFreeAddressesInSubnet", reason(err))
	require.Zero(t, open("us-east-1a"))
	require.Equal(t, elsewhere, open("us-east-1b"))
	_, err = s.p.Create(t.Context(), old)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)

	s.pass(10 * time.Minute)
	require.Zero(t, open("us-east-1a"), "as long as EC2 says so")
	s.cloud.SetAddresses(second, 100)
	s.pass(2 * time.Minute)
	require.Equal(t, all, open("us-east-1a"))
	s.create("three", here)
}

func TestRequestsThatNeverWork(t *testing.T) {
	s := newScene(t)
	base := s.request("one", large)
	for text, change := range map[string]func(*cloudprovider.LaunchRequest){
		"cannot be the value of a tag": func(r *cloudprovider.LaunchRequest) { r.Name = "a/b" },
		"use default or dedicated": func(r *cloudprovider.LaunchRequest) {
			r.Requirements = requirements.NewSet(requirements.In(awsv1.LabelInstanceTenancy, "host"))
		},
		"plan anew": func(r *cloudprovider.LaunchRequest) {
			other := r.Options[0].InstanceType.Clone()
			other.Name = "m5.nosuch"
			r.Options = []cloudprovider.LaunchOption{{InstanceType: other, Offering: &other.Offerings[0]}}
		},
	} {
		req := base
		change(&req)
		_, err := s.p.Create(t.Context(), req)
		require.ErrorIs(t, err, cloudprovider.ErrDenied, text)
		require.ErrorContains(t, err, text)
	}
	require.Zero(t, s.cloud.Running())
}

func TestMinValues(t *testing.T) {
	s := newScene(t)
	req := s.request("one", large)
	req.Requirements = req.Requirements.With(requirements.Exists(corev1.LabelInstanceTypeStable).WithMinValues(2))
	_, err := s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	require.ErrorContains(t, err, "minValues")
	req.Annotations = map[string]string{karpv1.NodeClaimMinValuesRelaxedAnnotationKey: "true"}
	s.launch(req)
	s.opts.RelaxMinValues = true
	s.p = s.provider()
	req.Annotations, req.Token = nil, "two"
	s.launch(req)
}

func TestDedicatedTenancyAndPartitions(t *testing.T) {
	const group = "pg-0123456789abcdef0"
	s := newScene(t, func(s *scene) {
		s.world.PlacementGroups = []ec2types.PlacementGroup{{GroupId: new(group), GroupName: new("parts"),
			Strategy: ec2types.PlacementStrategyPartition, PartitionCount: new(int32(7)), State: "available"}}
		s.class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("parts")}
	})
	req := s.request("one", large)
	req.Requirements = req.Requirements.With(
		requirements.In(awsv1.LabelInstanceTenancy, "dedicated"), requirements.In(awsv1.LabelPlacementGroupPartition, "10", "3", "5"))
	i := s.launch(req)
	require.Equal(t, "dedicated", i.Labels[awsv1.LabelInstanceTenancy])
	require.Equal(t, group, i.Labels[awsv1.LabelPlacementGroupID])
	require.Equal(t, "3", i.Labels[awsv1.LabelPlacementGroupPartition], "the lowest by number")
	req.Token = "two"
	req.Requirements = requirements.NewSet(requirements.In(awsv1.LabelPlacementGroupPartition, "9"))
	_, err := s.p.Create(t.Context(), req)
	require.ErrorContains(t, err, "partitions 1 to 7")
}

func TestNothingIsTerminatedInAShiftedZone(t *testing.T) {
	s := newScene(t)
	i := s.create("one", func(o cloudprovider.LaunchOption) bool { return large(o) && o.Offering.Zone == "us-east-1a" })
	s.cloud.Shift("use1-az1", s.cloud.Now().Add(time.Hour))
	s.pass(time.Minute)
	err := s.p.Delete(t.Context(), i.ID)
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	require.ErrorContains(t, err, "us-east-1a")
	require.Equal(t, 1, s.cloud.Running())
	s.opts.DeleteInShiftedZones = true
	require.NoError(t, s.provider().Delete(t.Context(), i.ID))
	require.Zero(t, s.cloud.Running())
}

func TestAMinuteOfThrottlingIsNoError(t *testing.T) {
	s := newScene(t)
	cfg := s.config
	attempts := 0
	cfg.Retryer = func() sdk.Retryer { // that of aws.Retryer, on the clock of the cloud
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.RateLimiter = aws.Retryer().MaxAttempts(), unlimited{}
			o.Backoff = retry.BackoffDelayerFunc(func(attempt int, err error) (time.Duration, error) {
				attempts++
				d, err := aws.Retryer().RetryDelay(attempt, err)
				s.cloud.Advance(d)
				return 0, err
			})
		})
	}
	s.wrap = func(c aws.Clients) aws.Clients {
		c.EC2 = ec2.NewFromConfig(cfg)
		return c
	}
	s.p = s.provider()
	req := s.request("one", large)
	s.script(awstest.Fault{Op: "CreateFleet", Until: time.Minute, Err: awstest.ErrThrottled})
	s.launch(req)
	require.Equal(t, 1, s.cloud.Running())
	require.Less(t, attempts, 12, "no herd")
}

type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }

func TestCallersLeaveAndTheirInstanceIsNotLost(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	s := newScene(t, hooked(func(n int, _ *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
		out, err := call()
		if n == 1 {
			close(reached)
			<-release
		}
		return out, err
	}))
	req := s.request("one", large)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := s.p.Create(ctx, req)
		left <- err
	}()
	<-reached
	cancel()
	require.ErrorIs(t, <-left, context.Canceled)
	again := make(chan *cloudprovider.Instance)
	go func() {
		i, err := s.p.Create(t.Context(), req)
		if err != nil {
			t.Error(err)
		}
		again <- i
	}()
	close(release)
	require.NotNil(t, <-again)
	require.Equal(t, 1, s.cloud.Running())
}

func TestALaunchTemplateThatVanishesIsMadeAnew(t *testing.T) {
	s := newScene(t, hooked(refusing(1, &smithy.GenericAPIError{Code: "InvalidLaunchTemplateName.NotFoundException", Message: "gone"})))
	s.create("one", large)
	require.Equal(t, 1, s.cloud.Running())
}

func TestACallThatIsRefusedIsNotInDoubt(t *testing.T) {
	for code, kind := range map[string]cloudprovider.Kind{
		"UnauthorizedOperation": cloudprovider.KindDenied, "RequestLimitExceeded": cloudprovider.KindThrottled, "InvalidParameterValue": cloudprovider.KindDenied,
	} {
		s := newScene(t, hooked(refusing(1, &smithy.GenericAPIError{Code: code, Message: "no"})))
		req := s.request("one", large)
		_, err := s.p.Create(t.Context(), req)
		require.Equal(t, kind, cloudprovider.KindOf(err), "%v", err)
		require.Equal(t, code, reason(err))
		req.Options = req.Options[1:]
		i := s.launch(req)
		require.Equal(t, req.Options[0].Offering.Zone, i.Zone, "it asks anew, for what is asked now")
	}
}

// Something that a call names may be missing. That is not the node class, nor the
// instance, for which a NodeClaim is given up and the remedy with it.
func TestWhatACallNamesIsMissing(t *testing.T) {
	for code, want := range map[string]struct {
		kind cloudprovider.Kind
		text string
	}{
		"InvalidSubnetID.NotFound":                    {cloudprovider.KindDenied, "spec.subnetSelectorTerms"},
		"InvalidGroup.NotFound":                       {cloudprovider.KindDenied, "spec.securityGroupSelectorTerms"},
		"InvalidCapacityReservationId.NotFound":       {cloudprovider.KindDenied, "spec.capacityReservationSelectorTerms"},
		"InvalidPlacementGroup.Unknown":               {cloudprovider.KindDenied, "spec.placementGroupSelector"},
		"InvalidSnapshot.NotFound":                    {cloudprovider.KindDenied, "spec.blockDeviceMappings"},
		"InvalidAMIID.NotFound":                       {cloudprovider.KindDenied, "select an image"},
		"InvalidKeyPair.NotFound":                     {cloudprovider.KindDenied, "said EC2"},
		"InvalidLaunchTemplateName.NotFoundException": {cloudprovider.KindUnknown, "repeat the launch"},
		"InvalidLaunchTemplateId.NotFound":            {cloudprovider.KindUnknown, "repeat the launch"},
		"ResourceNotFoundException":                   {cloudprovider.KindUnknown, "said EC2"},
	} {
		s := newScene(t, hooked(refusing(math.MaxInt, &smithy.GenericAPIError{Code: code, Message: "said EC2"})))
		_, err := s.p.Create(t.Context(), s.request("one", large))
		require.Equal(t, want.kind, cloudprovider.KindOf(err), "%v", err)
		require.NotErrorIs(t, err, cloudprovider.ErrNotFound)
		require.Equal(t, code, reason(err))
		require.ErrorContains(t, err, want.text)
	}
}

// A subnet that is gone when a call is repeated says nothing of what the first launched.
func TestWhatACallNamesIsMissingWhenItIsRepeated(t *testing.T) {
	s := newScene(t, hooked(func(n int, _ *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
		if n == 1 {
			_, _ = call()
			return nil, errLost
		}
		return nil, &smithy.GenericAPIError{Code: "InvalidSubnetID.NotFound", Message: "said EC2"}
	}))
	_ = s.request("", large)
	s.cloud.Advance(time.Minute) // EC2 knows the instance profile
	req := s.request("one", large)
	_, err := s.p.Create(t.Context(), req)
	require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err), "%v", err)
	s.launch(req)
	require.Equal(t, 1, s.cloud.Running())
}

func TestObserveNode(t *testing.T) {
	s := newScene(t)
	i := s.create("one", large)
	node := &corev1.Node{}
	node.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7800Mi")}
	require.NoError(t, s.p.ObserveNode(t.Context(), i.Type, i.ImageID, node))
	now, err := s.p.Status(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(now.Learned), "m5.large")
	memory := func() int64 {
		for _, o := range s.request("x", large).Options {
			return o.InstanceType.Capacity.Get(corev1.ResourceMemory)
		}
		return 0
	}
	require.EqualValues(t, 7800<<20, memory())
	s.p = s.provider()
	require.NotEqual(t, int64(7800<<20), memory())
	s.opts.Learned = now.Learned
	s.p = s.provider()
	require.EqualValues(t, 7800<<20, memory())
	require.ErrorIs(t, s.p.ObserveNode(t.Context(), "", "", node), cloudprovider.ErrDenied)
	require.NoError(t, s.p.ObserveNode(t.Context(), "", "", nil))
	s.opts.Learned = []byte("{")
	_, err = aws.New(clients(s.config), &s.opts)
	require.ErrorContains(t, err, "aws: options: learned: ")
}

func TestInstancesOfKarpenterAreAdopted(t *testing.T) {
	s := newScene(t)
	req := s.request("one", large)
	key := req.Options[0].Key()
	ids := s.cloud.Add(1, key, map[string]string{
		"karpenter.sh/nodepool": "general", "karpenter.k8s.aws/ec2nodeclass": "default", "eks:eks-cluster-name": "demo",
		"kubernetes.io/cluster/demo": "owned", "karpenter.sh/nodeclaim": req.Name,
	})
	i := s.launch(req)
	require.Equal(t, "aws:///"+key.Zone+"/"+ids[0], i.ID)
	require.Equal(t, 1, s.cloud.Running())
}

func TestRepairPoliciesAreASet(t *testing.T) {
	s := newScene(t)
	require.NoError(t, cloudprovider.ValidateRepairPolicies(cloudprovider.RepairPolicies(s.p)))
	for _, test := range []struct {
		condition, reason string
		tolerate, drain   time.Duration
	}{
		{"Ready", "KubeletNotReady", 30 * time.Minute, 10 * time.Minute},
		{"AcceleratedHardwareReady", "NvidiaXID48Error", 10 * time.Minute, 5 * time.Minute},
		{"AcceleratedHardwareReady", "NvidiaXID79Error", 10 * time.Minute, 5 * time.Minute},
		{"AcceleratedHardwareReady", "NvidiaXID13Error", 30 * time.Minute, 10 * time.Minute},
		{"StorageReady", "", 30 * time.Minute, 10 * time.Minute},
	} {
		var found []cloudprovider.RepairPolicy
		for _, policy := range s.p.RepairPolicies() {
			matches := policy.ReasonRegex != "" && regexp.MustCompile(policy.ReasonRegex).MatchString(test.reason)
			if string(policy.ConditionType) == test.condition && policy.ConditionStatus == corev1.ConditionFalse && matches {
				found = append(found, policy)
			}
		}
		if found == nil {
			i := slices.IndexFunc(s.p.RepairPolicies(), func(p cloudprovider.RepairPolicy) bool { return p.ReasonRegex == "" })
			found = s.p.RepairPolicies()[i : i+1]
		}
		require.Len(t, found, 1, test.reason)
		require.Equal(t, test.tolerate, found[0].TolerationDuration, test.reason)
		require.Equal(t, test.drain, *found[0].TerminationGracePeriod, test.reason)
		require.Equal(t, cloudprovider.ReplaceNode, found[0].Action)
	}
	require.Equal(t, "aws", cloudprovider.Name(s.p))
	require.ErrorIs(t, cloudprovider.Reboot(t.Context(), s.p, "x", "y"), errors.ErrUnsupported)
}

// User data can hold a secret, and conditions are for many to read.
func TestUserDataIsNotQuoted(t *testing.T) {
	s := newScene(t)
	s.class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
	s.class.Spec.UserData = new("token = s3cr3t\n[settings.kubernetes]\n")
	err := s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef)
	require.ErrorContains(t, err, "line 1, column")
	require.NotContains(t, err.Error(), "s3cr3t")
	class := s.read()
	said := false
	for _, c := range class.Status.Conditions {
		require.NotContains(t, c.Message, "s3cr3t")
		said = said || c.Type == awsv1.ConditionTypeValidationSucceeded && c.Message != ""
	}
	require.True(t, said)
}
