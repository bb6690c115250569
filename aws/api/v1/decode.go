package v1

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// DecodeEC2NodeClass reads one EC2NodeClass from YAML or JSON, as strictly as
// Decode of the karpenter.sh API reads a NodePool: unknown and repeated fields,
// values of the wrong type and another kind or version are faults, all of them
// returned at once in a *DecodeError of that package. Below spec.kubelet, fields
// are known if the kubelet of Kubernetes 1.37 has them; the values of those that
// go into Extra are left to Validate. What is read is neither defaulted nor
// validated.
//
// Faults are, too, what Go reads and the API server refuses: the size of a volume
// in another form than that of BlockDevice, an empty string as the alias or id of
// a term, or beside them, an empty role beside an instanceProfile, a network interface
// without its indices.
func DecodeEC2NodeClass(data []byte) (*EC2NodeClass, error) {
	return decode(func(out runtime.Object) error {
		return karpv1.DecodeInto(data, GroupVersion.WithKind(EC2NodeClassKind), out)
	})
}

// DecodeEC2NodeClasses reads the EC2NodeClasses of a YAML stream or a JSON text,
// in order, as strictly as DecodeEC2NodeClass. Lists are opened. Objects of
// other API groups are passed over; other kinds of this group are faults. The
// faults of all objects are joined; if there is one, no object is returned. The objects
// are the caller's, and nothing of data is kept.
func DecodeEC2NodeClasses(data []byte) ([]*EC2NodeClass, error) {
	docs, err := karpv1.Documents(data)
	errs := []error{err}
	var out []*EC2NodeClass
	for _, doc := range docs {
		if doc.GroupVersionKind().Group != Group {
			continue
		}
		class, err := decode(func(out runtime.Object) error {
			return doc.Into(GroupVersion.WithKind(EC2NodeClassKind), out)
		})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, class)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// decode reads twice. KubeletConfiguration reads itself, so a decoder cannot see
// into it; the first time is for the faults, with a type that it can see into.
func decode(into func(runtime.Object) error) (*EC2NodeClass, error) {
	if err := withHints(into(&checkedClass[*kubeletFields]{})); err != nil {
		return nil, err
	}
	// With a setting of the kubelet that goes into Extra the first reading ends there.
	written := &checkedClass[*KubeletConfiguration]{}
	if err := into(written); err != nil {
		return nil, err
	}
	if faults := written.Spec.emptyBeside(); len(faults) > 0 {
		return nil, &karpv1.DecodeError{Kind: EC2NodeClassKind, Name: written.Name, Faults: faults}
	}
	out := &EC2NodeClass{}
	if err := into(out); err != nil {
		return nil, err
	}
	return out, nil
}

// checkedClass has the fields of an EC2NodeClass, with settings of the kubelet of type K,
// and is only decoded to have its faults found.
type checkedClass[K any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              checkedSpec[K]     `json:"spec"`
	Status            EC2NodeClassStatus `json:"status"`
}

type checkedSpec[K any] struct {
	EC2NodeClassSpec                 `json:",inline"`
	Role                             *string              `json:"role"`
	Kubelet                          K                    `json:"kubelet"`
	BlockDeviceMappings              []checkedMapping     `json:"blockDeviceMappings"`
	NetworkInterfaces                []checkedInterface   `json:"networkInterfaces"`
	AMISelectorTerms                 []checkedImage       `json:"amiSelectorTerms"`
	SubnetSelectorTerms              []checkedSubnet      `json:"subnetSelectorTerms"`
	SecurityGroupSelectorTerms       []checkedGroup       `json:"securityGroupSelectorTerms"`
	CapacityReservationSelectorTerms []checkedReservation `json:"capacityReservationSelectorTerms"`
}

// DeepCopyObject returns an empty object, for the decoder to fill in.
func (c *checkedClass[K]) DeepCopyObject() runtime.Object {
	return &checkedClass[K]{}
}

// unknownField is what the decoder says of a field for which it has no hint, and
// the beginning of what it says of others.
const unknownField = "unknown field"

// kubeletPath begins the paths of settings of the kubelet.
const kubeletPath = "spec.kubelet."

// withHints adds to faults about fields that older versions had what to write
// instead, and takes out those about settings that go into Extra.
func withHints(err error) error {
	var fault *karpv1.DecodeError
	if !errors.As(err, &fault) || len(fault.Faults) == 0 {
		return err
	}
	var faults field.ErrorList
	for _, f := range fault.Faults {
		if f.Type != field.ErrorTypeForbidden || !strings.HasPrefix(f.Detail, unknownField) {
			faults = append(faults, f)
			continue
		}
		setting, ok := strings.CutPrefix(f.Field, kubeletPath)
		if ok && kubeletSetting(setting) != "" {
			continue
		}
		better := *f
		if hint := hintFor(f.Field); hint != "" && f.Detail == unknownField {
			better.Detail += "; " + hint
		}
		faults = append(faults, &better)
	}
	if len(faults) == 0 {
		return nil
	}
	out := *fault
	out.Faults = faults
	return &out
}

func hintFor(path string) string {
	switch path {
	case "spec.amiSelector":
		return "write spec.amiSelectorTerms, a list of terms"
	case "spec.subnetSelector":
		return "write spec.subnetSelectorTerms, a list of terms"
	case "spec.securityGroupSelector":
		return "write spec.securityGroupSelectorTerms, a list of terms"
	case "spec.launchTemplate":
		return "launch templates are made from this object; write what yours has into its fields"
	case kubeletPath + "registerWithTaints":
		return "taints come from the NodePool; write them there"
	}
	return ""
}

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
func (s *checkedSpec[K]) emptyBeside() field.ErrorList {
	var faults field.ErrorList
	refuse := func(path *field.Path, name string, value *string) {
		if value != nil && *value == "" {
			faults = append(faults, field.Forbidden(path.Child(name), "it is empty, and yet the API server does not take it beside another; remove it"))
		}
	}
	if s.InstanceProfile != nil {
		refuse(field.NewPath("spec"), "role", s.Role)
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
