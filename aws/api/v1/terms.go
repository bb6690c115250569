package v1

import (
	"maps"
	"strings"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// SubnetSelectorTerm selects subnets, by exactly one of its fields.
type SubnetSelectorTerm struct {
	// Tags select the subnets that have all of these tags, 1 to 20. A value of
	// "*" asks that the tag be there, whatever its value; in other values "*"
	// and "?" are wildcards of EC2.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the subnet with this id, such as subnet-0123456789abcdef0.
	ID string `json:"id,omitempty"`
}

// SecurityGroupSelectorTerm selects security groups, by exactly one of its
// fields.
type SecurityGroupSelectorTerm struct {
	// Tags select the groups that have all of these tags, as for subnets.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the group with this id, such as sg-0123456789abcdef0.
	ID string `json:"id,omitempty"`
	// Name selects groups by the name of the group, not by the tag Name. "*" and
	// "?" are wildcards. Groups of that name in other VPCs match too.
	Name string `json:"name,omitempty"`
}

// CapacityReservationSelectorTerm selects capacity reservations: by ID alone, or
// by the other fields, which are ANDed. OwnerID alone is not enough.
type CapacityReservationSelectorTerm struct {
	// Tags select the reservations that have all of these tags, as for subnets.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the reservation with this id, such as cr-0123456789abcdef0.
	ID string `json:"id,omitempty"`
	// OwnerID restricts Tags and InstanceMatchCriteria to reservations of this
	// account of twelve digits.
	OwnerID string `json:"ownerID,omitempty"`
	// InstanceMatchCriteria selects reservations that any matching instance uses
	// (open) or only those that name them (targeted).
	InstanceMatchCriteria string `json:"instanceMatchCriteria,omitempty"`
}

// The values of InstanceMatchCriteria.
const (
	// InstanceMatchCriteriaOpen is a reservation that matching instances use by
	// themselves.
	InstanceMatchCriteriaOpen = "open"
	// InstanceMatchCriteriaTargeted is a reservation that a launch must name.
	InstanceMatchCriteriaTargeted = "targeted"
)

// PlacementGroupSelector names a placement group, by exactly one of its fields.
type PlacementGroupSelector struct {
	// Name is the name of the group.
	Name *string `json:"name,omitempty"`
	// ID is the id of the group, such as pg-0123456789abcdef0.
	ID *string `json:"id,omitempty"`
}

// AMISelectorTerm selects images. It has the fields of amiselect.Term, where
// they are described at length; Term converts.
type AMISelectorTerm struct {
	// Alias selects what AWS publishes for a family, as al2023@latest. It stands
	// alone.
	Alias string `json:"alias,omitempty"`
	// Tags select the images that have all of these tags, 1 to 20.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the image with this id. It stands alone in its term.
	ID string `json:"id,omitempty"`
	// Name selects images by name, with "*" and "?" as wildcards.
	Name string `json:"name,omitempty"`
	// Owner restricts Name and Tags to the images of one owner: an account, self,
	// amazon or aws-marketplace.
	Owner string `json:"owner,omitempty"`
	// SSMParameter selects the image whose id is in this parameter, given by name
	// or ARN. It stands alone in its term.
	SSMParameter string `json:"ssmParameter,omitempty"`
}

// Term returns the term as package amiselect takes it. It shares no memory with
// the receiver.
func (t *AMISelectorTerm) Term() amiselect.Term {
	term := amiselect.Term(*t)
	term.Tags = maps.Clone(t.Tags)
	return term
}

func amiTerms(terms []AMISelectorTerm) []amiselect.Term {
	if terms == nil {
		return nil
	}
	out := make([]amiselect.Term, len(terms))
	for i := range terms {
		out[i] = terms[i].Term()
	}
	return out
}

// aliasFamily reads the family of an alias, whatever its version. An unknown one
// is Custom, which has no published images: validation refuses the alias.
func aliasFamily(alias string) amiselect.Family {
	name, _, _ := strings.Cut(alias, "@")
	for _, f := range amiselect.Families() {
		if n := f.AliasName(); n != "" && n == name {
			return f
		}
	}
	return amiselect.FamilyCustom
}
