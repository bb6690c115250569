package v1

// Condition types of an EC2NodeClass.
const (
	// ConditionTypeReady is the root condition; see ReadyConditions for what it
	// depends on.
	ConditionTypeReady = "Ready"
	// ConditionTypeAMIsReady says that images were found.
	ConditionTypeAMIsReady = "AMIsReady"
	// ConditionTypeSubnetsReady says that subnets were found.
	ConditionTypeSubnetsReady = "SubnetsReady"
	// ConditionTypeSecurityGroupsReady says that security groups were found.
	ConditionTypeSecurityGroupsReady = "SecurityGroupsReady"
	// ConditionTypeInstanceProfileReady says that the instance profile exists.
	ConditionTypeInstanceProfileReady = "InstanceProfileReady"
	// ConditionTypeCapacityReservationsReady says that reservations were looked
	// up; finding none is fine.
	ConditionTypeCapacityReservationsReady = "CapacityReservationsReady"
	// ConditionTypePlacementGroupReady says that the placement group was found,
	// or that there is none to look for.
	ConditionTypePlacementGroupReady = "PlacementGroupReady"
	// ConditionTypeValidationSucceeded says that nodes can be launched, as far
	// as asking EC2 without launching tells.
	ConditionTypeValidationSucceeded = "ValidationSucceeded"
)

// Reasons for which these conditions are not true: AMIsReady,
// SubnetsReady, SecurityGroupsReady and PlacementGroupReady.
const (
	// ReasonAMINotFound: the terms select no image.
	ReasonAMINotFound = "AMINotFound"
	// ReasonUnsupportedAlias: AWS publishes no images of the alias's family for
	// the Kubernetes version.
	ReasonUnsupportedAlias = "UnsupportedAlias"
	// ReasonSubnetsNotFound: the terms select no subnet.
	ReasonSubnetsNotFound = "SubnetsNotFound"
	// ReasonSecurityGroupsNotFound: the terms select no security group.
	ReasonSecurityGroupsNotFound = "SecurityGroupsNotFound"
	// ReasonPlacementGroupNotFound: there is no such placement group.
	ReasonPlacementGroupNotFound = "PlacementGroupNotFound"
	// ReasonPlacementGroupResolutionFailed: EC2 did not answer.
	ReasonPlacementGroupResolutionFailed = "PlacementGroupResolutionFailed"
)

// Reasons of ValidationSucceeded.
const (
	// ReasonClusterCIDRResolutionFailed: the cluster's service addresses, which
	// AL2023 needs, could not be looked up.
	ReasonClusterCIDRResolutionFailed = "ClusterCIDRResolutionFailed"
	// ReasonInvalidKubeletConfiguration: spec.kubelet has faults.
	ReasonInvalidKubeletConfiguration = "InvalidKubeletConfiguration"
	// ReasonKubeletExpressionsDisabled: spec.kubelet has expressions, and there is
	// nothing to evaluate them.
	ReasonKubeletExpressionsDisabled = "KubeletExpressionsDisabled"
	// ReasonKubeletExpressionInvalid: one of them is no expression.
	ReasonKubeletExpressionInvalid = "KubeletExpressionInvalid"
	// ReasonKubeletExpressionEvaluationFailed: one of them has no value for some
	// instance type.
	ReasonKubeletExpressionEvaluationFailed = "KubeletExpressionEvaluationFailed"
	// ReasonUnsupportedKubeletConfiguration: the family does not take a setting.
	ReasonUnsupportedKubeletConfiguration = "UnsupportedKubeletConfiguration"
	// ReasonDependenciesNotReady: another condition is not true, so launching
	// was not tried.
	ReasonDependenciesNotReady = "DependenciesNotReady"
	// ReasonTagValidationFailed: spec.tags has a restricted key.
	ReasonTagValidationFailed = "TagValidationFailed"
	// ReasonCreateLaunchTemplateAuthCheckFailed: the controller may not create
	// launch templates.
	ReasonCreateLaunchTemplateAuthCheckFailed = "CreateLaunchTemplateAuthCheckFailed"
	// ReasonCreateFleetAuthCheckFailed: the controller may not create fleets.
	ReasonCreateFleetAuthCheckFailed = "CreateFleetAuthCheckFailed"
	// ReasonRunInstancesAuthCheckFailed: the controller may not run instances.
	ReasonRunInstancesAuthCheckFailed = "RunInstancesAuthCheckFailed"
	// ReasonInstanceProfileNotFound: EC2 knows no such instance profile.
	ReasonInstanceProfileNotFound = "InstanceProfileNotFound"
	// ReasonUserDataSizeLimitExceeded: the user data is too large for EC2.
	ReasonUserDataSizeLimitExceeded = "UserDataSizeLimitExceeded"
)

// ReadyConditions returns the types of the conditions that must all be true for
// Ready to be, sorted. CapacityReservationsReady counts if reserved capacity is
// in use. The slice is the caller's.
func ReadyConditions(reservedCapacity bool) []string {
	types := []string{ConditionTypeAMIsReady}
	if reservedCapacity {
		types = append(types, ConditionTypeCapacityReservationsReady)
	}
	return append(types,
		ConditionTypeInstanceProfileReady,
		ConditionTypePlacementGroupReady,
		ConditionTypeSecurityGroupsReady,
		ConditionTypeSubnetsReady,
		ConditionTypeValidationSucceeded,
	)
}
