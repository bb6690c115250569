package v1

// Condition types of NodePool and NodeOverlay.
const (
	// ConditionTypeReady is the root condition of every kind. It is true if the
	// conditions it depends on are: ValidationSucceeded and NodeClassReady for
	// a NodePool; Launched, Registered and Initialized for a NodeClaim;
	// ValidationSucceeded for a NodeOverlay.
	ConditionTypeReady = "Ready"
	// ConditionTypeValidationSucceeded says that the spec has no fault that the
	// schema could not find.
	ConditionTypeValidationSucceeded = "ValidationSucceeded"
	// ConditionTypeNodeClassReady says that the NodeClass exists and is ready.
	ConditionTypeNodeClassReady = "NodeClassReady"
	// ConditionTypeNodeRegistrationHealthy says whether recent launches of the pool joined the
	// cluster. Ready does not depend on it.
	ConditionTypeNodeRegistrationHealthy = "NodeRegistrationHealthy"
)

// Condition types of NodeClaim.
const (
	// ConditionTypeLaunched says that the cloud has made the machine.
	ConditionTypeLaunched = "Launched"
	// ConditionTypeRegistered says that the machine joined as a Node.
	ConditionTypeRegistered = "Registered"
	// ConditionTypeInitialized says that the Node is ready for pods. During a
	// reboot it is Unknown with ReasonRebooting.
	ConditionTypeInitialized = "Initialized"
	// ConditionTypeConsolidatable says that ConsolidateAfter has passed.
	ConditionTypeConsolidatable = "Consolidatable"
	// ConditionTypeDrifted says that the node no longer matches its pool or NodeClass; the reason
	// names the difference.
	ConditionTypeDrifted = "Drifted"
	// ConditionTypeDrained says that the pods are gone.
	ConditionTypeDrained = "Drained"
	// ConditionTypeVolumesDetached says that the volumes are detached.
	ConditionTypeVolumesDetached = "VolumesDetached"
	// ConditionTypeInstanceTerminating says that the cloud accepted to end the
	// machine.
	ConditionTypeInstanceTerminating = "InstanceTerminating"
	// ConditionTypeConsistentStateFound says that the node has the capacity and taints that its
	// NodeClaim promised.
	ConditionTypeConsistentStateFound = "ConsistentStateFound"
	// ConditionTypeDisruptionReason says that the node is being disrupted; the
	// reason says why.
	ConditionTypeDisruptionReason = "DisruptionReason"
	// ConditionTypeRebooting says that the node is being rebooted to repair it.
	ConditionTypeRebooting = "Rebooting"
)

// Reasons of the Rebooting condition, and the reason of Initialized meanwhile.
const (
	// ReasonRebootRequested (True): the reboot was decided, the node drains.
	ReasonRebootRequested = "RebootRequested"
	// ReasonRebootIssued (True): the cloud was asked.
	ReasonRebootIssued = "RebootIssued"
	// ReasonRebootSucceeded (False): the node came back ready.
	ReasonRebootSucceeded = "RebootSucceeded"
	// ReasonRebootFailed (False): the node did not come back ready, or the request was invalid.
	ReasonRebootFailed = "RebootFailed"
	// ReasonRebooting is why Initialized is Unknown during a reboot.
	ReasonRebooting = "Rebooting"
)

// Reasons of the ValidationSucceeded condition when it is False.
const (
	// ReasonNodePoolValidationFailed is the reason on a NodePool.
	ReasonNodePoolValidationFailed = "NodePoolValidationFailed"
	// ReasonRuntimeValidation is the reason on a NodeOverlay whose spec has a fault.
	ReasonRuntimeValidation = "RuntimeValidation"
	// ReasonConflict is the reason on a NodeOverlay that contradicts another of
	// the same weight.
	ReasonConflict = "Conflict"
)
