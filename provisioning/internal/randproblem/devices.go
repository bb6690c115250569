package randproblem

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	gpuDriver = "gpu.example.com"
	nicDriver = "nic.example.com"
)

// drawDevices gives nodes and instance types devices, and workloads claims of them in all states.
// Selectors are expressions in CEL: the caller must set Devices.Matcher.
func (p *problem) drawDevices() {
	p.in.Devices.Classes = []*resourcev1.DeviceClass{
		deviceClass("gpu", `device.driver == "gpu.example.com"`),
		deviceClass("fast-gpu", `device.driver == "gpu.example.com"`, `device.attributes["example.com"].speed == "fast"`),
		deviceClass("nic", `device.driver == "nic.example.com"`),
	}
	for _, i := range p.machines() {
		p.publish(p.in.Nodes[i].Name())
	}
	for _, t := range p.types() {
		for _, driver := range []string{gpuDriver, nicDriver} {
			if p.chance(30) {
				t.Devices = append(t.Devices, cloudprovider.InstanceDevice{Driver: driver, Count: p.between(1, 4), Device: p.drawDevice()})
			}
		}
	}
	for i, pods := range p.someWorkloads(40) {
		p.drawResourceClaims(i, pods)
	}
	for i, pod := range p.bound() {
		if p.chance(15) {
			name := fmt.Sprintf("held-%d", i)
			if claim := p.drawClaimOfDevices(pod.Namespace, name); p.allocate(claim, pod.Spec.NodeName) {
				demand(pod, corev1.PodResourceClaim{Name: "held", ResourceClaimName: &name})
			}
		}
	}
}

func deviceClass(name string, expressions ...string) *resourcev1.DeviceClass {
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, expression := range expressions {
		class.Spec.Selectors = append(class.Spec.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}})
	}
	return class
}

// drawDevice draws a device. Most have the attributes that selectors require.
func (p *problem) drawDevice() resourcev1.Device {
	d := resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	if p.chance(85) {
		d.Attributes["example.com/speed"] = resourcev1.DeviceAttribute{StringValue: new(pick(p.source, []string{"fast", "slow"}))}
	}
	d.Attributes["example.com/board"] = resourcev1.DeviceAttribute{IntValue: new(int64(p.below(2)))}
	if p.chance(10) {
		d.Taints = []resourcev1.DeviceTaint{{Key: "worn", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	}
	return d
}

// publish makes the ResourceSlices of a node. Of some pools an older generation is still there,
// and of some not all slices are.
func (p *problem) publish(node string) {
	for _, driver := range []string{gpuDriver, nicDriver} {
		if !p.chance(60) {
			continue
		}
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-" + driver}}
		s.Spec.Driver, s.Spec.NodeName = driver, &node
		s.Spec.Pool = resourcev1.ResourcePool{Name: node, Generation: 2, ResourceSliceCount: 1}
		for i := range p.between(1, 4) {
			d := p.drawDevice()
			d.Name = fmt.Sprintf("device-%d", i)
			s.Spec.Devices = append(s.Spec.Devices, d)
		}
		if p.chance(10) {
			old := s.DeepCopy()
			old.Name += "-old"
			old.Spec.Pool.Generation = 1
			p.in.Devices.Slices = append(p.in.Devices.Slices, old)
		}
		if p.chance(5) {
			s.Spec.Pool.ResourceSliceCount = 2
		}
		p.in.Devices.Slices = append(p.in.Devices.Slices, s)
	}
}

// drawResourceClaims gives the pods of a workload a claim each by a template, or one that they
// share.
func (p *problem) drawResourceClaims(number int, pods []*corev1.Pod) {
	name := fmt.Sprintf("devices-%d", number)
	if p.chance(70) {
		t := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: pods[0].Namespace, Name: name}}
		t.Spec.Spec = p.drawDeviceRequests()
		p.in.Devices.Templates = append(p.in.Devices.Templates, t)
		for _, pod := range pods {
			demand(pod, corev1.PodResourceClaim{Name: "own", ResourceClaimTemplateName: &name})
		}
		return
	}
	claim := p.drawClaimOfDevices(pods[0].Namespace, name)
	if nodes := p.machines(); len(nodes) > 0 && p.chance(40) {
		p.allocate(claim, p.in.Nodes[pick(p.source, nodes)].Name())
	}
	if p.chance(5) {
		claim.DeletionTimestamp = deletedAt()
		claim.Finalizers = []string{resourcev1.Finalizer}
	}
	for _, pod := range pods {
		demand(pod, corev1.PodResourceClaim{Name: "shared", ResourceClaimName: &name})
	}
}

func demand(pod *corev1.Pod, claim corev1.PodResourceClaim) {
	pod.Spec.ResourceClaims = append(slices.Clip(pod.Spec.ResourceClaims), claim)
	main := &pod.Spec.Containers[0].Resources
	main.Claims = append(slices.Clip(main.Claims), corev1.ResourceClaim{Name: claim.Name})
}

func (p *problem) drawClaimOfDevices(namespace, name string) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: p.drawDeviceRequests()}
	p.in.Devices.Claims = append(p.in.Devices.Claims, claim)
	return claim
}

// drawDeviceRequests draws what a claim asks for: a number of devices of a class or all, for some
// with a selector, a toleration, a second choice or a constraint.
func (p *problem) drawDeviceRequests() (spec resourcev1.ResourceClaimSpec) {
	for i := range p.between(1, 2) {
		r := resourcev1.DeviceRequest{Name: fmt.Sprintf("request-%d", i)}
		if p.chance(12) {
			for _, class := range []string{"fast-gpu", "gpu"} {
				r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{Name: class, DeviceClassName: class,
					AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(p.between(1, 3))})
			}
			spec.Devices.Requests = append(spec.Devices.Requests, r)
			continue
		}
		r.Exactly = &resourcev1.ExactDeviceRequest{
			DeviceClassName: pick(p.source, []string{"gpu", "gpu", "fast-gpu", "nic", "no-such-class"}[:p.between(4, 5)]),
			AllocationMode:  resourcev1.DeviceAllocationModeExactCount, Count: int64(pick(p.source, []int{1, 1, 1, 2, 2, 3})),
		}
		if p.chance(10) {
			r.Exactly.AllocationMode, r.Exactly.Count = resourcev1.DeviceAllocationModeAll, 0
		}
		if p.chance(15) {
			r.Exactly.Selectors = deviceClass("", `device.attributes["example.com"].board == 0`).Spec.Selectors
		}
		if p.chance(20) {
			r.Exactly.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
		}
		spec.Devices.Requests = append(spec.Devices.Requests, r)
	}
	if p.chance(15) {
		spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: new(resourcev1.FullyQualifiedName("example.com/board"))}}
	}
	return spec
}

// allocate allocates free devices of a node to a claim. It returns false if there are none.
func (p *problem) allocate(claim *resourcev1.ResourceClaim, node string) bool {
	taken := map[string]bool{}
	for _, c := range p.in.Devices.Claims {
		if c.Status.Allocation != nil {
			for _, r := range c.Status.Allocation.Devices.Results {
				taken[r.Driver+"/"+r.Pool+"/"+r.Device] = true
			}
		}
	}
	allocation := &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}}
	for _, s := range p.in.Devices.Slices {
		if *s.Spec.NodeName != node || s.Spec.Pool.Generation != 2 {
			continue
		}
		for _, d := range s.Spec.Devices {
			if len(allocation.Devices.Results) == 0 && !taken[s.Spec.Driver+"/"+s.Spec.Pool.Name+"/"+d.Name] {
				allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "request-0", Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name, Device: d.Name}}
			}
		}
	}
	if len(allocation.Devices.Results) > 0 {
		claim.Status.Allocation = allocation
	}
	return claim.Status.Allocation != nil
}
