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

// DecodeEC2NodeClass reads one EC2NodeClass from YAML or JSON, as strictly as Decode of the
// karpenter.sh API reads a NodePool: unknown and repeated fields, values of the wrong type and
// another kind or version are faults, all of them returned at once in a *DecodeError of that
// package. Below spec.kubelet, fields are known if the kubelet of Kubernetes 1.37 has them;
// Validate checks the values of the fields that go into Extra. The object is neither defaulted nor
// validated.
//
// Faults are also values that Go reads but the API server refuses: the size of a volume in a form
// other than that of BlockDevice, an empty string as the alias or id of a term or in another field
// of such a term, an empty role together with an instanceProfile, a network interface without its
// indices.
func DecodeEC2NodeClass(data []byte) (*EC2NodeClass, error) {
	return decode(func(out runtime.Object) error {
		return karpv1.DecodeInto(data, GroupVersion.WithKind(EC2NodeClassKind), out)
	})
}

// DecodeEC2NodeClasses reads the EC2NodeClasses of a YAML stream or a JSON text, in order, as
// strictly as DecodeEC2NodeClass. The items of lists are read as objects. Objects of other API
// groups are ignored; other kinds of this group are faults. The faults of all objects are joined;
// if there is one, no object is returned. The caller owns the objects, and data is not retained.
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

// decode reads twice. KubeletConfiguration has its own UnmarshalJSON, so a strict decoder does not
// see its fields. The first reading uses a type without it and finds the faults.
func decode(into func(runtime.Object) error) (*EC2NodeClass, error) {
	if err := withHints(into(&checkedClass[*kubeletFields]{})); err != nil {
		return nil, err
	}
	// The first reading may have stopped at a setting that goes into Extra.
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

// checkedClass has the fields of an EC2NodeClass, with kubelet settings of type K. It is decoded
// only to find faults.
type checkedClass[K any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              checkedSpec[K]     `json:"spec"`
	Status            EC2NodeClassStatus `json:"status"`
}

type checkedSpec[K any] struct {
	EC2NodeClassSpec           `json:",inline"`
	Role                       *string          `json:"role"`
	Kubelet                    K                `json:"kubelet"`
	BlockDeviceMappings        []checkedMapping `json:"blockDeviceMappings"`
	AMISelectorTerms           []checkedImage   `json:"amiSelectorTerms"`
	SecurityGroupSelectorTerms []checkedGroup   `json:"securityGroupSelectorTerms"`
}

// DeepCopyObject returns an empty object, for the decoder to fill in.
func (c *checkedClass[K]) DeepCopyObject() runtime.Object {
	return &checkedClass[K]{}
}

// unknownField is the decoder's message for an unknown field; a hint may follow it.
const unknownField = "unknown field"

// kubeletPath begins the paths of settings of the kubelet.
const kubeletPath = "spec.kubelet."

// withHints adds the replacement to faults about fields of older versions, and removes faults about
// settings that go into Extra.
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

// The API server checks the written text, which some Go types do not keep. The types below read
// those fields only to find their faults.

type checkedMapping struct {
	BlockDeviceMapping `json:",inline"`
	EBS                *checkedDevice `json:"ebs"`
}

type checkedDevice struct {
	BlockDevice `json:",inline"`
	VolumeSize  *writtenSize `json:"volumeSize"`
}

type checkedImage struct {
	AMISelectorTerm `json:",inline"`
	Alias           *string `json:"alias" filled:"true"`
	ID              *string `json:"id" filled:"true"`
	Name            *string `json:"name"`
	Owner           *string `json:"owner"`
}

type checkedGroup struct {
	SecurityGroupSelectorTerm `json:",inline"`
	ID                        *string `json:"id" filled:"true"`
	Name                      *string `json:"name"`
}

// emptyBeside returns faults for fields that are written as empty together with fields that exclude
// them. The API server counts them as set; in Go they look unset, so Validate does not see them.
func (s *checkedSpec[K]) emptyBeside() field.ErrorList {
	var faults field.ErrorList
	refuse := func(path *field.Path, name string, value *string) {
		if value != nil && *value == "" {
			faults = append(faults, field.Forbidden(path.Child(name), "the API server refuses this field together with another one, even if it is empty; remove it"))
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
	// Because of a flaw in the schema, groups are refused only if all terms have the fault.
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
	var text string
	if json.Unmarshal(data, &text) != nil {
		return errors.New("want a string; put it in quotes")
	}
	if !isSizeText(text) {
		return errors.New("want 1Gi to 59000Gi, 1G to 64000G, 1T to 64T or 1Ti to 58Ti; " +
			"of the last the API server refuses 18, 19, 28 and so on, write those in Gi")
	}
	*s = writtenSize(text)
	return nil
}

// isSizeText reports whether the schema accepts a text as the size of a volume: a number without
// leading zeros and a unit, within the bounds of that unit. It refuses Ti from 10 to 57 that end in
// 8 or 9.
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
