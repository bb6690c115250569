package aws_test

import (
	"fmt"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// TestClaimsAreServedByDevices: a pod whose claim wants GPUs of a product, and an
// adapter, gets the machine that has such.
func TestClaimsAreServedByDevices(t *testing.T) {
	s := newScene(t, func(s *scene) { s.opts.NVIDIADevices, s.opts.EFADevices = true, true })
	types := s.types()
	exactly := func(name, class, expression string, count int64) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}},
		}}
	}
	class := func(name string) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "` + name + `"`}}}
		return c
	}
	solve := func(product string, gpus int64) *provisioning.Plan {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "default", UID: "claim-1"}}
		claim.Spec.Devices = resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{
				exactly("gpus", "gpu.nvidia.com", `device.attributes["gpu.nvidia.com"].productName == "`+product+`"`, gpus),
				exactly("adapters", "dra.net", `device.attributes["dra.net"].rdma`, 1),
			},
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "default", UID: "pod-1"}}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}}
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "devices", ResourceClaimName: &claim.Name}}
		plan, err := provisioning.Solve(t.Context(), provisioning.Input{
			NodePools: []*karpv1.NodePool{nodePool()}, InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": types},
			Pods: []*corev1.Pod{pod}, Vocabulary: awsv1.Vocabulary(),
			Devices: provisioning.Devices{
				Claims: []*resourcev1.ResourceClaim{claim}, Matcher: devicecel.New(),
				Classes: []*resourcev1.DeviceClass{class("gpu.nvidia.com"), class("dra.net")},
			},
		}, nil)
		require.NoError(t, err)
		return plan
	}
	plan := solve("NVIDIA A100-SXM4-40GB", 8)
	require.Empty(t, plan.Unplaced)
	require.Len(t, plan.Create, 1)
	for _, o := range plan.Create[0].Options {
		require.Equal(t, "p4d.24xlarge", o.InstanceType.Name)
	}
	require.Equal(t, "dra.net,gpu.nvidia.com", plan.Create[0].NodeClaim().Annotations[karpv1.DRADriversAnnotationKey])
	require.Len(t, solve("NVIDIA A100-SXM4-40GB", 9).Unplaced, 1)
	require.Len(t, solve("NVIDIA A100-SXM4-80GB", 1).Unplaced, 1, "no such machine is for sale here")
}

// The first network card of p6-b300 takes no adapters.
func TestAdaptersOfP6B300BeginAtCard1(t *testing.T) {
	for name, want := range map[string][]string{
		"p4d.24xlarge":     {"0 0 efa", "1 1 efa", "2 1 efa", "3 1 efa"},
		"p6-b300.48xlarge": {"0 0 interface", "1 1 efa", "2 1 efa", "3 1 efa", "4 1 efa"},
	} {
		var made templates
		s := newScene(t, made.watch, func(s *scene) {
			s.world.Types = awstest.InstanceTypes()
			for i := range s.world.Types {
				if it := &s.world.Types[i]; it.InstanceType == "p4d.24xlarge" {
					it.InstanceType = ec2types.InstanceType(name)
				}
			}
		})
		req := s.request("one", func(o cloudprovider.LaunchOption) bool { return onDemand(o) && o.InstanceType.Name == name })
		req.Requests = resources.New(map[corev1.ResourceName]int64{awsv1.ResourceEFA: 1})
		s.launch(req)
		var got []string
		for _, i := range made.last.NetworkInterfaces {
			got = append(got, fmt.Sprint(*i.NetworkCardIndex, " ", *i.DeviceIndex, " ", *i.InterfaceType))
		}
		require.Equal(t, want, got)
	}
}
