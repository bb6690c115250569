package v1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// requirementContext has the differences between the kinds in the rules for a requirement.
type requirementContext struct {
	nodePoolKey     bool     // karpenter.sh/nodepool may be the key
	nodeClassKeys   []string // labels that name a NodeClass and may be the key too
	notInNeedsValue bool
}

func (v *validator) requirements(path *field.Path, reqs []NodeSelectorRequirementWithMinValues, c requirementContext) {
	if reqs == nil {
		v.add(field.Required(path, "write an empty list, [], to admit every node"))
	}
	if len(reqs) > maxRequirements {
		v.add(field.TooMany(path, len(reqs), maxRequirements))
	}
	for i := range reqs {
		v.requirement(path.Index(i), &reqs[i], c)
	}
}

func (v *validator) requirement(path *field.Path, r *NodeSelectorRequirementWithMinValues, c requirementContext) {
	v.requirementKey(path.Child("key"), r.Key, c)
	v.operator(path, r, c)
	if !v.schemaOnly {
		for i, value := range r.Values {
			for _, msg := range validation.IsValidLabelValue(value) {
				v.add(field.Invalid(path.Child("values").Index(i), value, "not a label value: "+msg))
			}
		}
		v.knownValues(path.Child("values"), r)
	}
	v.minValues(path.Child("minValues"), r)
}

func (v *validator) requirementKey(path *field.Path, key string, c requirementContext) {
	if key == "" {
		v.add(field.Required(path, "a requirement needs a label key"))
		return
	}
	if len(key) > maxRequirementKey {
		v.add(field.TooLongMaxLength(path, key, maxRequirementKey))
	}
	v.name(path, key, "not a label key: ")
	if !slices.Contains(c.nodeClassKeys, key) {
		v.restrictedKey(path, key, c.nodePoolKey)
	}
}

// restrictedKey refuses keys that only the autoscaler, the provider or the kubelet may set. The
// schema refuses every first segment that merely ends in a restricted domain, as in
// notkarpenter.sh/x or a bare karpenter.sh; the run time refuses the domain and its subdomains. The
// rule of the schema includes that of the run time.
func (v *validator) restrictedKey(path *field.Path, key string, nodePoolKey bool) {
	switch key {
	case CapacityTypeLabelKey:
		return
	case NodePoolLabelKey:
		if !nodePoolKey {
			v.add(field.Forbidden(path, "the pool of a node is set for you; remove "+strconv.Quote(key)))
		}
		return
	case corev1.LabelHostname:
		v.add(field.Forbidden(path, "the host name of a new node cannot be known; remove "+strconv.Quote(key)))
		return
	}
	first, _, _ := strings.Cut(key, "/")
	if strings.HasSuffix(first, Group) {
		v.add(field.Forbidden(path, fmt.Sprintf("domains that end in %q are reserved, except for the key %q; use a domain of your own for %q",
			Group, CapacityTypeLabelKey, key)))
		return
	}
	if slices.Contains(v.rules.WellKnownLabels, key) {
		return
	}
	for _, restricted := range v.rules.RestrictedDomains {
		if strings.HasSuffix(first, restricted) {
			v.add(field.Forbidden(path, fmt.Sprintf("%q is not a label of the provider, and domains that end in %q are reserved; use a domain of your own",
				key, restricted)))
			return
		}
	}
}

// operator checks the operator together with the number of values.
func (v *validator) operator(path *field.Path, r *NodeSelectorRequirementWithMinValues, c requirementContext) {
	values := path.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(r.Values) == 0 {
			v.add(field.Required(values, "operator In needs at least one value"))
		}
	case corev1.NodeSelectorOpNotIn:
		if c.notInNeedsValue && len(r.Values) == 0 {
			v.add(field.Required(values, "operator NotIn needs at least one value; use Exists to ask for the label alone"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		// Values have no effect here, but are allowed.
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, NodeSelectorOpGte, NodeSelectorOpLte:
		v.oneInteger(values, r)
	case "":
		v.add(field.Required(path.Child("operator"), "use one of "+strings.Join(operatorNames(), ", ")))
	default:
		v.add(field.NotSupported(path.Child("operator"), r.Operator, operatorNames()))
	}
}

func operatorNames() []string {
	return []string{"DoesNotExist", "Exists", "Gt", "Gte", "In", "Lt", "Lte", "NotIn"}
}

func (v *validator) oneInteger(path *field.Path, r *NodeSelectorRequirementWithMinValues) {
	want := fmt.Sprintf("operator %s needs exactly one value, a whole number of 0 or more", r.Operator)
	if len(r.Values) != 1 {
		v.add(field.Invalid(path, slices.Clone(r.Values), want))
		return
	}
	if n, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil || n < 0 {
		v.add(field.Invalid(path.Index(0), r.Values[0], want))
	}
}

func (v *validator) minValues(path *field.Path, r *NodeSelectorRequirementWithMinValues) {
	if r.MinValues == nil {
		return
	}
	n := *r.MinValues
	if n < 1 || n > maxMinValues {
		v.add(field.Invalid(path, n, fmt.Sprintf("want 1 to %d", maxMinValues)))
	}
	if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) < n {
		v.add(field.Invalid(path, n, fmt.Sprintf("only %d values are listed; list more or lower minValues", len(r.Values))))
	}
}

// knownValues checks operator In on keys whose values are all known. Unknown values next to a known
// one do no harm.
func (v *validator) knownValues(path *field.Path, r *NodeSelectorRequirementWithMinValues) {
	known := v.knownValuesOf(r.Key)
	if len(known) == 0 || r.Operator != corev1.NodeSelectorOpIn || len(r.Values) == 0 {
		return
	}
	n := 0
	for _, value := range r.Values {
		if slices.Contains(known, value) {
			n++
		}
	}
	list := strings.Join(known, ", ")
	switch {
	case n == 0:
		v.add(field.Invalid(path, slices.Clone(r.Values), fmt.Sprintf("%s knows none of these values; use %s", r.Key, list)))
	case r.MinValues != nil && n < *r.MinValues && len(r.Values) >= *r.MinValues:
		v.add(field.Invalid(path, slices.Clone(r.Values),
			fmt.Sprintf("minValues asks for %d, but %s knows only %d of these values; use %s", *r.MinValues, r.Key, n, list)))
	}
}

func (v *validator) knownValuesOf(key string) []string {
	var known []string
	if key == CapacityTypeLabelKey {
		known = CapacityTypes()
	}
	known = append(known, v.rules.KnownValues[key]...)
	slices.Sort(known)
	return slices.Compact(known)
}
