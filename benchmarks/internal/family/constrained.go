package family

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// rackLabel is a topology key that pools define themselves, with one value or several.
const rackLabel = "example.com/rack"

var (
	teamTaint = corev1.Taint{Key: "example.com/team", Value: "a", Effect: corev1.TaintEffectNoSchedule}
	racks     = []string{"r1", "r2", "r3"}
	teams     = []string{"team-00", "team-01", "team-02", "team-03"}
)

const teamLabel = "app.kubernetes.io/part-of"

// constrained makes a few workloads with many constraints, on a part of the catalog, and sometimes
// with nodes that run other replicas of the workloads.
func constrained(m *maker) {
	m.someTypes()
	m.addNamespaces(workloadNamespaces()[:3]...)
	for i := range 1 + m.IntN(4) {
		m.constrainedPool(fmt.Sprintf("pool-%d", i))
	}
	for i := range m.IntN(4) {
		d := m.daemon("kube-system", fmt.Sprintf("daemon-%d", i), amounts(int64(20+m.IntN(200)), int64(32+m.IntN(300))))
		if m.chance(20) {
			d.Spec.Tolerations = nil
		}
	}
	workloads := m.constrainedWorkloads()
	for i := range m.spec.Nodes {
		m.constrainedHost(i, workloads)
	}
	m.pendAll(workloads)
	for i, pod := range m.out.Pods {
		if w := pod.Labels[appLabel]; m.claimed[w] {
			m.out.Pods[i] = m.withVolume(pod)
		}
	}
}

// someTypes keeps 10 to 200 types of the catalog: none with more than 48 vCPUs or with GPUs.
func (m *maker) someTypes() {
	kept := slices.DeleteFunc(shuffled(m.dice, m.types), func(t scenario.InstanceType) bool {
		cpu, gpus := t.Capacity[corev1.ResourceCPU], t.Capacity[awsv1.ResourceNVIDIAGPU]
		return cpu.Value() > 48 || !gpus.IsZero()
	})
	m.types = kept[:min(len(kept), 10+m.IntN(191))]
	m.out.InstanceTypes = m.types
}

func (m *maker) constrainedPool(name string) {
	var spec v1.NodePoolSpec
	t := &spec.Template
	t.Labels = map[string]string{}
	if m.chance(40) {
		weight := int32(1 + m.IntN(3)*10)
		spec.Weight = &weight
	}
	if m.chance(25) {
		spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(int64(4+m.IntN(m.spec.Pods)), resource.DecimalSI)}
	} else if m.chance(15) {
		spec.Limits = v1.Limits{"nodes": *resource.NewQuantity(int64(1+m.IntN(6)), resource.DecimalSI)}
	}
	if m.chance(30) {
		t.Spec.Taints = []corev1.Taint{teamTaint}
	}
	switch m.IntN(3) {
	case 0:
		t.Labels[rackLabel] = oneOf(m.dice, racks...)
	case 1:
		t.Spec.Requirements = append(t.Spec.Requirements, pick(rackLabel, racks[:2+m.IntN(2)]...))
	}
	if m.chance(40) {
		t.Spec.Requirements = append(t.Spec.Requirements, pick(corev1.LabelTopologyZone, shuffled(m.dice, m.zones)[:1+m.IntN(3)]...))
	}
	if m.chance(50) {
		t.Spec.Requirements = append(t.Spec.Requirements, pick(v1.CapacityTypeLabelKey, oneOf(m.dice, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)))
	}
	if m.chance(40) {
		t.Spec.Requirements = append(t.Spec.Requirements, pick(corev1.LabelArchStable, oneOf(m.dice, v1.ArchitectureAmd64, v1.ArchitectureAmd64, v1.ArchitectureArm64)))
	}
	if m.chance(20) {
		most := 2 + m.IntN(4)
		t.Spec.Requirements = append(t.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
			Key: oneOf(m.dice, corev1.LabelInstanceTypeStable, awsv1.LabelInstanceFamily), Operator: corev1.NodeSelectorOpExists, MinValues: &most,
		})
	}
	m.addPool(name, spec)
}

// constrainedWorkloads returns workloads with spec.Pods replicas in total.
func (m *maker) constrainedWorkloads() []*workload {
	var all []*workload
	for left := m.spec.Pods; left > 0; {
		n := min(left, 1+m.IntN(2+m.spec.Pods/5))
		left -= n
		w := m.workload(fmt.Sprintf("app-%02d", len(all)), n)
		w.namespace = oneOf(m.dice, workloadNamespaces()[:3]...)
		w.labels[teamLabel] = oneOf(m.dice, teams...)
		if m.chance(40) {
			tolerate(&w.spec, teamTaint)
		}
		if m.chance(15) {
			high := oneOf(m.dice, int32(-5), 10, 500)
			w.spec.Priority, w.spec.PriorityClassName = &high, fmt.Sprintf("class-%d", high)
		}
		for range m.IntN(4) {
			m.constrain(w)
		}
		all = append(all, w)
	}
	return all
}

// constrain gives a workload one more constraint or preference.
func (m *maker) constrain(w *workload) {
	key := weighted(m.dice, []odds[string]{{8, corev1.LabelTopologyZone}, {6, corev1.LabelHostname}, {2, rackLabel}, {1, v1.CapacityTypeLabelKey}})
	whom := w.selects()
	if m.chance(30) {
		whom = map[string]string{teamLabel: oneOf(m.dice, w.labels[teamLabel], teams[0])}
	}
	term := near(key, whom)
	if m.chance(15) {
		term.NamespaceSelector = &metav1.LabelSelector{}
	}
	preferred := []corev1.WeightedPodAffinityTerm{{Weight: int32(1 + m.IntN(100)), PodAffinityTerm: term}}
	switch weighted(m.dice, []odds[string]{
		{8, "spread"}, {3, "soft spread"}, {3, "together"}, {4, "apart"}, {2, "rather together"}, {2, "rather apart"},
		{4, "place"}, {2, "rather place"}, {1, "port"}, {2, "volume"},
	}) {
	case "spread", "soft spread":
		s := spread(key, oneOf(m.dice, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway), whom)
		s.MaxSkew = oneOf[int32](m.dice, 1, 1, 2, 3)
		if s.WhenUnsatisfiable == corev1.DoNotSchedule && m.chance(15) {
			s.MinDomains = oneOf(m.dice, new(int32(2)), new(int32(3)))
		}
		if m.chance(20) {
			s.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
		}
		// A pod may not have two spreads with the same key and whenUnsatisfiable.
		for _, other := range w.spec.TopologySpreadConstraints {
			if other.TopologyKey == s.TopologyKey && other.WhenUnsatisfiable == s.WhenUnsatisfiable {
				return
			}
		}
		w.spec.TopologySpreadConstraints = append(w.spec.TopologySpreadConstraints, s)
	case "together":
		a := w.podAffinity()
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, term)
	case "apart":
		a := w.antiAffinity()
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, term)
	case "rather together":
		w.podAffinity().PreferredDuringSchedulingIgnoredDuringExecution = preferred
	case "rather apart":
		w.antiAffinity().PreferredDuringSchedulingIgnoredDuringExecution = preferred
	case "place":
		w.nodeAffinity().RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{m.somewhere()}}
	case "rather place":
		w.nodeAffinity().PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 50, Preference: m.somewhere()}}
	case "port":
		w.spec.Containers[0].Ports = []corev1.ContainerPort{hostPort("direct", int32(7000+m.IntN(2)))}
	case "volume":
		m.claimed[w.name] = true
	}
}

// somewhere returns a node selector term that some nodes of most scenarios satisfy.
func (m *maker) somewhere() corev1.NodeSelectorTerm {
	return oneOf(m.dice,
		labelIn(corev1.LabelTopologyZone, shuffled(m.dice, m.zones)[:1+m.IntN(3)]...),
		labelIn(corev1.LabelArchStable, oneOf(m.dice, v1.ArchitectureAmd64, v1.ArchitectureArm64)),
		labelIn(v1.CapacityTypeLabelKey, oneOf(m.dice, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)),
		labelIn(rackLabel, oneOf(m.dice, racks...)),
		labelIn(awsv1.LabelInstanceCategory, shuffled(m.dice, []string{"c", "m", "r", "t"})[:2]...),
	)
}

func (w *workload) podAffinity() *corev1.PodAffinity {
	a := w.affinity()
	if a.PodAffinity == nil {
		a.PodAffinity = &corev1.PodAffinity{}
	}
	return a.PodAffinity
}

// withVolume returns a copy of the pod with a volume claim of its own: for a volume that exists in
// a zone, or for one that is created in the zone where the pod runs.
func (m *maker) withVolume(pod *corev1.Pod) *corev1.Pod {
	const class, driver = "disk", "ebs.csi.aws.com"
	pod = pod.DeepCopy()
	name := "data-" + pod.Name
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}})
	if len(m.out.StorageClasses) == 0 {
		m.out.StorageClasses = append(m.out.StorageClasses, &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: class, UID: m.uid()}, Provisioner: driver, VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
		})
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, UID: m.uid()},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new(class), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	if m.chance(40) {
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name, UID: m.uid()},
			Spec: corev1.PersistentVolumeSpec{
				StorageClassName: class, AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "vol-" + name}},
				ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{labelIn(corev1.LabelTopologyZone, oneOf(m.dice, m.zones...))},
				}},
			},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
		}
		claim.Spec.VolumeName, claim.Status.Phase = volume.Name, corev1.ClaimBound
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		m.out.PersistentVolumes = append(m.out.PersistentVolumes, volume)
	}
	m.out.PersistentVolumeClaims = append(m.out.PersistentVolumeClaims, claim)
	return pod
}

// constrainedHost adds a node of any pool that could have bought one, with replicas on it. Their
// spreads and affinities may be violated, as after scaling down. Of a workload with affinity or a
// host port it runs one replica.
func (m *maker) constrainedHost(i int, workloads []*workload) {
	for _, pool := range shuffled(m.dice, m.out.NodePools) {
		offers := m.sold(pool)
		if len(offers) == 0 {
			continue
		}
		h := m.hostOf(i, pool, oneOf(m.dice, offers...), float64(20+m.IntN(70))/100)
		for _, r := range pool.Spec.Template.Spec.Requirements {
			if r.Key == rackLabel {
				h.Node.Node.Labels[rackLabel] = oneOf(m.dice, r.Values...)
				h.NodeClaim.Labels[rackLabel] = h.Node.Node.Labels[rackLabel]
			}
		}
		for _, w := range shuffled(m.dice, workloads) {
			n := 1 + m.IntN(3)
			if w.spec.Affinity != nil || w.spec.Containers[0].Ports[0].HostPort > 0 {
				n = 1
			}
			if len(pool.Spec.Template.Spec.Taints) > 0 && !tolerates(w.spec, teamTaint) {
				n = 0
			}
			for range n {
				h.run(m, m.replica(w), w.spec)
			}
		}
		m.out.Nodes = append(m.out.Nodes, h.Node)
		return
	}
}

// sold lists the offerings that a pool of a constrained scenario can buy.
func (m *maker) sold(pool *v1.NodePool) []offer {
	var out []offer
	for i := range m.types {
		for _, o := range m.types[i].Offerings {
			sold := offer{of: &m.types[i], zone: o.Zone, capacityType: o.CapacityType}
			labels := nodeLabels(pool, sold)
			if o.Available && !slices.ContainsFunc(pool.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool {
				value, has := labels[r.Key]
				return has && r.Operator == corev1.NodeSelectorOpIn && !slices.Contains(r.Values, value)
			}) {
				out = append(out, sold)
			}
		}
	}
	return out
}

func tolerates(spec corev1.PodSpec, taint corev1.Taint) bool {
	return slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == taint.Key })
}
