package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/textstream"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Read reads instance types from YAML or JSON: one document that is either a list of them or an
// object with that list as its only field, instanceTypes.
//
//	instanceTypes:
//	- name: m5.large                  # required, and different for each
//	  requirements:                   # the labels that nodes can have
//	  - {key: kubernetes.io/arch, operator: In, values: [amd64]}
//	  - {key: kubernetes.io/os, operator: In, values: [linux]}
//	  capacity:                       # required: the whole machine
//	    {cpu: 2, memory: 7577Mi, pods: 29, ephemeral-storage: 20Gi}
//	  overhead:                       # what the node keeps from pods, in sum
//	    {cpu: 70m, memory: 674Mi, ephemeral-storage: 3Gi}
//	  volumeAttachmentLimits: {ebs.csi.aws.com: 26}
//	  offerings:                      # the ways to buy it
//	  - zone: us-east-1a              # required
//	    capacityType: spot            # required: spot, on-demand or reserved
//	    price: 0.0353                 # required, in USD per hour
//	    available: true               # the default
//	    reservationID: cr-1           # of reserved offerings,
//	    reservationCapacity: 3        # with what is left of it
//	    requirements: []              # further labels of this offering
//	    capacity: {}                  # amounts instead of those of the type
//	    overhead: {}                  # amounts instead of those of the type
//	    id: o-1                       # any text, passed through
//
// Operators of requirements are In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt and Lte. Amounts
// are Kubernetes quantities. The overhead becomes the KubeReserved of the type.
//
// Labels that the requirements of a type do not name are completed:
//
//   - kubernetes.io/arch and kubernetes.io/os have to be named;
//   - the instance type is the name;
//   - zone, capacity type and other labels that all offerings name have the values of the
//     offerings; labels that only some of them name stay open;
//   - topology.kubernetes.io/region stays open too, so that every region matches;
//   - of the other well-known labels of Vocabulary, except karpenter.sh/nodepool, the type has
//     none (DoesNotExist).
//
// Reading is strict, and with an error there is no result. The error joins every fault, a line
// each, with the name of the type, the place in it and the remedy:
//
//   - unknown and duplicate fields, label keys and values that Kubernetes refuses, amounts that
//     are no quantities;
//   - the first value of a wrong type in each instance type and offering; other faults of the
//     same part are then not reported;
//   - for types without these faults, those that cloudprovider.InstanceType.Validate finds.
//
// The types are sorted by name and their offerings by key, whatever the order in the file.
func Read(data []byte) ([]*cloudprovider.InstanceType, error) {
	data, err := textstream.Single(data)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	r := &fileReader{object: "catalog", vocabulary: Vocabulary(), sound: map[string]bool{}}
	var file struct {
		InstanceTypes []json.RawMessage `json:"instanceTypes"`
	}
	form := any(&file)
	if !bytes.HasPrefix(data, []byte("{")) {
		form = &file.InstanceTypes
	}
	if string(data) != "null" {
		r.decode("", data, form)
	}
	if file.InstanceTypes == nil && len(r.errs) == 0 {
		r.fault("empty; write a list of instance types under instanceTypes, or [] for none")
	}
	var read []*cloudprovider.InstanceType
	for i, raw := range file.InstanceTypes {
		if t := r.instanceType(i, raw); t != nil {
			read = append(read, t)
		}
	}
	out, err := Sorted(read)
	if err := errors.Join(append(r.errs, unjoin(err)...)...); err != nil {
		return nil, err
	}
	return out, nil
}

// The types into which parts of the file are decoded.
type (
	typeForm struct {
		Name                   string                           `json:"name"`
		Requirements           []corev1.NodeSelectorRequirement `json:"requirements"`
		Capacity               amounts                          `json:"capacity"`
		Overhead               amounts                          `json:"overhead"`
		VolumeAttachmentLimits map[string]int64                 `json:"volumeAttachmentLimits"`
		Offerings              []json.RawMessage                `json:"offerings"` // each an offeringForm, so that faults have its place
	}
	offeringForm struct {
		Zone                string                           `json:"zone"`
		CapacityType        string                           `json:"capacityType"`
		Price               float64                          `json:"price"`
		NodeCost            float64                          `json:"nodeCost"`
		Available           bool                             `json:"available"`
		ReservationID       string                           `json:"reservationID"`
		ReservationCapacity int                              `json:"reservationCapacity"`
		Requirements        []corev1.NodeSelectorRequirement `json:"requirements"`
		Capacity            amounts                          `json:"capacity"`
		Overhead            amounts                          `json:"overhead"`
		ID                  string                           `json:"id"`
	}
	amounts map[corev1.ResourceName]json.RawMessage // quantities as text or number
)

// fileReader converts the instance types of a file.
type fileReader struct {
	object     string // what is being read, for faults
	vocabulary *requirements.Vocabulary
	sound      map[string]bool // keys and values of labels that have no fault
	errs       []error
}

func (r *fileReader) fault(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %w", r.object, fmt.Errorf(format, args...)))
}

// decode reads JSON into a form, and reports whether it could. The paths in faults begin with a
// prefix, which is empty or ends in a point.
func (r *fileReader) decode(prefix string, data []byte, form any) bool {
	strict, err := kjson.UnmarshalStrict(data, form)
	for _, fault := range strict {
		if of, is := fault.(kjson.FieldError); is {
			of.SetFieldPath(prefix + of.FieldPath())
		}
		r.fault("%w; use the fields in the comment of catalog.Read, each once", fault)
	}
	where := func(path string) string { return strings.TrimPrefix(strings.TrimSuffix(prefix+path, ".")+": ", ": ") }
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch):
		want := map[reflect.Kind]string{reflect.String: "text in quotes", reflect.Bool: "true or false", reflect.Slice: "a list",
			reflect.Float64: "a number as in 0.096", reflect.Int: "a whole number as in 8", reflect.Int64: "a whole number as in 8"}[mismatch.Type.Kind()]
		r.fault("%sfound %s; write %s", where(mismatch.Field), mismatch.Value, cmp.Or(want, "an object"))
	case err != nil:
		r.fault("%w", err)
	case string(data) == "null":
		r.fault("%sempty; remove it", where(""))
		return false
	}
	return err == nil
}

// instanceType converts one instance type. It returns nil if the type cannot be read; otherwise
// Sorted would report more faults of the same type.
func (r *fileReader) instanceType(index int, raw json.RawMessage) *cloudprovider.InstanceType {
	before := len(r.errs)
	var form typeForm
	r.object = fmt.Sprintf("instance type %d of the list", index+1)
	_ = json.Unmarshal(raw, &struct{ Name *string }{&form.Name}) // of which decode finds the faults
	if form.Name != "" {
		r.object = "instance type " + form.Name
	}
	if !r.decode("", raw, &form) {
		return nil
	}
	r.label("name", form.Name)
	t := &cloudprovider.InstanceType{
		Name:                   form.Name,
		Requirements:           r.requirements("requirements", form.Requirements),
		Capacity:               r.quantities("capacity", form.Capacity),
		Overhead:               cloudprovider.Overhead{KubeReserved: r.quantities("overhead", form.Overhead)},
		VolumeAttachmentLimits: form.VolumeAttachmentLimits,
	}
	for i, o := range form.Offerings {
		t.Offerings = append(t.Offerings, r.offering(fmt.Sprintf("offerings[%d].", i), o))
	}
	if len(r.errs) > before {
		return nil
	}
	r.complete(t)
	return t
}

func (r *fileReader) offering(path string, raw json.RawMessage) cloudprovider.Offering {
	form := offeringForm{Available: true}
	if !r.decode(path, raw, &form) {
		return cloudprovider.Offering{}
	}
	r.label(path+"zone", form.Zone)
	r.label(path+"capacityType", form.CapacityType)
	override := func(field string, amounts amounts) *resources.List {
		if len(amounts) == 0 {
			return nil
		}
		list := r.quantities(path+field, amounts)
		return &list
	}
	return cloudprovider.Offering{
		Zone: form.Zone, CapacityType: form.CapacityType, Price: form.Price, NodeCost: form.NodeCost, Available: form.Available,
		ReservationID: form.ReservationID, ReservationCapacity: form.ReservationCapacity, ID: form.ID,
		Requirements: r.requirements(path+"requirements", form.Requirements),
		Capacity:     override("capacity", form.Capacity), Overhead: override("overhead", form.Overhead),
	}
}

func (r *fileReader) requirements(path string, forms []corev1.NodeSelectorRequirement) requirements.Set {
	reqs := make([]requirements.Requirement, 0, len(forms))
	for i, form := range forms {
		before := len(r.errs)
		at := fmt.Sprintf("%s[%d]", path, i)
		key := r.vocabulary.NormalizeKey(form.Key)
		r.check(at+".key", key, validation.IsQualifiedName)
		values := slices.Clone(form.Values)
		for n, value := range values {
			r.label(fmt.Sprintf("%s.values[%d]", at, n), value)
			values[n] = r.vocabulary.NormalizeValue(key, value)
		}
		if len(r.errs) > before {
			continue
		}
		req, err := requirements.New(key, form.Operator, values...)
		for _, fault := range unjoin(err) {
			r.fault("%s: %w", at, fault)
		}
		reqs = append(reqs, req)
	}
	return requirements.NewSet(reqs...)
}

// label adds a fault if a text cannot be the value of a label.
func (r *fileReader) label(path, text string) {
	// A catalog has the same few values over and over.
	if !r.sound[text] {
		before := len(r.errs)
		r.check(path, text, validation.IsValidLabelValue)
		r.sound[text] = len(r.errs) == before
	}
}

func (r *fileReader) check(path, text string, faultsOf func(string) []string) {
	for _, fault := range faultsOf(text) {
		r.fault("%s: %q: %s", path, text, fault)
	}
}

func (r *fileReader) quantities(path string, amounts amounts) resources.List {
	out := map[corev1.ResourceName]int64{}
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		text := strings.Trim(string(amounts[name]), `"`)
		if strings.ContainsAny(string(name)+text, ",=") { // which Parse would read as several
			r.fault("%s: resource %s: %s is not a quantity; write one as in 500m, 2 or 8Gi", path, name, amounts[name])
			continue
		}
		one, err := resources.Parse(string(name) + "=" + text)
		if err != nil {
			r.fault("%s: %w", path, err)
		}
		for parsed, n := range one.All() {
			out[parsed] = n
		}
	}
	return resources.New(out)
}

// complete adds requirements for the labels that a type does not name.
func (r *fileReader) complete(t *cloudprovider.InstanceType) {
	var added []requirements.Requirement
	for _, key := range slices.Concat(v1.WellKnownLabels(), WellKnownLabels()) {
		if _, named := t.Requirements.Get(key); named {
			continue
		}
		switch key {
		case v1.NodePoolLabelKey, corev1.LabelTopologyRegion:
		case corev1.LabelArchStable:
			r.fault("requirements: %s is not named; add {key: %s, operator: In, values: [amd64]}", key, key)
		case corev1.LabelOSStable:
			r.fault("requirements: %s is not named; add {key: %s, operator: In, values: [linux]}", key, key)
		case corev1.LabelInstanceTypeStable:
			added = append(added, requirements.In(key, t.Name))
		default:
			if of, known := ofOfferings(t, key); known {
				added = append(added, of)
			}
		}
	}
	t.Requirements = t.Requirements.With(added...)
}

// ofOfferings returns the requirement of a type on a label that its offerings define: all values of
// the offerings, or DoesNotExist if no offering names the label. If only some offerings have
// values, the label stays open.
func ofOfferings(t *cloudprovider.InstanceType, key string) (requirements.Requirement, bool) {
	var all []string
	naming := 0
	for i := range t.Offerings {
		r, named := t.Offerings[i].Labels().Get(key)
		if !named {
			continue
		}
		naming++
		values, finite := r.Values()
		if !finite || len(values) == 0 {
			return r, false
		}
		all = append(all, values...)
	}
	switch naming {
	case 0:
		return requirements.DoesNotExist(key), true
	case len(t.Offerings):
		return requirements.In(key, all...), true
	}
	return requirements.Requirement{}, false
}

// unjoin returns the errors that errors.Join joined, or the only one.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
