package v1

import corev1 "k8s.io/api/core/v1"

// Label keys of the karpenter.sh domain.
const (
	// NodePoolLabelKey names the NodePool of a NodeClaim or Node.
	NodePoolLabelKey = Group + "/nodepool"
	// CapacityTypeLabelKey says how a node is bought: one of the CapacityType
	// constants.
	CapacityTypeLabelKey = Group + "/capacity-type"
	// NodeRegisteredLabelKey is "true" on a Node that was matched with its
	// NodeClaim.
	NodeRegisteredLabelKey = Group + "/registered"
	// NodeInitializedLabelKey is "true" on a Node that was ready once, without
	// startup taints and with all its resources.
	NodeInitializedLabelKey = Group + "/initialized"
	// NodeDoNotSyncTaintsLabelKey, if "true" on a Node, says that the kubelet sets its taints at
	// registration, so that the controller must not.
	NodeDoNotSyncTaintsLabelKey = Group + "/do-not-sync-taints"
)

// Annotation keys of the karpenter.sh domain.
const (
	// DoNotDisruptAnnotationKey, if "true" on a Pod, Node or NodeClaim, prevents voluntary
	// disruption. On a Pod it may also be a duration from the pod's start.
	DoNotDisruptAnnotationKey = Group + "/do-not-disrupt"
	// DoNotRepairAnnotationKey, if "true" on a Node or NodeClaim, prevents repair only.
	DoNotRepairAnnotationKey = Group + "/do-not-repair"
	// DisruptionCommandAnnotationKey, which is not Karpenter's, holds the record of the
	// command that a NodeClaim or Node takes part in: see package disruption/command.
	DisruptionCommandAnnotationKey = "dovetail-sdk.github.io/disruption-command"
	// NodePoolHashAnnotationKey holds NodePool.Hash on a NodePool and on each
	// NodeClaim made from it.
	NodePoolHashAnnotationKey = Group + "/nodepool-hash"
	// NodePoolHashVersionAnnotationKey holds NodePoolHashVersion, next to the hash. Hashes of
	// different versions are not comparable.
	NodePoolHashVersionAnnotationKey = Group + "/nodepool-hash-version"
	// NodeClaimTerminationTimestampAnnotationKey, on a NodeClaim, is the RFC
	// 3339 time at which its drain ends by force.
	NodeClaimTerminationTimestampAnnotationKey = Group + "/nodeclaim-termination-timestamp"
	// NodeClaimMinValuesRelaxedAnnotationKey, on a NodeClaim, is "true" if
	// minValues had to be lowered to launch it.
	NodeClaimMinValuesRelaxedAnnotationKey = Group + "/nodeclaim-min-values-relaxed"
	// DRADriversAnnotationKey, on a NodeClaim, lists the dynamic resource
	// drivers that its pods need: sorted, separated by commas.
	DRADriversAnnotationKey = Group + "/requested-dra-drivers"
	// PriceOverlayAppliedAnnotationKey marks a NodeClaim whose launch price was
	// changed by a NodeOverlay.
	PriceOverlayAppliedAnnotationKey = Group + "/price-overlay-applied"
	// CapacityOverlayAppliedAnnotationKey marks a NodeClaim whose capacity was
	// changed by a NodeOverlay.
	CapacityOverlayAppliedAnnotationKey = Group + "/capacity-overlay-applied"
	// CapacityBufferFakePodAnnotationKey marks a virtual pod that stands for a
	// slot of a capacity buffer.
	CapacityBufferFakePodAnnotationKey = Group + "/capacity-buffer-fake-pod"
	// CapacityBufferNameAnnotationKey names the buffer of a virtual pod.
	CapacityBufferNameAnnotationKey = Group + "/capacity-buffer-name"
	// CapacityBufferNamespaceAnnotationKey is the namespace of that buffer.
	CapacityBufferNamespaceAnnotationKey = Group + "/capacity-buffer-namespace"
	// DisruptionCostAnnotationKey, on a Pod, is an int32 cost of evicting it. It takes precedence
	// over the pod deletion cost. Alpha.
	DisruptionCostAnnotationKey = Group + "/disruption-cost"
	// RebootPreBootIDAnnotationKey, on a NodeClaim, is the boot ID from before a requested reboot.
	RebootPreBootIDAnnotationKey = Group + "/reboot-pre-boot-id"
	// RebootTerminationGracePeriodAnnotationKey, on a NodeClaim, is a Go
	// duration that bounds the drain before a reboot: absent is no bound, 0 is
	// no drain, negative or unreadable is an invalid request.
	RebootTerminationGracePeriodAnnotationKey = Group + "/reboot-termination-grace-period"
)

// Annotation keys of Kubernetes that decisions read.
const (
	// PodDeletionCostAnnotationKey, on a Pod, is the cost of evicting it unless
	// DisruptionCostAnnotationKey says otherwise.
	PodDeletionCostAnnotationKey = corev1.PodDeletionCost
	// BindCompletedAnnotationKey, on a PersistentVolumeClaim, says that its
	// volume is bound for good.
	BindCompletedAnnotationKey = "pv.kubernetes.io/bind-completed"
)

// TerminationFinalizer holds a NodeClaim or Node until its machine is gone.
const TerminationFinalizer = Group + "/termination"

// Capacity types: the values of CapacityTypeLabelKey.
const (
	// CapacityTypeSpot is capacity that the cloud may take back.
	CapacityTypeSpot = "spot"
	// CapacityTypeOnDemand is capacity at the list price, kept until released.
	CapacityTypeOnDemand = "on-demand"
	// CapacityTypeReserved is capacity that is already paid for.
	CapacityTypeReserved = "reserved"
)

// Architectures: the values of kubernetes.io/arch.
const (
	// ArchitectureAmd64 is x86-64.
	ArchitectureAmd64 = "amd64"
	// ArchitectureArm64 is 64-bit Arm.
	ArchitectureArm64 = "arm64"
)

// CapacityTypes returns the capacity types, sorted. The slice is the caller's.
func CapacityTypes() []string {
	return []string{CapacityTypeOnDemand, CapacityTypeReserved, CapacityTypeSpot}
}

// WellKnownLabels returns the label keys that every provider's instance types
// are expected to have, sorted. Providers add their own. The slice is the
// caller's.
func WellKnownLabels() []string {
	return []string{
		CapacityTypeLabelKey,
		NodePoolLabelKey,
		corev1.LabelArchStable,
		corev1.LabelOSStable,
		corev1.LabelInstanceTypeStable,
		corev1.LabelWindowsBuild,
		corev1.LabelTopologyRegion,
		corev1.LabelTopologyZone,
	}
}

// WellKnownResources returns the resources that every instance type has,
// sorted. A NodeOverlay cannot set them. The slice is the caller's.
func WellKnownResources() []corev1.ResourceName {
	return []corev1.ResourceName{
		corev1.ResourceCPU,
		corev1.ResourceEphemeralStorage,
		corev1.ResourceMemory,
		corev1.ResourcePods,
	}
}

// Taint keys of the karpenter.sh domain.
const (
	// DisruptedTaintKey excludes new pods from a node that is being removed.
	DisruptedTaintKey = Group + "/disrupted"
	// UnregisteredTaintKey excludes all pods from a node that was not yet matched with its
	// NodeClaim. The machine must register with it.
	UnregisteredTaintKey = Group + "/unregistered"
	// RebootingTaintKey excludes new pods from a node that is about to reboot.
	RebootingTaintKey = Group + "/rebooting"
	// DeletionCandidateTaintKey makes kube-scheduler prefer other nodes for new pods, so that the node
	// becomes empty without evictions: see disruption.Cluster.SoftTaints. Karpenter does not know it.
	DeletionCandidateTaintKey = "dovetail-sdk.github.io/deletion-candidate"
)

// DisruptedNoScheduleTaint returns the taint of a node that is being removed.
func DisruptedNoScheduleTaint() corev1.Taint {
	return corev1.Taint{Key: DisruptedTaintKey, Effect: corev1.TaintEffectNoSchedule}
}

// UnregisteredNoExecuteTaint returns the taint of a node that was not yet
// matched with its NodeClaim.
func UnregisteredNoExecuteTaint() corev1.Taint {
	return corev1.Taint{Key: UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}
}

// RebootingNoScheduleTaint returns the taint of a node that is about to reboot
// or is doing so.
func RebootingNoScheduleTaint() corev1.Taint {
	return corev1.Taint{Key: RebootingTaintKey, Effect: corev1.TaintEffectNoSchedule}
}
