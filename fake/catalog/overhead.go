package catalog

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30

	// rootVolume is the disk of a node whose class says nothing of disks.
	rootVolume = 20 * gibibyte
	// vmOverheadPerMille is the share of memory that the hypervisor and the
	// kernel are taken to need before the kubelet sees any.
	vmOverheadPerMille = 75
	// armReservedMiB is what Graviton machines keep for themselves.
	armReservedMiB = 64
)

// memoryCapacity is the memory in bytes that a node of a machine with so many
// MiB is expected to report. What is held back is rounded up to whole MiB.
func memoryCapacity(machineMiB int64, arch string) int64 {
	if arch == "arm64" {
		machineMiB -= armReservedMiB
	}
	return (machineMiB - ceilDiv(machineMiB*vmOverheadPerMille, 1000)) * mebibyte
}

// podCapacity is the number of pods that a node can give an address to. The
// first address of each interface is the interface's own; two pods more run on
// the network of the host.
func podCapacity(interfaces, addresses int) int64 {
	return int64(interfaces*(addresses-1) + 2)
}

// overhead is what the kubelet of a node holds back, with the defaults of the
// AMIs of EKS: CPU in falling shares, memory by the number of pods, and what
// has to stay free lest pods be evicted.
func overhead(milliCPU, pods, disk int64) cloudprovider.Overhead {
	return cloudprovider.Overhead{
		KubeReserved: resources.New(map[corev1.ResourceName]int64{
			corev1.ResourceCPU:              reservedCPU(milliCPU),
			corev1.ResourceMemory:           (255 + 11*pods) * mebibyte,
			corev1.ResourceEphemeralStorage: gibibyte,
		}),
		EvictionThreshold: resources.New(map[corev1.ResourceName]int64{
			corev1.ResourceMemory:           100 * mebibyte,
			corev1.ResourceEphemeralStorage: ceilDiv(disk, 10),
		}),
	}
}

// reservedCPU is 6% of the first CPU, 1% of the second, 0.5% of the third and
// fourth and 0.25% of the rest, each in whole milli-CPU.
func reservedCPU(milliCPU int64) int64 {
	tier := func(from, to, perTenThousand int64) int64 {
		return max(min(milliCPU, to)-from, 0) * perTenThousand / 10_000
	}
	return tier(0, 1000, 600) + tier(1000, 2000, 100) + tier(2000, 4000, 50) + tier(4000, milliCPU, 25)
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
