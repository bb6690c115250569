package instancetype

import (
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// capacity returns the capacity of a node of the machine. Extended resources that are zero are left
// out. memory is in bytes.
func (b *builder) capacity(m *machine, memory, pods int64) resources.List {
	amounts := map[corev1.ResourceName]int64{
		corev1.ResourceCPU:              m.limits.VCPUs * 1000,
		corev1.ResourceMemory:           memory,
		corev1.ResourceEphemeralStorage: b.storage.bytes(m),
		corev1.ResourcePods:             pods,
	}
	for _, g := range m.gpus {
		if name := gpuResource(g.maker); name != "" {
			amounts[name] += g.count
		}
	}
	amounts[awsv1.ResourceNeuron] = m.neuron
	amounts[awsv1.ResourceNeuronCore] = m.cores
	amounts[awsv1.ResourceEFA] = b.adapters(m)
	amounts[awsv1.ResourcePodENI] = m.branches
	if b.family.Windows() && !m.limits.Arm64 {
		// Windows exists for amd64 only. As in Karpenter, types with Graviton have no such
		// resource; for all others Karpenter's table, that of the VPC resource controller, has the
		// figures of EC2.
		amounts[awsv1.ResourcePrivateIPv4Address] = max(m.limits.Addresses-1, 0)
	}
	for name, n := range amounts {
		if n == 0 && name != corev1.ResourcePods {
			delete(amounts, name)
		}
	}
	return resources.New(amounts)
}

// gpuResource returns the extended resource for GPUs of a maker.
func gpuResource(maker string) corev1.ResourceName {
	switch maker {
	case "NVIDIA":
		return awsv1.ResourceNVIDIAGPU
	case "AMD":
		return awsv1.ResourceAMDGPU
	case "Habana":
		return awsv1.ResourceGaudi
	}
	return ""
}

// adapters returns the number of elastic fabric adapters: those that the class lists among its
// network interfaces, or else as many as the machine supports, which are attached for pods that ask
// for them.
func (b *builder) adapters(m *machine) int64 {
	if len(b.class.Spec.NetworkInterfaces) == 0 {
		return m.efa
	}
	return int64(b.efaOnly)
}
