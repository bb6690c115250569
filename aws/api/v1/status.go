package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClassStatus is what a controller has resolved the spec to. Launches use
// it and nothing else, so a launch never waits for a selector.
type EC2NodeClassStatus struct {
	// Subnets are what the subnet terms select.
	Subnets []Subnet `json:"subnets,omitempty"`
	// SecurityGroups are what the security group terms select, sorted by id.
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`
	// CapacityReservations are what the reservation terms select, sorted by id.
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
	// Zone is the name of its availability zone, such as us-east-1a, which each
	// account maps to a zone of its own.
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
	// Deprecated says that its owner has declared it out of date.
	Deprecated bool `json:"deprecated,omitempty"`
	// Name is the name of the image.
	Name string `json:"name,omitempty"`
	// Requirements are what an instance type must satisfy to boot it.
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
	// InstanceType is what was reserved.
	InstanceType string `json:"instanceType"`
	// OwnerID is the account that owns it.
	OwnerID string `json:"ownerID"`
	// ReservationType is its type. Default default.
	ReservationType CapacityReservationType `json:"reservationType"`
	// Interruptible says that its owner may take instances back.
	Interruptible bool `json:"interruptible"`
	// State is its state. Default active.
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
