package cloudprovider

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// MaxPrice is the highest price that is taken for one, in USD per hour. No machine costs as much, and
// sums of such prices stay finite.
const MaxPrice = 1e9

// Offering is one way to buy an instance type. It is read-only once handed out. Within an instance
// type, zone, capacity type and reservation identify an offering; see OfferingKey.
type Offering struct {
	// Zone is the value of topology.kubernetes.io/zone. Required.
	Zone string

	// CapacityType is the value of karpenter.sh/capacity-type: spot, on-demand or reserved, or one
	// that the provider defines. Required.
	CapacityType string

	// ReservationID names the reservation of a reserved offering. Required when CapacityType is
	// reserved, and empty otherwise. Offerings of different instance types and zones may share one
	// reservation. A NodeClaim can require a reservation only by a label, so Requirements need a
	// label with this value.
	ReservationID string

	// Requirements are further labels by which this offering differs from the
	// others of its type, such as a zone ID. Zone and capacity type need not
	// be repeated. May be empty.
	Requirements requirements.Set

	// Price is the price of an instance, in USD per hour, including NodeCost, up to MaxPrice. It is
	// above zero wherever the offering is Available; prepaid capacity has a tiny price, so that it
	// sorts first and larger machines still cost more.
	Price float64

	// NodeCost is the part of Price that is not for the instance, in USD per hour: for its volumes,
	// its public address and licences by the node. It is zero if Price is for the instance alone.
	// See pricing.AddNodeCost.
	NodeCost float64

	// PriceOverlay names the NodeOverlay that set Price without NodeCost. Empty means that the
	// price is the provider's. Set by overlay.Apply.
	PriceOverlay string

	// Available says that the cloud is believed to sell this now. A full
	// reservation stays Available with ReservationCapacity 0; see Launchable.
	Available bool

	// ReservationCapacity is how many more instances the reservation holds.
	// Meaningful only for reserved offerings.
	ReservationCapacity int

	// Capacity, if not nil, changes the capacity of the type for this
	// offering: its amounts replace those of the type name by name.
	Capacity *resources.List

	// Overhead, if not nil, changes the total overhead of the type for this
	// offering: its amounts replace Overhead.Total of the type name by name.
	Overhead *resources.List

	// ID is the provider's name for the offering, or the caller's if the caller builds catalogs.
	// The engine ignores it and passes it on in LaunchOption. May be empty.
	ID string
}

// Labels returns the labels of this offering: Requirements, and zone and capacity type unless
// empty. Labels of the instance type are not in it; see LaunchOption.Requirements.
func (o *Offering) Labels() requirements.Set {
	own := make([]requirements.Requirement, 0, 2)
	if o.CapacityType != "" {
		own = append(own, requirements.In(v1.CapacityTypeLabelKey, o.CapacityType))
	}
	if o.Zone != "" {
		own = append(own, requirements.In(corev1.LabelTopologyZone, o.Zone))
	}
	return o.Requirements.With(own...)
}

// Launchable reports whether an instance can be launched by this offering now: it is Available, and
// if its capacity type is reserved then the reservation has capacity left. A full reservation is
// Available but not launchable, until an instance in it ends.
func (o *Offering) Launchable() bool {
	return o.Available && (o.CapacityType != v1.CapacityTypeReserved || o.ReservationCapacity > 0)
}

// Key returns the identity of o among all offerings of a provider, given the
// name of the instance type that it belongs to.
func (o *Offering) Key(instanceType string) OfferingKey {
	return OfferingKey{
		InstanceType:  instanceType,
		Zone:          o.Zone,
		CapacityType:  o.CapacityType,
		ReservationID: o.ReservationID,
	}
}

// OfferingKey identifies an offering among all offerings of a provider. It is
// comparable, so it can be a map key.
type OfferingKey struct {
	// InstanceType is the name of the instance type.
	InstanceType string
	// Zone and CapacityType are those of the Offering.
	Zone, CapacityType string
	// ReservationID is that of the Offering: empty unless it is reserved.
	ReservationID string
}

// String returns the parts joined by "/", as in "m5.large/zone-a/spot" or
// "m5.large/zone-a/reserved/cr-1". Empty parts other than the reservation
// are written as "?".
func (k OfferingKey) String() string {
	parts := []string{k.InstanceType, k.Zone, k.CapacityType}
	for i, part := range parts {
		if part == "" {
			parts[i] = "?"
		}
	}
	if k.ReservationID != "" {
		parts = append(parts, k.ReservationID)
	}
	return strings.Join(parts, "/")
}

// Compare orders keys by instance type, zone, capacity type and reservation,
// in byte order. It returns -1, 0 or +1, as cmp.Compare does.
func (k OfferingKey) Compare(other OfferingKey) int {
	return cmp.Or(
		cmp.Compare(k.InstanceType, other.InstanceType),
		cmp.Compare(k.Zone, other.Zone),
		cmp.Compare(k.CapacityType, other.CapacityType),
		cmp.Compare(k.ReservationID, other.ReservationID),
	)
}

// Scope names a group of offerings by some of their parts. An empty field
// stands for any value, so the zero Scope covers every offering, and
// Scope{CapacityType: "spot", Zone: "zone-a"} all spot offerings of one zone.
// It is comparable.
type Scope struct {
	InstanceType, Zone, CapacityType, ReservationID string
}

// Scope returns the scope that covers the offering k and no other. (An offering without a zone,
// capacity type or, if reserved, reservation does not pass InstanceType.Validate; its scope covers
// more.)
func (k OfferingKey) Scope() Scope { return Scope(k) }

// Covers reports whether each field of s that is not empty equals that of k.
func (s Scope) Covers(k OfferingKey) bool {
	return (s.InstanceType == "" || s.InstanceType == k.InstanceType) && (s.Zone == "" || s.Zone == k.Zone) &&
		(s.CapacityType == "" || s.CapacityType == k.CapacityType) && (s.ReservationID == "" || s.ReservationID == k.ReservationID)
}

// Compare orders scopes by instance type, zone, capacity type and reservation,
// in byte order, an empty field first. It returns -1, 0 or +1.
func (s Scope) Compare(other Scope) int {
	return cmp.Or(
		cmp.Compare(s.InstanceType, other.InstanceType),
		cmp.Compare(s.Zone, other.Zone),
		cmp.Compare(s.CapacityType, other.CapacityType),
		cmp.Compare(s.ReservationID, other.ReservationID),
	)
}

// String returns the text of the OfferingKey for the scope of an offering, and
// otherwise the fields that are not empty, as in
// "zone=zone-a, capacity-type=spot". The zero Scope is "every offering".
func (s Scope) String() string {
	if s.InstanceType != "" && s.Zone != "" && s.CapacityType != "" {
		return OfferingKey(s).String()
	}
	var parts []string
	for _, field := range []struct{ name, value string }{
		{"instance-type", s.InstanceType},
		{"zone", s.Zone},
		{"capacity-type", s.CapacityType},
		{"reservation", s.ReservationID},
	} {
		if field.value != "" {
			parts = append(parts, field.name+"="+field.value)
		}
	}
	if len(parts) == 0 {
		return "every offering"
	}
	return strings.Join(parts, ", ")
}
