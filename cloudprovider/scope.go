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
	return k.only(s.fields()) == s
}

// fields is a set of fields of a Scope, as bits.
type fields uint8

const (
	fieldInstanceType fields = 1 << iota
	fieldZone
	fieldCapacityType
	fieldReservationID
	fieldsEnd
)

// fields returns the fields of s that are not empty.
func (s Scope) fields() fields {
	var f fields
	if s.InstanceType != "" {
		f |= fieldInstanceType
	}
	if s.Zone != "" {
		f |= fieldZone
	}
	if s.CapacityType != "" {
		f |= fieldCapacityType
	}
	if s.ReservationID != "" {
		f |= fieldReservationID
	}
	return f
}

// only returns the scope that has these fields of k and covers it.
func (k OfferingKey) only(f fields) Scope {
	var s Scope
	if f&fieldInstanceType != 0 {
		s.InstanceType = k.InstanceType
	}
	if f&fieldZone != 0 {
		s.Zone = k.Zone
	}
	if f&fieldCapacityType != 0 {
		s.CapacityType = k.CapacityType
	}
	if f&fieldReservationID != 0 {
		s.ReservationID = k.ReservationID
	}
	return s
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
	const offering = fieldInstanceType | fieldZone | fieldCapacityType
	if s.fields()&offering == offering {
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
