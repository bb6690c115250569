package verify_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// plantedTerm returns an affinity term about pods of team planted, of whom no random problem has any.
func plantedTerm() corev1.PodAffinityTerm {
	return scenes.AffinityTerm(corev1.LabelHostname, "planted")
}

// plantedPod returns a small pod of team planted.
func plantedPod() *corev1.Pod {
	pod := scenes.Pod("planted", "0", "0")
	scenes.Team("planted", pod)
	return pod
}

// faultsBetweenPods are in what pods ask of each other.
func faultsBetweenPods() []plantedFault {
	const zone = corev1.LabelTopologyZone
	// beside changes a pod that goes to an existing node, and one that runs there.
	beside := func(change func(placed, running *corev1.Pod)) func(*mutant) bool {
		return func(m *mutant) bool {
			p, ok := m.settledPlacement()
			if !ok {
				return false
			}
			other := plantedPod()
			other.Namespace = p.pod.Namespace
			m.alterPod(p.pod, func(pod *corev1.Pod) { change(pod, other) })
			m.run(p.node, other)
			return true
		}
	}
	// twoZones spreads tiny, which goes to zone a, with one pod in each of the zones a and b.
	twoZones := func(s *scene) {
		scenes.Team("t", s.Tiny)
		s.tally("t", 1, 1, 0)
		spread(s.Tiny, zone, 1)
	}
	// oneZone leaves the first new node, with the pods of team w, only its options in zone b.
	oneZone := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			scenes.Team("w", s.Webs...)
			s.pin(s.First(), "b")
			change(s)
			s.Plan.Cost = s.First().Price() + s.Second().Price()
			s.Plan.LowerBound = 0
		}
	}
	// openZones gives the first new node the options of its instance types in all zones.
	openZones := func(m *mutant) bool {
		n := &m.plan.Create[0]
		var types []*cloudprovider.InstanceType
		for _, o := range n.Options {
			if !slices.Contains(types, o.InstanceType) {
				types = append(types, o.InstanceType)
			}
		}
		n.Options = scenes.Options(types...)
		m.settle()
		return true
	}
	return []plantedFault{
		{"a spread is off by one", verify.RuleSpread, twoZones, func(m *mutant) bool {
			pod := plantedPod()
			scenes.Team("t", pod)
			m.run("old", pod)
			return true
		}},
		{"a spread has fewer domains than minDomains", verify.RuleSpread, twoZones, func(m *mutant) bool {
			three := int32(3)
			m.alterPod(m.pod("tiny"), func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MinDomains = &three })
			return true
		}},
		{"the pods of a spread keep out of a zone", verify.RuleSpread, func(s *scene) {
			s.alone(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 2 })
		}, func(m *mutant) bool {
			m.alterPod(m.pod("web-2"), func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MaxSkew = 1 })
			return true
		}},
		{"a node with pods of a spread may be in two zones", verify.RuleSpread, oneZone(func(s *scene) {
			for _, web := range s.Webs {
				spread(web, zone, 2)
			}
		}), openZones},
		{"a node with a pod that others follow may be in two zones", verify.RuleAffinity, oneZone(func(s *scene) {
			scenes.Follow(s.Webs[0], scenes.AffinityTerm(zone, "w"))
		}), openZones},
		{"a node with a pod that others avoid may be in two zones", verify.RuleAntiAffinity, oneZone(func(s *scene) {
			far := scenes.Node("far", map[string]string{zone: "c"})
			guard := plantedPod()
			scenes.Avoid(guard, scenes.AffinityTerm(zone, "w"))
			s.In.Nodes = append(s.In.Nodes, provisioning.Node{Node: far, Pods: []*corev1.Pod{guard}})
		}), openZones},
		{"a node with a DaemonSet that a spread counts may be in two zones", verify.RuleSpread, oneZone(func(s *scene) {
			scenes.Team("d", s.Daemon)
			s.pin(s.Second(), "a")
			s.keep(s.Second(), v1.CapacityTypeOnDemand)
			spread(s.Tiny, zone, 9, func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = scenes.TeamSelector("d") })
		}), openZones},
		{"pods of a spread share a node", verify.RuleSpread, nil, beside(func(placed, running *corev1.Pod) {
			placed.Labels["team"] = "planted"
			placed.Spec.TopologySpreadConstraints = nil
			many := int32(1_000)
			spread(placed, corev1.LabelHostname, 1, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &many })
		})},
		{"a pod is spread over a label that its node lacks", verify.RuleSpread, nil, beside(func(placed, _ *corev1.Pod) {
			placed.Spec.TopologySpreadConstraints = nil
			spread(placed, "planted.example.org/rack", 1)
		})},
		{"a pod is to be with others who are not there", verify.RuleAffinity, nil, func(m *mutant) bool {
			p, ok := m.placed()
			if ok {
				m.alterPod(p.pod, func(pod *corev1.Pod) { scenes.Follow(pod, plantedTerm()) })
			}
			return ok
		}},
		{"a pod is bound before the one that it follows", verify.RuleAffinity, func(s *scene) {
			scenes.Team("lead", s.Webs[0])
			scenes.Follow(s.Webs[1], scenes.AffinityTerm(zone, "lead"))
			scenes.Team("follow", s.Webs[1])
			s.pin(s.First(), "a")
		}, func(m *mutant) bool {
			m.plan.Order = slices.Clone(m.plan.Order)
			one, two := slices.Index(m.plan.Order, m.pod("web-1")), slices.Index(m.plan.Order, m.pod("web-2"))
			m.plan.Order[one], m.plan.Order[two] = m.plan.Order[two], m.plan.Order[one]
			return true
		}},
		{"a pod runs that the pod is to be apart from", verify.RuleAntiAffinity, nil, beside(func(placed, _ *corev1.Pod) { scenes.Avoid(placed, plantedTerm()) })},
		{"a pod runs that is to be apart from the pod", verify.RuleAntiAffinity, nil, beside(func(placed, running *corev1.Pod) {
			placed.Labels["team"] = "planted"
			scenes.Avoid(running, plantedTerm())
		})},
		{"two pods that are to be apart share a new node", verify.RuleAntiAffinity, func(s *scene) { scenes.Team("w", s.Webs...) }, func(m *mutant) bool {
			m.alterPod(m.pod("web-2"), func(p *corev1.Pod) { scenes.Avoid(p, scenes.AffinityTerm(corev1.LabelHostname, "w")) })
			return true
		}},
		{"a host port is used twice", verify.RuleHostPorts, nil, beside(func(placed, running *corev1.Pod) {
			listen(placed, corev1.ContainerPort{HostPort: 9999})
			listen(running, corev1.ContainerPort{HostPort: 9999})
		})},
		{"a host port is one of a DaemonSet's", verify.RuleHostPorts, func(s *scene) {
			listen(s.Tiny, corev1.ContainerPort{HostPort: 9999})
			listen(s.Daemon, corev1.ContainerPort{HostPort: 9998})
		}, func(m *mutant) bool {
			m.alterPod(m.pod("tiny"), func(p *corev1.Pod) { listen(p, corev1.ContainerPort{HostPort: 9998}) })
			return true
		}},
	}
}

// faultsOfStorage are in volumes and devices.
func faultsOfStorage() []plantedFault {
	// volumes gives tiny, which goes to old in zone a, two volumes of three that the node can attach.
	volumes := func(s *scene) {
		three := int32(3)
		node := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
		node.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "disk.example.com", Allocatable: &storagev1.VolumeNodeResources{Count: &three}}}
		s.In.Volumes.CSINodes = []*storagev1.CSINode{node}
		for i := range 2 {
			s.Volume(fmt.Sprintf("v-%d", i), "", "a", "1Gi")
			s.Claim(fmt.Sprintf("c-%d", i), "", fmt.Sprintf("v-%d", i), s.Tiny)
		}
	}
	// devices gives tiny one of the two devices of old.
	devices := func(s *scene) {
		node := "old"
		slice := &resourcev1.ResourceSlice{}
		slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &node, Devices: []resourcev1.Device{{Name: "a"}, {Name: "b"}}}
		s.In.Devices.Slices = []*resourcev1.ResourceSlice{slice}
		s.In.Devices.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
		s.Small.Devices = []cloudprovider.InstanceDevice{{Driver: "gpu.example.com", Count: 2}}
		s.wantDevices(s.Tiny, 1)
	}
	return []plantedFault{
		{"a claim's volume is in another zone", verify.RuleVolumes, volumes, func(m *mutant) bool {
			moved := m.in.Volumes.Volumes[1].DeepCopy()
			moved.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values = []string{"b"}
			m.in.Volumes.Volumes = []*corev1.PersistentVolume{m.in.Volumes.Volumes[0], moved}
			return true
		}},
		{"a claim has a volume that does not exist", verify.RuleVolumes, volumes, func(m *mutant) bool {
			m.in.Volumes.Volumes = m.in.Volumes.Volumes[:1]
			return true
		}},
		{"the limit of volumes is passed", verify.RuleVolumes, volumes, func(m *mutant) bool {
			one := int32(1)
			node := m.in.Volumes.CSINodes[0].DeepCopy()
			node.Spec.Drivers[0].Allocatable.Count = &one
			m.in.Volumes.CSINodes = []*storagev1.CSINode{node}
			return true
		}},
		{"a claim for one pod is used by two", verify.RuleVolumes, func(s *scene) { volumes(s); s.oncePod() }, func(m *mutant) bool {
			pod := plantedPod()
			pod.Spec.Volumes = m.pod("tiny").Spec.Volumes
			m.run("plain", pod)
			return true
		}},
		{"a disk is used twice", verify.RuleVolumes, nil, func(m *mutant) bool {
			p, ok := m.settledPlacement()
			if !ok {
				return false
			}
			disk := corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}}
			other := plantedPod()
			other.Spec.Volumes = []corev1.Volume{disk}
			m.alterPod(p.pod, func(pod *corev1.Pod) { pod.Spec.Volumes = append(pod.Spec.Volumes, disk) })
			m.run(p.node, other)
			return true
		}},
		{"a device is used twice", verify.RuleDevices, devices, func(m *mutant) bool {
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "others"}, Spec: deviceSpec(2)}
			claim.Status.Allocation = &resourcev1.AllocationResult{}
			for _, device := range []string{"a", "b"} {
				claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{Driver: "gpu.example.com", Device: device})
			}
			m.in.Devices.Claims = []*resourcev1.ResourceClaim{claim}
			return true
		}},
		{"a node has fewer devices than its pods use", verify.RuleDevices, devices, func(m *mutant) bool {
			m.in.Devices.Slices = nil
			return true
		}},
		{"pods on two nodes share a device", verify.RuleDevices, func(s *scene) { devices(s); s.shareDevice(s.Night) }, func(m *mutant) bool {
			shared := m.pod("night-1").Spec.ResourceClaims[0]
			m.alterPod(m.pod("tiny"), func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{shared} })
			return true
		}},
	}
}
