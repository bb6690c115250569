package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Read reads instance types from YAML or JSON: one document that is
// either a list of them or an object with that list as its only field,
// instanceTypes.
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
// Operators of requirements are In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt
// and Lte. Amounts are Kubernetes quantities. The overhead becomes the
// KubeReserved of the type.
//
// Labels that the requirements of a type do not name are completed:
//
//   - kubernetes.io/arch and kubernetes.io/os have to be named;
//   - the instance type is the name;
//   - zone, capacity type and what else all offerings name are as there; what
//     only some of them name stays open;
//   - topology.kubernetes.io/region stays open too, so that any region will do;
//   - of the other well-known labels of Vocabulary, but for
//     karpenter.sh/nodepool, the type has none (DoesNotExist).
//
// Reading is strict. The error joins every fault, a line each, with the name of
// the type, the place in it and the remedy: unknown fields, fields that are
// there twice, values of the wrong type, label keys and values that Kubernetes
// does not take, and, in types that have none of these faults, what
// cloudprovider.InstanceType.Validate finds. With an error there is no result.
//
// The types are sorted by name and their offerings by key, whatever the order
// in the file.
func Read(data []byte) ([]*cloudprovider.InstanceType, error) {
	root, err := parseValue(data)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	r := catalogReader{vocabulary: Vocabulary(), keys: map[string]bool{}, values: map[string]bool{}}
	var out []*cloudprovider.InstanceType
	seen := map[string]bool{}
	for i, raw := range r.root(root) {
		t := r.instanceType(i, raw)
		if t.Name != "" && seen[t.Name] {
			r.fault("name", "there is another one of that name; keep one, with the offerings of both")
		}
		seen[t.Name] = true
		out = append(out, t)
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	slices.SortFunc(out, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

type catalogReader struct {
	strictReader
	vocabulary   *requirements.Vocabulary
	keys, values map[string]bool // of labels, checked and found sound
}

// root returns the list of instance types.
func (r *catalogReader) root(v *value) []*value {
	r.object = "catalog"
	if !v.isObject() {
		if v == nil {
			r.fault("", "it is empty; write a list of instance types, or [] for none")
		}
		return r.list("", v)
	}
	r.fields("", v, "instanceTypes")
	if v.get("instanceTypes") == nil {
		r.fault("", "there is no field instanceTypes; put the list of instance types there")
	}
	return r.list("instanceTypes", v.get("instanceTypes"))
}

func (r *catalogReader) instanceType(index int, v *value) *cloudprovider.InstanceType {
	before := len(r.errs)
	r.object = fmt.Sprintf("instance type %d of the list", index+1)
	if v == nil {
		r.fault("", "it is empty; remove it")
		return &cloudprovider.InstanceType{}
	}
	if name, _ := v.get("name").tokenOrNil().(string); name != "" {
		r.object = "instance type " + name
	}
	r.fields("", v, "name", "requirements", "capacity", "overhead", "volumeAttachmentLimits", "offerings")
	t := &cloudprovider.InstanceType{
		Name:         r.label("name", v.get("name")),
		Requirements: r.requirements("requirements", v.get("requirements")),
		Capacity:     r.quantities("capacity", v.get("capacity")),
		Overhead:     cloudprovider.Overhead{KubeReserved: r.quantities("overhead", v.get("overhead"))},
	}
	for driver, limit := range r.entries("volumeAttachmentLimits", v.get("volumeAttachmentLimits")) {
		if t.VolumeAttachmentLimits == nil {
			t.VolumeAttachmentLimits = map[string]int64{}
		}
		t.VolumeAttachmentLimits[driver] = int64(r.integer("volumeAttachmentLimits: "+driver, limit))
	}
	for i, o := range r.list("offerings", v.get("offerings")) {
		t.Offerings = append(t.Offerings, r.offering(fmt.Sprintf("offerings[%d]", i), o))
	}
	if len(r.errs) > before {
		// What is missing because it could not be read is no fault of its own.
		return t
	}
	r.complete(t)
	if err := t.Validate(); err != nil {
		r.errs = append(r.errs, unjoin(err)...)
	}
	slices.SortStableFunc(t.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(t.Name).Compare(b.Key(t.Name)) })
	return t
}

func (r *catalogReader) offering(path string, v *value) cloudprovider.Offering {
	if v == nil {
		r.fault(path, "it is empty; remove it")
		return cloudprovider.Offering{}
	}
	r.fields(path, v, "zone", "capacityType", "price", "nodeCost", "available", "reservationID", "reservationCapacity",
		"requirements", "capacity", "overhead", "id")
	path += "."
	o := cloudprovider.Offering{
		Zone:                r.label(path+"zone", v.get("zone")),
		CapacityType:        r.label(path+"capacityType", v.get("capacityType")),
		Price:               r.float(path+"price", v.get("price")),
		NodeCost:            r.float(path+"nodeCost", v.get("nodeCost")),
		Available:           r.boolean(path+"available", v.get("available"), true),
		ReservationID:       r.text(path+"reservationID", v.get("reservationID")),
		ReservationCapacity: r.integer(path+"reservationCapacity", v.get("reservationCapacity")),
		Requirements:        r.requirements(path+"requirements", v.get("requirements")),
		ID:                  r.text(path+"id", v.get("id")),
	}
	o.Capacity = r.override(path+"capacity", v.get("capacity"))
	o.Overhead = r.override(path+"overhead", v.get("overhead"))
	return o
}

// override returns the resources that an offering changes, or nil for none.
func (r *catalogReader) override(path string, v *value) *resources.List {
	list := r.quantities(path, v)
	if list.Len() == 0 {
		return nil
	}
	return &list
}

func (r *catalogReader) requirements(path string, v *value) requirements.Set {
	list := r.list(path, v)
	reqs := make([]requirements.Requirement, 0, len(list))
	for i, element := range list {
		reqs = append(reqs, r.requirement(fmt.Sprintf("%s[%d]", path, i), element))
	}
	return requirements.NewSet(reqs...)
}

func (r *catalogReader) requirement(path string, v *value) requirements.Requirement {
	before := len(r.errs)
	r.fields(path, v, "key", "operator", "values")
	key := r.vocabulary.NormalizeKey(r.text(path+".key", v.get("key")))
	operator := corev1.NodeSelectorOperator(r.text(path+".operator", v.get("operator")))
	values := r.texts(path+".values", v.get("values"))
	r.check(path+".key", key, r.keys, validation.IsQualifiedName)
	for i, value := range values {
		r.check(fmt.Sprintf("%s.values[%d]", path, i), value, r.values, validation.IsValidLabelValue)
		values[i] = r.vocabulary.NormalizeValue(key, value)
	}
	if len(r.errs) > before {
		return requirements.Requirement{}
	}
	req, err := requirements.New(key, operator, values...)
	for _, fault := range unjoin(err) {
		r.fault(path, "%v", fault)
	}
	return req
}

// label returns a string that becomes the value of a label.
func (r *catalogReader) label(path string, v *value) string {
	text := r.text(path, v)
	r.check(path, text, r.values, validation.IsValidLabelValue)
	return text
}

// check faults a label key or value that Kubernetes would not take. A catalog
// has the same few over and over, so those that were sound are remembered.
func (r *catalogReader) check(path, text string, sound map[string]bool, faultsOf func(string) []string) {
	if sound[text] {
		return
	}
	faults := faultsOf(text)
	for _, fault := range faults {
		r.fault(path, "%q: %s", text, fault)
	}
	sound[text] = len(faults) == 0
}

// complete adds requirements for the labels that a type does not name.
func (r *catalogReader) complete(t *cloudprovider.InstanceType) {
	var added []requirements.Requirement
	for _, key := range slices.Concat(v1.WellKnownLabels(), WellKnownLabels()) {
		if _, named := t.Requirements.Get(key); named {
			continue
		}
		switch key {
		case v1.NodePoolLabelKey, corev1.LabelTopologyRegion:
		case corev1.LabelArchStable:
			r.fault("requirements", "%s is not named; add {key: %s, operator: In, values: [amd64]}", key, key)
		case corev1.LabelOSStable:
			r.fault("requirements", "%s is not named; add {key: %s, operator: In, values: [linux]}", key, key)
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

// ofOfferings returns what a type can have of a label by its offerings: the
// values that they have, or none if they do not name it. Where some name it and
// others do not, or without values, it stays open.
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

// strictReader takes values apart and gathers everything that is not as it
// should be. Its methods are given the path of a value within the object being
// read; after a fault they return the zero value, and reading goes on. A null is
// taken as if the value were not there.
type strictReader struct {
	object string // what is being read, for the faults
	errs   []error
}

func (r *strictReader) fault(path, format string, args ...any) {
	text := r.object
	if path != "" {
		text += ": " + path
	}
	r.errs = append(r.errs, errors.New(text+": "+fmt.Sprintf(format, args...)))
}

// entries goes through an object in the order of the file. A field that is
// there twice is a fault.
func (r *strictReader) entries(path string, v *value) iter.Seq2[string, *value] {
	return func(yield func(string, *value) bool) {
		if v == nil {
			return
		}
		if !v.isObject() {
			r.fault(path, "%v is there; write an object", v)
			return
		}
		seen := make(map[string]bool, len(v.names))
		for i, name := range v.names {
			if seen[name] {
				r.fault(path, "the field %q is there twice; keep one", name)
			} else if !yield(name, v.values[i]) {
				return
			}
			seen[name] = true
		}
	}
}

// fields faults the fields of an object that are none of the known ones.
func (r *strictReader) fields(path string, v *value, known ...string) {
	for name := range r.entries(path, v) {
		if !slices.Contains(known, name) {
			r.fault(path, "unknown field %q; the fields are %s", name, strings.Join(known, ", "))
		}
	}
}

// list returns the elements of a list.
func (r *strictReader) list(path string, v *value) []*value {
	if v == nil {
		return nil
	}
	if !v.isList() {
		r.fault(path, "%v is there; write a list", v)
		return nil
	}
	return v.values
}

// text returns a string.
func (r *strictReader) text(path string, v *value) string {
	text, ok := v.tokenOrNil().(string)
	if !ok && v != nil {
		r.fault(path, "%v is not text; put it in quotes", v)
	}
	return text
}

// texts returns a list of strings.
func (r *strictReader) texts(path string, v *value) []string {
	list := r.list(path, v)
	out := make([]string, len(list))
	for i, element := range list {
		text, ok := element.tokenOrNil().(string)
		if !ok {
			r.fault(fmt.Sprintf("%s[%d]", path, i), "%v is not text; put it in quotes", element)
		}
		out[i] = text
	}
	return out
}

// float returns a number.
func (r *strictReader) float(path string, v *value) float64 {
	number, _ := v.tokenOrNil().(json.Number)
	out, err := strconv.ParseFloat(string(number), 64)
	if err != nil && v != nil {
		r.fault(path, "%v is not a number that can be used; write one as in 0.096", v)
		return 0
	}
	return out
}

// integer returns a whole number.
func (r *strictReader) integer(path string, v *value) int {
	number, _ := v.tokenOrNil().(json.Number)
	out, err := strconv.Atoi(string(number))
	if err != nil && v != nil {
		r.fault(path, "%v is not a whole number that can be used; write one as in 8", v)
		return 0
	}
	return out
}

// boolean returns true or false, and otherwise the default.
func (r *strictReader) boolean(path string, v *value, otherwise bool) bool {
	if v == nil {
		return otherwise
	}
	out, ok := v.token.(bool)
	if !ok {
		r.fault(path, "%v is neither true nor false; write one of them, without quotes", v)
	}
	return out
}

// quantities returns a list of resources.
func (r *strictReader) quantities(path string, v *value) resources.List {
	amounts := map[corev1.ResourceName]int64{}
	for name, amount := range r.entries(path, v) {
		text, ok := amount.tokenOrNil().(string)
		if number, isNumber := amount.tokenOrNil().(json.Number); isNumber {
			text, ok = string(number), true
		}
		// What Parse would take for a list of several is not one quantity.
		if !ok || strings.ContainsAny(name+text, ",=") {
			r.fault(path, "resource %s: %v is not a quantity; write one as in 500m, 2 or 8Gi", name, amount)
			continue
		}
		one, err := resources.Parse(name + "=" + text)
		if err != nil {
			r.fault(path, "%v", err)
		}
		for parsed, n := range one.All() {
			amounts[parsed] = n
		}
	}
	return resources.New(amounts)
}
