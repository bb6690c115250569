package v1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Label keys of nodes, claims and instance types. Those about instances are
// well-known; a label that an instance type cannot have is absent.
const (
	// LabelNodeClass names the EC2NodeClass of a node. It is also a tag of everything that is
	// created in EC2.
	LabelNodeClass = Group + "/ec2nodeclass"
	// LabelTopologyZoneID is the id of the zone, such as use1-az1.
	LabelTopologyZoneID = "topology.k8s.aws/zone-id"
	// LabelCapacityReservationID is the id of the reservation.
	LabelCapacityReservationID = Group + "/capacity-reservation-id"
	// LabelCapacityReservationType is a CapacityReservationType.
	LabelCapacityReservationType = Group + "/capacity-reservation-type"
	// LabelCapacityReservationInterruptible is true or false.
	LabelCapacityReservationInterruptible = Group + "/capacity-reservation-interruptible"
	// LabelPlacementGroupID is the id of the placement group.
	LabelPlacementGroupID = Group + "/placement-group-id"
	// LabelPlacementGroupPartition is the partition within the group, from 1.
	LabelPlacementGroupPartition = Group + "/placement-group-partition"
	// LabelInstanceTenancy is default or dedicated.
	LabelInstanceTenancy = Group + "/instance-tenancy"
	// LabelInstanceHypervisor is nitro or xen, empty on bare metal.
	LabelInstanceHypervisor = Group + "/instance-hypervisor"
	// LabelInstanceEncryptionInTransitSupported is true or false.
	LabelInstanceEncryptionInTransitSupported = Group + "/instance-encryption-in-transit-supported"
	// LabelInstanceCategory is the letters at the beginning of the type's name, as c.
	LabelInstanceCategory = Group + "/instance-category"
	// LabelInstanceCapabilityFlex is true for flex types, else false.
	LabelInstanceCapabilityFlex = Group + "/instance-capability-flex"
	// LabelInstanceFamily is the part of the name before the dot, as c6g.
	LabelInstanceFamily = Group + "/instance-family"
	// LabelInstanceGeneration is the first number in the name, as 6.
	LabelInstanceGeneration = Group + "/instance-generation"
	// LabelInstanceSize is the part of the name behind the dot, as large.
	LabelInstanceSize = Group + "/instance-size"
	// LabelInstanceLocalNVME is the size of the NVMe disks in GB.
	LabelInstanceLocalNVME = Group + "/instance-local-nvme"
	// LabelInstanceCPU is the number of vCPUs.
	LabelInstanceCPU = Group + "/instance-cpu"
	// LabelInstanceCPUManufacturer is aws, intel, amd and so on.
	LabelInstanceCPUManufacturer = Group + "/instance-cpu-manufacturer"
	// LabelInstanceCPUSustainedClockSpeedMhz is in MHz.
	LabelInstanceCPUSustainedClockSpeedMhz = Group + "/instance-cpu-sustained-clock-speed-mhz"
	// LabelInstanceMemory is in MiB.
	LabelInstanceMemory = Group + "/instance-memory"
	// LabelInstanceEBSBandwidth is the maximum in Mbps.
	LabelInstanceEBSBandwidth = Group + "/instance-ebs-bandwidth"
	// LabelInstanceNetworkBandwidth is the baseline in Mbps.
	LabelInstanceNetworkBandwidth = Group + "/instance-network-bandwidth"
	// LabelInstanceGPUName is the model, as t4.
	LabelInstanceGPUName = Group + "/instance-gpu-name"
	// LabelInstanceGPUManufacturer is nvidia, amd or habana.
	LabelInstanceGPUManufacturer = Group + "/instance-gpu-manufacturer"
	// LabelInstanceGPUCount is the number of GPUs.
	LabelInstanceGPUCount = Group + "/instance-gpu-count"
	// LabelInstanceGPUMemory is the memory of one GPU in MiB.
	LabelInstanceGPUMemory = Group + "/instance-gpu-memory"
	// LabelInstanceAcceleratorName is the model, as inferentia.
	LabelInstanceAcceleratorName = Group + "/instance-accelerator-name"
	// LabelInstanceAcceleratorManufacturer is aws.
	LabelInstanceAcceleratorManufacturer = Group + "/instance-accelerator-manufacturer"
	// LabelInstanceAcceleratorCount is the number of accelerators.
	LabelInstanceAcceleratorCount = Group + "/instance-accelerator-count"
	// LabelEBSTopologyZone is the zone under the name that the EBS storage
	// driver gives it; an alias of topology.kubernetes.io/zone.
	LabelEBSTopologyZone = "topology.ebs.csi.aws.com/zone"
)

// Annotation keys.
const (
	// EC2NodeClassHashAnnotationKey holds EC2NodeClass.Hash on a class and on
	// each NodeClaim made from it.
	EC2NodeClassHashAnnotationKey = Group + "/ec2nodeclass-hash"
	// EC2NodeClassHashVersionAnnotationKey holds EC2NodeClassHashVersion, next to the hash.
	EC2NodeClassHashVersionAnnotationKey = Group + "/ec2nodeclass-hash-version"
	// InstanceTaggedAnnotationKey, on a NodeClaim, is "true" once its instance
	// has the tags that are only known after launch.
	InstanceTaggedAnnotationKey = Group + "/tagged"
	// InstanceProfileAnnotationKey, on a NodeClaim, is the name of the instance
	// profile it was launched with.
	InstanceProfileAnnotationKey = Group + "/instance-profile-name"
	// ClusterNameTaggedAnnotationKey, on a NodeClaim, is "true" once its
	// instance has the tag ClusterNameTagKey.
	ClusterNameTaggedAnnotationKey = "compatibility." + Group + "/cluster-name-tagged"
)

// TerminationFinalizer keeps an EC2NodeClass until no NodeClaim uses it and everything that was
// made for it in AWS is deleted.
const TerminationFinalizer = Group + "/termination"

// LaunchTemplateNamePrefix is the prefix of the names of launch templates.
const LaunchTemplateNamePrefix = Group

// Tag keys of everything that is created in EC2 and IAM. Users can set only NameTagKey.
const (
	// NameTagKey is the name of the node, unless the class sets it.
	NameTagKey = "Name"
	// NodePoolTagKey names the NodePool.
	NodePoolTagKey = karpv1.NodePoolLabelKey
	// NodeClaimTagKey names the NodeClaim.
	NodeClaimTagKey = karpv1.Group + "/nodeclaim"
	// NodeClassTagKey names the EC2NodeClass.
	NodeClassTagKey = LabelNodeClass
	// ClusterNameTagKey names the cluster.
	ClusterNameTagKey = "eks:eks-cluster-name"
	// ClusterTagPrefix is the prefix of ClusterTagKey.
	ClusterTagPrefix = "kubernetes.io/cluster/"
	// ClusterTagValue is the value of that tag.
	ClusterTagValue = "owned"
)

// ClusterTagKey returns the key of the tag, with the value ClusterTagValue, that assigns a resource
// to a cluster.
func ClusterTagKey(cluster string) string {
	return ClusterTagPrefix + cluster
}

// IsRestrictedTag reports whether the controller sets the tag with this key, so that a class
// cannot.
func IsRestrictedTag(key string) bool {
	switch key {
	case NodePoolTagKey, NodeClaimTagKey, NodeClassTagKey, ClusterNameTagKey:
		return true
	}
	return strings.HasPrefix(key, strings.TrimSuffix(ClusterTagPrefix, "/")) || strings.HasPrefix(key, ownTagPrefix)
}

// ownTagPrefix begins the keys of tags that tell which requests an instance or a launch template is for.
const ownTagPrefix = "dovetail/"

// Extended resources of instance types.
const (
	// ResourceNVIDIAGPU counts GPUs of NVIDIA.
	ResourceNVIDIAGPU corev1.ResourceName = "nvidia.com/gpu"
	// ResourceAMDGPU counts GPUs of AMD.
	ResourceAMDGPU corev1.ResourceName = "amd.com/gpu"
	// ResourceNeuron counts Inferentia and Trainium devices.
	ResourceNeuron corev1.ResourceName = "aws.amazon.com/neuron"
	// ResourceNeuronCore counts their cores.
	ResourceNeuronCore corev1.ResourceName = "aws.amazon.com/neuroncore"
	// ResourceGaudi counts Gaudi accelerators of Habana.
	ResourceGaudi corev1.ResourceName = "habana.ai/gaudi"
	// ResourcePodENI counts branch network interfaces, for pods with security
	// groups of their own.
	ResourcePodENI corev1.ResourceName = "vpc.amazonaws.com/pod-eni"
	// ResourcePrivateIPv4Address counts addresses of Windows pods.
	ResourcePrivateIPv4Address corev1.ResourceName = "vpc.amazonaws.com/PrivateIPv4Address"
	// ResourceEFA counts elastic fabric adapters.
	ResourceEFA corev1.ResourceName = "vpc.amazonaws.com/efa"
)

// Values of LabelInstanceTenancy.
const (
	// TenancyDefault shares the hardware with other accounts.
	TenancyDefault = "default"
	// TenancyDedicated does not.
	TenancyDedicated = "dedicated"
)

// Values of node.kubernetes.io/windows-build.
const (
	// Windows2019Build is Windows Server 2019.
	Windows2019Build = "10.0.17763"
	// Windows2022Build is Windows Server 2022.
	Windows2022Build = "10.0.20348"
	// Windows2025Build is Windows Server 2025.
	Windows2025Build = "10.0.26100"
)
