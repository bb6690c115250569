package v1

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The API server judges what is written, and some Go types do not keep it. The
// types below read those fields for their faults alone.

type checkedMapping struct {
	BlockDeviceMapping `json:",inline"`
	EBS                *checkedDevice `json:"ebs"`
}

type checkedDevice struct {
	BlockDevice `json:",inline"`
	VolumeSize  *writtenSize `json:"volumeSize"`
}

type checkedInterface struct {
	NetworkCardIndex int32         `json:"networkCardIndex" required:"true" plain:"true"`
	DeviceIndex      int32         `json:"deviceIndex" required:"true" plain:"true"`
	InterfaceType    InterfaceType `json:"interfaceType"`
}

type checkedTracking struct {
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout" plain:"true"`
	UDPStreamTimeout      *int32 `json:"udpStreamTimeout" plain:"true"`
	UDPTimeout            *int32 `json:"udpTimeout" plain:"true"`
}

type checkedImage struct {
	AMISelectorTerm `json:",inline"`
	Alias           *writtenText `json:"alias"`
	ID              *writtenText `json:"id"`
	Name            *string      `json:"name"`
	Owner           *string      `json:"owner"`
}

type checkedSubnet struct {
	SubnetSelectorTerm `json:",inline"`
	ID                 *writtenText `json:"id"`
}

type checkedGroup struct {
	SecurityGroupSelectorTerm `json:",inline"`
	ID                        *writtenText `json:"id"`
	Name                      *string      `json:"name"`
}

type checkedReservation struct {
	CapacityReservationSelectorTerm `json:",inline"`
	ID                              *writtenText `json:"id"`
	OwnerID                         *writtenText `json:"ownerID"`
	InstanceMatchCriteria           *writtenText `json:"instanceMatchCriteria"`
}

// emptyBeside returns the fields that are written and empty beside others that
// exclude them. The API server counts them as set; to Go they are left out, and
// Validate does not see them.
func (s *checkedSpec) emptyBeside() field.ErrorList {
	var faults field.ErrorList
	refuse := func(path *field.Path, name string, value *string) {
		if value != nil && *value == "" {
			faults = append(faults, field.Forbidden(path.Child(name), "it is empty, and yet the API server does not take it beside another; remove it"))
		}
	}
	images := field.NewPath("spec", "amiSelectorTerms")
	for i, t := range s.AMISelectorTerms {
		if t.Alias != nil || t.ID != nil {
			refuse(images.Index(i), "name", t.Name)
			refuse(images.Index(i), "owner", t.Owner)
		}
	}
	// By a slip of the schema, groups are refused only if all terms are at fault.
	others := func(own func(checkedGroup) bool, other func(checkedGroup) bool) bool {
		return !slices.ContainsFunc(s.SecurityGroupSelectorTerms, func(t checkedGroup) bool {
			return !own(t) || !other(t) && t.Tags == nil
		})
	}
	hasID := func(t checkedGroup) bool { return t.ID != nil }
	hasName := func(t checkedGroup) bool { return t.Name != nil }
	if others(hasID, hasName) || others(hasName, hasID) {
		for i, t := range s.SecurityGroupSelectorTerms {
			refuse(field.NewPath("spec", "securityGroupSelectorTerms").Index(i), "name", t.Name)
		}
	}
	return faults
}

// writtenSize is the size of a volume as it is written.
type writtenSize string

// UnmarshalJSON refuses what the API server refuses.
func (s *writtenSize) UnmarshalJSON(data []byte) error {
	text, err := unquoted(data)
	if err != nil {
		return err
	}
	if !isSizeText(text) {
		return errors.New("want 1Gi to 59000Gi, 1G to 64000G, 1T to 64T or 1Ti to 58Ti; " +
			"of the last the API server refuses 18, 19, 28 and so on, write those in Gi")
	}
	*s = writtenSize(text)
	return nil
}

// isSizeText reports whether a text is a size of a volume to the schema: a
// number without leading zeros and a unit, within the bounds for that unit. Of
// Ti it takes none from 10 to 58 that ends in 8 or 9, but for 58.
func isSizeText(text string) bool {
	const digits = "0123456789"
	number := text[:len(text)-len(strings.TrimLeft(text, digits))]
	if number == "" || number[0] == '0' || len(number) > len("64000") {
		return false
	}
	n := 0
	for _, c := range []byte(number) {
		n = 10*n + int(c-'0')
	}
	switch text[len(number):] {
	case "Gi":
		return n <= 59000
	case "G":
		return n <= 64000
	case "Ti":
		return n < 10 || n == 58 || n < 58 && n%10 < 8
	case "T":
		return n <= 64
	}
	return false
}

// writtenText is a string that is not empty.
type writtenText string

// UnmarshalJSON refuses an empty string, which Go cannot tell from a field left
// out.
func (s *writtenText) UnmarshalJSON(data []byte) error {
	text, err := unquoted(data)
	if err != nil {
		return err
	}
	if text == "" {
		return errors.New("write a value, or leave the field out")
	}
	*s = writtenText(text)
	return nil
}

func unquoted(data []byte) (string, error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return "", errors.New("want a string; put it in quotes")
	}
	return text, nil
}
