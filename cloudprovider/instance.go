package cloudprovider

import (
	"time"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Instance is one machine in the cloud. It is read-only once handed out.
type Instance struct {
	// ID is spec.providerID of the Node that the machine becomes. Required, and never reused for
	// another machine: make it from the cloud's name of the machine, and not from the token, with
	// which another machine may be launched later.
	ID string

	// Name and NodePool are those of the LaunchRequest, stored with the machine.
	Name, NodePool string

	// Type is the name of the instance type.
	Type string

	// Zone, CapacityType, ReservationID and OfferingID are those of the
	// offering that the machine was launched by.
	Zone, CapacityType, ReservationID, OfferingID string

	// ImageID is the cloud's name for the image that the machine boots.
	ImageID string

	// Labels are labels that the node will have, as far as the provider knows:
	// at least LaunchOption.NodeLabels of the option it was launched by.
	Labels map[string]string

	// Capacity and Allocatable are the provider's estimates for the node. Create
	// and Get set them; they may be empty from List.
	Capacity, Allocatable resources.List

	// Price is what the machine costs, in USD per hour. Create and Get set it if the offering has a
	// price; 0 means unknown, and counts as free.
	Price float64

	// CreatedAt is when the cloud accepted the request, to the cloud's
	// precision. Required.
	CreatedAt time.Time

	// Deleting says that the machine is going down, for whatever reason.
	Deleting bool
}

// OfferingKey identifies the offering that the machine was launched by.
func (i *Instance) OfferingKey() OfferingKey {
	return OfferingKey{
		InstanceType:  i.Type,
		Zone:          i.Zone,
		CapacityType:  i.CapacityType,
		ReservationID: i.ReservationID,
	}
}
