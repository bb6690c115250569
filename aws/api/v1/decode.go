package v1

import (
	"errors"
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
// a term, or beside them, a network interface without its indices.
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
	written := &checkedClass{}
	if err := withHints(into(written)); err != nil {
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

// checkedClass has the fields of an EC2NodeClass and is only decoded to have its
// faults found.
type checkedClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              checkedSpec        `json:"spec"`
	Status            EC2NodeClassStatus `json:"status"`
}

type checkedSpec struct {
	EC2NodeClassSpec                 `json:",inline"`
	Kubelet                          *kubeletFields       `json:"kubelet"`
	BlockDeviceMappings              []checkedMapping     `json:"blockDeviceMappings"`
	NetworkInterfaces                []checkedInterface   `json:"networkInterfaces"`
	ConnectionTracking               *checkedTracking     `json:"connectionTracking"`
	AMISelectorTerms                 []checkedImage       `json:"amiSelectorTerms"`
	SubnetSelectorTerms              []checkedSubnet      `json:"subnetSelectorTerms"`
	SecurityGroupSelectorTerms       []checkedGroup       `json:"securityGroupSelectorTerms"`
	CapacityReservationSelectorTerms []checkedReservation `json:"capacityReservationSelectorTerms"`
}

// DeepCopyObject returns an empty object, for the decoder to fill in.
func (c *checkedClass) DeepCopyObject() runtime.Object {
	return &checkedClass{}
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
