package v1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// WellKnownLabels returns the label keys that AWS adds to those of every provider, sorted. A
// NodePool may require them without defining them. LabelNodeClass is not among them, because a
// NodePool chooses its class by reference. The caller owns the slice.
func WellKnownLabels() []string {
	labels := []string{
		LabelCapacityReservationID, LabelCapacityReservationInterruptible, LabelCapacityReservationType,
		LabelInstanceTenancy, LabelPlacementGroupID, LabelPlacementGroupPartition,
		LabelTopologyZoneID,
	}
	labels = append(labels, instanceLabels()...)
	slices.Sort(labels)
	return labels
}

// instanceLabels returns the labels of a type that depend neither on the zone nor on the capacity
// type.
func instanceLabels() []string {
	return []string{
		LabelInstanceAcceleratorCount, LabelInstanceAcceleratorManufacturer, LabelInstanceAcceleratorName,
		LabelInstanceCPU, LabelInstanceCPUManufacturer, LabelInstanceCPUSustainedClockSpeedMhz,
		LabelInstanceCapabilityFlex, LabelInstanceCategory, LabelInstanceEBSBandwidth,
		LabelInstanceEncryptionInTransitSupported, LabelInstanceFamily, LabelInstanceGPUCount,
		LabelInstanceGPUManufacturer, LabelInstanceGPUMemory, LabelInstanceGPUName,
		LabelInstanceGeneration, LabelInstanceHypervisor, LabelInstanceLocalNVME, LabelInstanceMemory,
		LabelInstanceNetworkBandwidth, LabelInstanceSize,
	}
}

// WellKnownResources returns the extended resources that EC2 reports for instance types, so that a
// NodeOverlay cannot set them, sorted. GPUs are not among them: EC2 reports none for some types,
// and an overlay is the remedy. The slice is the caller's.
func WellKnownResources() []corev1.ResourceName {
	return []corev1.ResourceName{ResourceNeuron, ResourceNeuronCore, ResourceGaudi, ResourceEFA, ResourcePodENI}
}

// ExoticResources returns the extended resources whose instance types are launched only if no other
// type fits, sorted. The slice is the caller's.
func ExoticResources() []corev1.ResourceName {
	return []corev1.ResourceName{ResourceAMDGPU, ResourceNeuron, ResourceNeuronCore, ResourceGaudi, ResourceNVIDIAGPU}
}

// VocabularyExtension returns what AWS adds to the vocabulary of requirements: the well-known
// labels, the domain karpenter.k8s.aws as a restricted one, the EBS storage driver's label as an
// alias of the zone, the tenancies, and the zone's id as another name of the zone.
func VocabularyExtension() requirements.Extension {
	return requirements.Extension{
		WellKnown:         WellKnownLabels(),
		RestrictedDomains: []string{Group},
		Aliases:           map[string]string{LabelEBSTopologyZone: corev1.LabelTopologyZone},
		KnownValues:       knownValues(),
		ZoneNames:         []string{LabelTopologyZoneID},
	}
}

// Vocabulary returns the vocabulary of requirements on AWS: the default one with
// VocabularyExtension.
func Vocabulary() *requirements.Vocabulary {
	return requirements.DefaultVocabulary().Extend(VocabularyExtension())
}

func knownValues() map[string][]string {
	return map[string][]string{LabelInstanceTenancy: {TenancyDedicated, TenancyDefault}}
}

// NodePoolRules returns the rules for NodePool.ValidateWith and NodeClaim.ValidateWith on
// AWS. They are the caller's.
func NodePoolRules() *karpv1.Rules {
	return &karpv1.Rules{
		WellKnownLabels:    WellKnownLabels(),
		RestrictedDomains:  []string{Group},
		KnownValues:        knownValues(),
		NodeClassLabels:    []string{LabelNodeClass},
		WellKnownResources: WellKnownResources(),
	}
}

// NodeOverlayRules returns the rules for NodeOverlay.ValidateWith on AWS. An overlay is about
// instance types, so it cannot require tenancy, reservation or placement group. They are the
// caller's.
func NodeOverlayRules() *karpv1.Rules {
	rules := NodePoolRules()
	rules.WellKnownLabels = append(instanceLabels(), LabelTopologyZoneID)
	slices.Sort(rules.WellKnownLabels)
	return rules
}
