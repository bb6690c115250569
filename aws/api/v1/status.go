package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClassStatus has the objects to which a controller has resolved the spec. Launches use only
// it, so that a launch never waits for a selector.
type EC2NodeClassStatus struct {
	// Subnets are the subnets that the terms select.
	Subnets []Subnet `json:"subnets,omitempty"`
	// SecurityGroups are the security groups that the terms select, sorted by id.
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`
	// CapacityReservations are the reservations that the terms select, sorted by id.
	CapacityReservations []CapacityReservation `json:"capacityReservations,omitempty"`
	// AMIs are the images chosen, one for each set of requirements, newest first.
	AMIs []AMI `json:"amis,omitempty"`
	// InstanceProfile is the name of the instance profile of nodes.
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// Conditions are keyed by type; see the ConditionType constants.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Subnet is a subnet that was selected.
type Subnet struct {
	// ID is its id.
	ID string `json:"id"`
	// Zone is the name of its availability zone, such as us-east-1a. Accounts may map the same name
	// to different zones.
	Zone string `json:"zone"`
	// ZoneID is the id of the zone, such as use1-az1, the same in all accounts.
	ZoneID string `json:"zoneID,omitempty"`
}

// SecurityGroup is a security group that was selected.
type SecurityGroup struct {
	// ID is its id.
	ID string `json:"id"`
	// Name is the name of the group.
	Name string `json:"name,omitempty"`
}

// AMI is an image that was chosen.
type AMI struct {
	// ID is its id.
	ID string `json:"id"`
	// Deprecated says that its owner has marked it as deprecated.
	Deprecated bool `json:"deprecated,omitempty"`
	// Name is the name of the image.
	Name string `json:"name,omitempty"`
	// Requirements are the requirements on instance types that boot the image.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}

// CapacityReservation is a capacity reservation that was selected.
type CapacityReservation struct {
	// AvailabilityZone is the name of its zone.
	AvailabilityZone string `json:"availabilityZone"`
	// EndTime is when it ends; nil if it is kept until it is cancelled.
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// ID is its id.
	ID string `json:"id"`
	// InstanceMatchCriteria is open or targeted.
	InstanceMatchCriteria string `json:"instanceMatchCriteria"`
	// InstanceType is the reserved type.
	InstanceType string `json:"instanceType"`
	// OwnerID is the account that owns it.
	OwnerID string `json:"ownerID"`
	// ReservationType is default if it is empty.
	ReservationType CapacityReservationType `json:"reservationType"`
	// Interruptible says that its owner may take instances back.
	Interruptible bool `json:"interruptible"`
	// State is active if it is empty.
	State CapacityReservationState `json:"state"`
}

// CapacityReservationType is a type of capacity reservation, and the value of
// the label capacity-reservation-type.
type CapacityReservationType string

// The types of capacity reservations.
const (
	// CapacityReservationTypeDefault is an on-demand capacity reservation.
	CapacityReservationTypeDefault CapacityReservationType = "default"
	// CapacityReservationTypeCapacityBlock is a block, bought for a span of time.
	CapacityReservationTypeCapacityBlock CapacityReservationType = "capacity-block"
)

// CapacityReservationState is the state of a capacity reservation.
type CapacityReservationState string

// The states of a capacity reservation.
const (
	// CapacityReservationStateActive can be launched into.
	CapacityReservationStateActive CapacityReservationState = "active"
	// CapacityReservationStateExpiring is a block near its end, whose nodes are
	// drained.
	CapacityReservationStateExpiring CapacityReservationState = "expiring"
)

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
	// ConditionTypeCapacityReservationsReady says that reservations were looked up, even if none
	// was found.
	ConditionTypeCapacityReservationsReady = "CapacityReservationsReady"
	// ConditionTypePlacementGroupReady says that the placement group was found, or that the class
	// names none.
	ConditionTypePlacementGroupReady = "PlacementGroupReady"
	// ConditionTypeValidationSucceeded says that nodes can be launched, as far as dry runs can
	// tell.
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
	// ReasonKubeletExpressionsDisabled: spec.kubelet has expressions, and there is no evaluator.
	ReasonKubeletExpressionsDisabled = "KubeletExpressionsDisabled"
	// ReasonKubeletExpressionInvalid: an expression is malformed.
	ReasonKubeletExpressionInvalid = "KubeletExpressionInvalid"
	// ReasonKubeletExpressionEvaluationFailed: an expression has no value for an instance type.
	ReasonKubeletExpressionEvaluationFailed = "KubeletExpressionEvaluationFailed"
	// ReasonUnsupportedKubeletConfiguration: the family does not support a setting.
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

// ReadyConditions returns the types of the conditions that must all be true for Ready to be,
// sorted. CapacityReservationsReady is among them if reserved capacity is in use. The caller owns
// the slice.
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
