package family

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// The pools of a production cluster.
const (
	poolGeneral = "general"
	poolArm     = "arm"
	poolSpot    = "spot"
	poolGPU     = "gpu"
)

const appLabel = "app.kubernetes.io/name"

var (
	armTaint  = corev1.Taint{Key: "example.com/arch", Value: "arm64", Effect: corev1.TaintEffectNoSchedule}
	spotTaint = corev1.Taint{Key: "example.com/interruptible", Value: "true", Effect: corev1.TaintEffectNoSchedule}
	gpuTaint  = corev1.Taint{Key: string(awsv1.ResourceNVIDIAGPU), Value: "present", Effect: corev1.TaintEffectNoSchedule}
)

// production makes every replica of every workload pending.
func production(m *maker) {
	workloads := m.cluster(m.spec.Pods)
	m.pendAll(workloads)
}

// cluster adds namespaces, pools and daemons, and returns workloads with that many replicas in
// total.
func (m *maker) cluster(replicas int) []*workload {
	m.addNamespaces(append([]string{"kube-system", "monitoring"}, workloadNamespaces()...)...)
	m.productionPools(replicas)
	m.daemons()
	return m.workloads(replicas)
}

// productionPools adds the pools, which differ in weight, taints and instance types. Limits are set
// so wide that they suffice even if every node is counted as the largest type that it may become.
func (m *maker) productionPools(replicas int) {
	const (
		cpusPerPod = 64
		gpusPerPod = 8
		slack      = 1000
	)
	cpus := *resource.NewQuantity(int64(slack+cpusPerPod*replicas), resource.DecimalSI)
	gpus := *resource.NewQuantity(int64(slack+gpusPerPod*replicas), resource.DecimalSI)
	ordinary := pick(awsv1.LabelInstanceCategory, "c", "m", "r")
	notHuge := compare(awsv1.LabelInstanceCPU, corev1.NodeSelectorOpLt, "65")
	families := 5
	anyFamily := v1.NodeSelectorRequirementWithMinValues{
		Key: awsv1.LabelInstanceFamily, Operator: corev1.NodeSelectorOpExists, MinValues: &families,
	}

	m.productionPool(poolGeneral, 10, v1.Limits{corev1.ResourceCPU: cpus, corev1.ResourceMemory: resource.MustParse("4000Ti")}, nil,
		pick(corev1.LabelArchStable, v1.ArchitectureAmd64), pick(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
		ordinary, notHuge, compare(awsv1.LabelInstanceGeneration, corev1.NodeSelectorOpGt, "4"))
	m.productionPool(poolArm, 20, v1.Limits{corev1.ResourceCPU: cpus}, []corev1.Taint{armTaint},
		pick(corev1.LabelArchStable, v1.ArchitectureArm64), pick(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
		pick(awsv1.LabelInstanceCategory, "c", "m", "r", "t"), notHuge, compare(awsv1.LabelInstanceGeneration, corev1.NodeSelectorOpGt, "5"))
	m.productionPool(poolSpot, 30, v1.Limits{corev1.ResourceCPU: cpus}, []corev1.Taint{spotTaint},
		pick(corev1.LabelArchStable, v1.ArchitectureAmd64), pick(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot),
		ordinary, notHuge, anyFamily)
	m.productionPool(poolGPU, 1, v1.Limits{corev1.ResourceName(awsv1.ResourceNVIDIAGPU): gpus}, []corev1.Taint{gpuTaint},
		pick(corev1.LabelArchStable, v1.ArchitectureAmd64), pick(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
		pick(awsv1.LabelInstanceCategory, "g", "p"), pick(awsv1.LabelInstanceGPUManufacturer, "nvidia"))
}

func (m *maker) productionPool(name string, weight int32, limits v1.Limits, taints []corev1.Taint, asked ...v1.NodeSelectorRequirementWithMinValues) {
	spec := v1.NodePoolSpec{Weight: &weight, Limits: limits}
	spec.Template.Labels = map[string]string{"example.com/pool": name}
	spec.Template.Spec.Taints = taints
	spec.Template.Spec.Requirements = append(asked, pick(corev1.LabelOSStable, string(corev1.Linux)))
	m.addPool(name, spec)
}

func pick(key string, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return compare(key, corev1.NodeSelectorOpIn, values...)
}

func compare(key string, op corev1.NodeSelectorOperator, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values}
}

// daemons adds the daemons. All run on every node, except for the device plugin, which runs on
// nodes with NVIDIA GPUs.
func (m *maker) daemons() {
	m.daemon("kube-system", "cni", amounts(50, 0))
	m.daemon("kube-system", "kube-proxy", amounts(100, 0))
	m.daemon("kube-system", "csi-node", amounts(30, 120))
	exporter := m.daemon("monitoring", "node-exporter", amounts(100, 128))
	exporter.Spec.Containers[0].Ports = []corev1.ContainerPort{hostPort("metrics", 9100)}
	plugin := m.daemon("kube-system", "gpu-device-plugin", amounts(50, 64))
	plugin.Spec.NodeSelector = map[string]string{awsv1.LabelInstanceGPUManufacturer: "nvidia"}
}

func (m *maker) daemon(namespace, name string, requests corev1.ResourceList) *corev1.Pod {
	if q := requests[corev1.ResourceMemory]; q.IsZero() {
		delete(requests, corev1.ResourceMemory)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: m.uid(),
			Labels:          map[string]string{appLabel: name},
			OwnerReferences: []metav1.OwnerReference{m.controller("DaemonSet", name)},
		},
		Spec: corev1.PodSpec{
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers:  []corev1.Container{{Name: name, Image: mixImage, Resources: corev1.ResourceRequirements{Requests: requests}}},
		},
	}
	m.out.DaemonSetPods = append(m.out.DaemonSetPods, pod)
	return pod
}

// controller returns a reference to a new owner of pods.
func (m *maker) controller(kind, name string) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: name, UID: m.uid(), Controller: &yes, BlockOwnerDeletion: &yes}
}

func hostPort(name string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: port, HostPort: port, Protocol: corev1.ProtocolTCP}
}
