package catalog

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// LabelDomain is the domain of the labels that describe EC2 instances.
const LabelDomain = "karpenter.k8s.aws"

// Labels of the instance types of this package, on top of those of Kubernetes
// and of karpenter.sh. Keys and values are spelled as Karpenter's AWS provider
// spells them, so that a NodePool written for EC2 means the same here.
//
// Every instance type of All has a requirement on every one of them:
// DoesNotExist where a label does not apply to it.
const (
	// LabelInstanceCategory is the leading letters of the family: m, c, trn.
	LabelInstanceCategory = LabelDomain + "/instance-category"
	// LabelInstanceFamily is the part of the type before the dot: m7i-flex.
	LabelInstanceFamily = LabelDomain + "/instance-family"
	// LabelInstanceGeneration is the first number of the family: 7.
	LabelInstanceGeneration = LabelDomain + "/instance-generation"
	// LabelInstanceSize is the part of the type after the dot: 2xlarge.
	LabelInstanceSize = LabelDomain + "/instance-size"
	// LabelInstanceCPU is the number of vCPUs.
	LabelInstanceCPU = LabelDomain + "/instance-cpu"
	// LabelInstanceCPUManufacturer is intel, amd or aws.
	LabelInstanceCPUManufacturer = LabelDomain + "/instance-cpu-manufacturer"
	// LabelInstanceCPUSustainedClockSpeedMHz is the clock speed in MHz that all
	// cores sustain.
	LabelInstanceCPUSustainedClockSpeedMHz = LabelDomain + "/instance-cpu-sustained-clock-speed-mhz"
	// LabelInstanceMemory is the memory of the machine in MiB. The capacity of
	// the node is less: see All.
	LabelInstanceMemory = LabelDomain + "/instance-memory"
	// LabelInstanceEBSBandwidth is the largest bandwidth to EBS volumes in
	// Mbps.
	LabelInstanceEBSBandwidth = LabelDomain + "/instance-ebs-bandwidth"
	// LabelInstanceNetworkBandwidth is the network bandwidth that can be
	// counted on, in Mbps.
	LabelInstanceNetworkBandwidth = LabelDomain + "/instance-network-bandwidth"
	// LabelInstanceLocalNVMe is the size of the local NVMe disks in GB.
	LabelInstanceLocalNVMe = LabelDomain + "/instance-local-nvme"
	// LabelInstanceCapabilityFlex is "true" on the flex families and "false" on
	// the others.
	LabelInstanceCapabilityFlex = LabelDomain + "/instance-capability-flex"
	// LabelInstanceHypervisor is nitro or xen, and empty on bare metal.
	LabelInstanceHypervisor = LabelDomain + "/instance-hypervisor"
	// LabelInstanceEncryptionInTransitSupported is "true" if the network
	// encrypts traffic between instances, and "false" otherwise.
	LabelInstanceEncryptionInTransitSupported = LabelDomain + "/instance-encryption-in-transit-supported"
	// LabelInstanceNitroEnclavesSupported is "true" if the instance can host
	// Nitro enclaves, and "false" otherwise.
	LabelInstanceNitroEnclavesSupported = LabelDomain + "/instance-nitro-enclaves-supported"
	// LabelNitroSandbox is the name that later versions of the provider give to
	// LabelInstanceNitroEnclavesSupported. Both have the same value.
	LabelNitroSandbox = LabelDomain + "/nitro-sandbox"
	// LabelInstanceGPUName is the model of the GPUs: t4, a10g.
	LabelInstanceGPUName = LabelDomain + "/instance-gpu-name"
	// LabelInstanceGPUManufacturer is nvidia, amd or habana.
	LabelInstanceGPUManufacturer = LabelDomain + "/instance-gpu-manufacturer"
	// LabelInstanceGPUCount is the number of GPUs. It is 0 where an instance
	// has a share of one.
	LabelInstanceGPUCount = LabelDomain + "/instance-gpu-count"
	// LabelInstanceGPUMemory is the memory of one GPU, or of the share of it,
	// in MiB.
	LabelInstanceGPUMemory = LabelDomain + "/instance-gpu-memory"
	// LabelInstanceAcceleratorName is the model of the machine learning
	// accelerators that are not GPUs: inferentia2, trainium.
	LabelInstanceAcceleratorName = LabelDomain + "/instance-accelerator-name"
	// LabelInstanceAcceleratorManufacturer is aws.
	LabelInstanceAcceleratorManufacturer = LabelDomain + "/instance-accelerator-manufacturer"
	// LabelInstanceAcceleratorCount is the number of accelerators.
	LabelInstanceAcceleratorCount = LabelDomain + "/instance-accelerator-count"
	// LabelInstanceTenancy may be default or dedicated for every type.
	LabelInstanceTenancy = LabelDomain + "/instance-tenancy"
	// LabelCapacityReservationID is the capacity reservation of an offering.
	LabelCapacityReservationID = LabelDomain + "/capacity-reservation-id"
	// LabelCapacityReservationType is default or capacity-block.
	LabelCapacityReservationType = LabelDomain + "/capacity-reservation-type"
	// LabelCapacityReservationInterruptible says whether a reservation may be
	// taken back.
	LabelCapacityReservationInterruptible = LabelDomain + "/capacity-reservation-interruptible"
	// LabelPlacementGroupID is the placement group of a node.
	LabelPlacementGroupID = LabelDomain + "/placement-group-id"
	// LabelPlacementGroupPartition is the partition of the placement group.
	LabelPlacementGroupPartition = LabelDomain + "/placement-group-partition"
	// LabelZoneID is the id of a zone, which is the same for all accounts
	// whatever they call the zone: use1-az1.
	LabelZoneID = "topology.k8s.aws/zone-id"
)

// Resources of the nodes of this package beyond those of Kubernetes.
const (
	// ResourceNVIDIAGPU counts NVIDIA GPUs.
	ResourceNVIDIAGPU corev1.ResourceName = "nvidia.com/gpu"
	// ResourceAMDGPU counts AMD GPUs.
	ResourceAMDGPU corev1.ResourceName = "amd.com/gpu"
	// ResourceHabanaGaudi counts Gaudi accelerators.
	ResourceHabanaGaudi corev1.ResourceName = "habana.ai/gaudi"
	// ResourceAWSNeuron counts Inferentia and Trainium chips.
	ResourceAWSNeuron corev1.ResourceName = "aws.amazon.com/neuron"
	// ResourceAWSNeuronCore counts the cores of those chips.
	ResourceAWSNeuronCore corev1.ResourceName = "aws.amazon.com/neuroncore"
	// ResourcePodENI counts branch network interfaces, one for each pod that
	// has security groups of its own.
	ResourcePodENI corev1.ResourceName = "vpc.amazonaws.com/pod-eni"
	// ResourceEFA counts Elastic Fabric Adapters.
	ResourceEFA corev1.ResourceName = "vpc.amazonaws.com/efa"
)

// WellKnownLabels returns the keys of the labels above, sorted. The slice is
// the caller's.
func WellKnownLabels() []string {
	return []string{
		LabelCapacityReservationID,
		LabelCapacityReservationInterruptible,
		LabelCapacityReservationType,
		LabelInstanceAcceleratorCount,
		LabelInstanceAcceleratorManufacturer,
		LabelInstanceAcceleratorName,
		LabelInstanceCapabilityFlex,
		LabelInstanceCategory,
		LabelInstanceCPU,
		LabelInstanceCPUManufacturer,
		LabelInstanceCPUSustainedClockSpeedMHz,
		LabelInstanceEBSBandwidth,
		LabelInstanceEncryptionInTransitSupported,
		LabelInstanceFamily,
		LabelInstanceGeneration,
		LabelInstanceGPUCount,
		LabelInstanceGPUManufacturer,
		LabelInstanceGPUMemory,
		LabelInstanceGPUName,
		LabelInstanceHypervisor,
		LabelInstanceLocalNVMe,
		LabelInstanceMemory,
		LabelInstanceNetworkBandwidth,
		LabelInstanceNitroEnclavesSupported,
		LabelInstanceSize,
		LabelInstanceTenancy,
		LabelNitroSandbox,
		LabelPlacementGroupID,
		LabelPlacementGroupPartition,
		LabelZoneID,
	}
}

// Vocabulary returns requirements.DefaultVocabulary with what the AWS provider
// adds to it:
//
//   - well-known: the labels of WellKnownLabels;
//   - restricted: the domain karpenter.k8s.aws;
//   - aliases: topology.ebs.csi.aws.com/zone, by which volumes name their zone;
//   - known values: default and dedicated for the tenancy;
//   - names of the zone: its ID.
func Vocabulary() *requirements.Vocabulary {
	return requirements.DefaultVocabulary().Extend(requirements.Extension{
		WellKnown:         WellKnownLabels(),
		RestrictedDomains: []string{LabelDomain},
		Aliases:           map[string]string{"topology.ebs.csi.aws.com/zone": corev1.LabelTopologyZone},
		KnownValues:       map[string][]string{LabelInstanceTenancy: {tenancyDedicated, tenancyDefault}},
		ZoneNames:         []string{LabelZoneID},
	})
}

const (
	tenancyDedicated = "dedicated"
	tenancyDefault   = "default"
)

// notApplicable returns the keys of the labels that no instance type of the
// catalog has, as it has neither Windows nor reservations nor placement groups.
func notApplicable() []string {
	return []string{
		corev1.LabelWindowsBuild,
		LabelCapacityReservationID,
		LabelCapacityReservationType,
		LabelCapacityReservationInterruptible,
		LabelPlacementGroupID,
		LabelPlacementGroupPartition,
	}
}

// capacityTypes of the catalog, sorted.
func capacityTypes(onDemand, spot bool) []string {
	var out []string
	if onDemand {
		out = append(out, v1.CapacityTypeOnDemand)
	}
	if spot {
		out = append(out, v1.CapacityTypeSpot)
	}
	return out
}
