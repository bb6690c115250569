package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// driverMatcher takes the expression of a selector for the name of a driver.
type driverMatcher struct{}

func (driverMatcher) Matches(selector resourcev1.DeviceSelector, driver string, _ *resourcev1.Device) (bool, error) {
	return selector.CEL.Expression == driver, nil
}

// wantDevices lets a pod ask for devices of class gpu by a template.
func (s *scene) wantDevices(pod *corev1.Pod, count int64) {
	template := pod.Name
	t := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: template}}
	t.Spec.Spec = deviceSpec(count)
	s.In.Devices.Templates = append(s.In.Devices.Templates, t)
	pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: &template})
}

func deviceSpec(count int64) resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}},
	}}}
}

func (s *scene) shareDevice(pods ...*corev1.Pod) *resourcev1.ResourceClaim {
	name := "shared"
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: deviceSpec(1)}
	s.In.Devices.Claims = append(s.In.Devices.Claims, claim)
	for _, pod := range pods {
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "gpu", ResourceClaimName: &name})
	}
	return claim
}

func TestDevices(t *testing.T) {
	broken := rules(verify.RuleDevices)
	// old and every small have two devices of gpu.example.com.
	plant := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			node := "old"
			slice := &resourcev1.ResourceSlice{}
			slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &node, Devices: []resourcev1.Device{{Name: "a"}, {Name: "b"}}}
			stale := slice.DeepCopy()
			slice.Spec.Pool.Generation = 2
			s.In.Devices.Slices = []*resourcev1.ResourceSlice{stale, nil, slice}
			s.In.Devices.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
			s.Small.Devices = []cloudprovider.InstanceDevice{{Driver: "gpu.example.com", Count: 2}}
			change(s)
		}
	}
	selecting := func(driver string) func(*scene) {
		return func(s *scene) {
			s.wantDevices(s.Tiny, 1)
			s.In.Devices.Classes[0].Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: driver}}}
		}
	}
	judge(t, []verdict{
		{"enough", plant(func(s *scene) { s.wantDevices(s.Tiny, 2) }), nil, ""},
		{"too few", plant(func(s *scene) { s.wantDevices(s.Tiny, 3) }), broken, "node old: its pods ask for 3 devices of class gpu, but it may have 2"},
		{"enough on a new node", plant(func(s *scene) { s.wantDevices(s.Night, 2) }), nil, ""},
		{"too few on a new node", plant(func(s *scene) { s.wantDevices(s.Night, 3) }), broken, "node batch-1"},
		{"too few on some option", plant(func(s *scene) { s.wantDevices(s.Webs[0], 1) }), broken, "node general-1: its pods ask for 1 devices of class gpu, but it may have 0"},
		{"too few for all", plant(func(s *scene) {
			s.Large.Devices = s.Small.Devices
			s.wantDevices(s.Webs[0], 1)
			s.wantDevices(s.Webs[1], 2)
		}), broken, "its pods ask for 3"},
		{"no such class", plant(func(s *scene) { s.wantDevices(s.Tiny, 1); s.In.Devices.Classes = nil }), broken, "class gpu, which is not in the input"},
		{"no such template", plant(func(s *scene) { s.wantDevices(s.Tiny, 1); s.In.Devices.Templates = nil }), broken, "has template tiny, which is not in the input"},
		{"no such claim", plant(func(s *scene) { s.shareDevice(s.Tiny); s.In.Devices.Claims = nil }), broken, "its resource claim gpu is shared, which is not in the input"},
		{"no name at all", plant(func(s *scene) { s.Tiny.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }), broken, "names neither a claim nor a template"},
		{"a claim being deleted", plant(func(s *scene) { s.shareDevice(s.Tiny).DeletionTimestamp = &metav1.Time{} }), broken, "is being deleted"},
		{"shared on one node", plant(func(s *scene) { s.Large.Devices = s.Small.Devices; s.shareDevice(s.Webs...) }), nil, ""},
		{"shared on two nodes", plant(func(s *scene) { s.shareDevice(s.Tiny, s.Night) }), broken, "is for devices of one node"},
		{"given to others", plant(func(s *scene) {
			s.shareDevice().Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
				Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "gpu.example.com", Device: "a"}},
			}}
			s.wantDevices(s.Tiny, 2)
		}), broken, "it may have 1"},
		{"given already", plant(func(s *scene) { s.shareDevice(s.Tiny).Status.Allocation = &resourcev1.AllocationResult{} }), nil, ""},
		{"given already, elsewhere", plant(func(s *scene) {
			s.shareDevice(s.Tiny).Status.Allocation = &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"plain"}}}},
			}}}
		}), broken, "has devices that the node cannot reach"},
		{"selected", plant(func(s *scene) { selecting("gpu.example.com")(s); s.In.Devices.Matcher = driverMatcher{} }), nil, ""},
		{"selected, none of them", plant(func(s *scene) { selecting("tpu.example.com")(s); s.In.Devices.Matcher = driverMatcher{} }), broken, "it may have 0"},
		{"selected by what nobody can evaluate", plant(selecting("tpu.example.com")), nil, ""},
	})
}
