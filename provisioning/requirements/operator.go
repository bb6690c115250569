package requirements

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// New returns the requirement that an operator of the Kubernetes or Karpenter
// API stands for: In (at least one value), NotIn (any number of values), Exists
// and DoesNotExist (no values), Gt, Gte, Lt and Lte (one value, an integer of
// at most 64 bits).
//
// Any other argument is an error that names the key, every fault and its remedy; the Requirement is
// then the zero value. Values that no label can have are accepted, and so is an interval without an
// integer, which is Impossible. Vocabulary.CheckRequirement reports these.
func New(key string, op corev1.NodeSelectorOperator, values ...string) (Requirement, error) {
	r, faults := build(key, op, values, goRules)
	if len(faults) == 0 {
		return r, nil
	}
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = fmt.Errorf("label %q: %s", key, f.detail)
	}
	return Requirement{}, errors.Join(errs...)
}

// rules are the differences between the sources of requirements.
type rules uint8

const (
	// goRules are those of New.
	goRules rules = iota
	// nodePoolRules are those of the karpenter.sh API, which ignores values that an operator does
	// not use.
	nodePoolRules
	// podRules are those by which kube-scheduler reads node affinity: no Gte and Lte, no empty
	// NotIn, and keys and values must be well-formed. A term that breaks a rule matches no node.
	podRules
)

// fault is one thing wrong with a requirement.
type fault struct {
	field  string // of the API type: key, operator or values
	value  any    // what it holds
	detail string // what is wrong, and the remedy
}

// build returns the requirement for an operator and its values, or every fault.
func build(key string, op corev1.NodeSelectorOperator, values []string, by rules) (Requirement, []fault) {
	var faults []fault
	blame := func(field string, value any, format string, args ...any) {
		faults = append(faults, fault{field, value, fmt.Sprintf(format, args...)})
	}
	if by == podRules {
		checkSyntax(key, values, blame)
	}
	var r Requirement
	switch op {
	case corev1.NodeSelectorOpIn:
		if len(values) == 0 {
			blame("values", values, "operator In needs at least one value; add one, or use DoesNotExist if the label must be absent")
		}
		r = In(key, values...)
	case corev1.NodeSelectorOpNotIn:
		if len(values) == 0 && by == podRules {
			blame("values", values, "operator NotIn needs at least one value; add one, or remove the requirement")
		}
		r = NotIn(key, values...)
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(values) != 0 && by != nodePoolRules {
			blame("values", values, "operator %s takes no values; remove them, or use In or NotIn", op)
		}
		r = Exists(key)
		if op == corev1.NodeSelectorOpDoesNotExist {
			r = DoesNotExist(key)
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, v1.NodeSelectorOpGte, v1.NodeSelectorOpLte:
		if by == podRules && (op == v1.NodeSelectorOpGte || op == v1.NodeSelectorOpLte) {
			blame("operator", op, "operator %s is not known to Kubernetes; use Gt or Lt with the next integer", op)
		}
		n, ok := int64(0), false
		if len(values) == 1 {
			n, ok = parseInteger(values[0])
		}
		if !ok {
			blame("values", values, "operator %s needs exactly one integer of at most 64 bits, found %s; write one such as \"4\"",
				op, listed(values))
		}
		r = bound(key, op, n)
	default:
		blame("operator", op, "operator %q is not known; use one of %s", op, operatorNames(by))
	}
	return r, faults
}

// checkSyntax blames keys and values that Kubernetes refuses as labels.
func checkSyntax(key string, values []string, blame func(string, any, string, ...any)) {
	if !validKey(key) {
		blame("key", key, "it is not a label key: %s", strings.Join(content.IsLabelKey(key), "; "))
	}
	for _, value := range values {
		if !validValue(value) {
			blame("values", values, "%q is not a label value: %s", value, strings.Join(content.IsLabelValue(value), "; "))
		}
	}
}

func bound(key string, op corev1.NodeSelectorOperator, n int64) Requirement {
	switch op {
	case corev1.NodeSelectorOpGt:
		return Gt(key, n)
	case corev1.NodeSelectorOpLt:
		return Lt(key, n)
	case v1.NodeSelectorOpGte:
		return Gte(key, n)
	default:
		return Lte(key, n)
	}
}

func operatorNames(by rules) string {
	if by == podRules {
		return "In, NotIn, Exists, DoesNotExist, Gt, Lt"
	}
	return "In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte"
}

// listed names the values in an error.
func listed(values []string) string {
	if len(values) == 0 {
		return "no value"
	}
	return fmt.Sprintf("%q", values)
}
