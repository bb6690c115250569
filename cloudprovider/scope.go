package cloudprovider

import (
	"cmp"
	"strings"
)

// Scope names a group of offerings by some of their parts. An empty field
// stands for any value, so the zero Scope covers every offering, and
// Scope{CapacityType: "spot", Zone: "zone-a"} all spot offerings of one zone.
// It is comparable.
type Scope struct {
	InstanceType, Zone, CapacityType, ReservationID string
}

// Scope returns the scope that covers the offering k and no other. (An offering
// without a zone, capacity type or, if reserved, reservation does not pass
// InstanceType.Validate; the scope of such a one covers more.)
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
