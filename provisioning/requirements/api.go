package requirements

import (
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// NodeSelectorRequirements writes the requirement for a NodePool or NodeClaim,
// without loss: FromRequirements reads back an Equal one. As an entry of the
// API has one operator only, several entries may be needed, whose conjunction
// is meant:
//
//   - In, NotIn, Exists and DoesNotExist give one entry with that operator;
//   - an interval gives Gte, Lte or both;
//   - values excluded from Exists or from an interval give a NotIn after it;
//   - what is Impossible gives Exists and DoesNotExist, which no label
//     satisfies and every validation lets pass.
//
// Each entry carries the minimum of values if there is one. The entries are the
// caller's own.
func (r Requirement) NodeSelectorRequirements() []v1.NodeSelectorRequirementWithMinValues {
	return r.appendEntries(nil)
}

// NodeSelectorRequirements writes the Set for a NodePool or NodeClaim: what
// Requirement.NodeSelectorRequirements gives for each key, in the order of the
// keys. FromRequirements reads back an Equal Set, unless a key in it is an alias
// that the reading Vocabulary replaces.
func (s Set) NodeSelectorRequirements() []v1.NodeSelectorRequirementWithMinValues {
	out := make([]v1.NodeSelectorRequirementWithMinValues, 0, len(s.reqs))
	for _, r := range s.reqs {
		out = r.appendEntries(out)
	}
	return out
}

func (r Requirement) appendEntries(
	out []v1.NodeSelectorRequirementWithMinValues,
) []v1.NodeSelectorRequirementWithMinValues {
	add := func(op corev1.NodeSelectorOperator, values ...string) {
		e := v1.NodeSelectorRequirementWithMinValues{Key: r.key, Operator: op, Values: values}
		if r.minValues > 0 {
			e.MinValues = new(r.minValues)
		}
		out = append(out, e)
	}
	exclude := len(r.values) > 0
	switch r.shape {
	case shapeOnly:
		switch {
		case len(r.values) > 0:
			add(corev1.NodeSelectorOpIn, slices.Clone(r.values)...)
		case r.present:
			add(corev1.NodeSelectorOpExists)
			add(corev1.NodeSelectorOpDoesNotExist)
		default:
			add(corev1.NodeSelectorOpDoesNotExist)
		}
		return out
	case shapeIntegers:
		// Every integer is within the bounds of int64; one bound must be
		// written even so, to tell them from Exists.
		if r.lo != math.MinInt64 || r.hi == math.MaxInt64 {
			add(v1.NodeSelectorOpGte, strconv.FormatInt(r.lo, 10))
		}
		if r.hi != math.MaxInt64 {
			add(v1.NodeSelectorOpLte, strconv.FormatInt(r.hi, 10))
		}
	default:
		if r.present {
			add(corev1.NodeSelectorOpExists)
		} else {
			exclude = true
		}
	}
	if exclude {
		add(corev1.NodeSelectorOpNotIn, slices.Clone(r.values)...)
	}
	return out
}
