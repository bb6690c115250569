package requirements

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// FromLabels returns the Set that describes labels as they are: an In with one
// value for each. Together with EmptyVocabulary in Compatible it describes a
// node that exists.
//
// Keys and values are normalised by v, nil meaning DefaultVocabulary. If one
// label is there under several names, the value under its proper key counts,
// or else the value under the alias that is first in byte order.
func FromLabels(labels map[string]string, v *Vocabulary) Set {
	if len(labels) == 0 {
		return Set{}
	}
	type label struct{ key, name, value string }
	found := make([]label, 0, len(labels))
	for name, value := range labels {
		found = append(found, label{v.NormalizeKey(name), name, value})
	}
	slices.SortFunc(found, func(a, b label) int {
		return cmp.Or(
			cmp.Compare(a.key, b.key),
			-order.Bools(a.name == a.key, b.name == b.key),
			cmp.Compare(a.name, b.name),
		)
	})
	reqs := make([]Requirement, 0, len(found))
	for _, l := range found {
		if n := len(reqs); n == 0 || reqs[n-1].key != l.key {
			reqs = append(reqs, In(l.key, v.NormalizeValue(l.key, l.value)))
		}
	}
	return Set{reqs: reqs}
}

// FromNodeSelectorRequirements returns the conjunction of requirements of the node affinity of a
// pod or volume, by the rules of kube-scheduler: the operators are In, NotIn, Exists, DoesNotExist,
// Gt and Lt, In and NotIn need values, and keys and values must be well-formed. Without
// requirements the result is the empty Set, which admits everything. (A selector term without
// requirements matches nothing; FromNodeSelector applies that rule.)
//
// Keys and values are normalised by v, nil meaning DefaultVocabulary. The error
// joins a *field.Error for every fault, with paths such as [0].values; the Set
// is then empty.
func FromNodeSelectorRequirements(reqs []corev1.NodeSelectorRequirement, v *Vocabulary) (Set, error) {
	out, errs := fromExpressions(reqs, nil, v)
	if len(errs) > 0 {
		return Set{}, errors.Join(errs...)
	}
	return NewSet(out...), nil
}

func fromExpressions(reqs []corev1.NodeSelectorRequirement, path *field.Path, v *Vocabulary) ([]Requirement, []error) {
	out := make([]Requirement, 0, len(reqs))
	var errs []error
	for i, r := range reqs {
		built, faults := fromEntry(entry{r.Key, r.Operator, r.Values}, podRules, path, i, v)
		out = append(out, built)
		errs = append(errs, faults...)
	}
	return out, errs
}

// FromRequirements returns the conjunction of the requirements of a NodePool or NodeClaim, each
// with its MinValues. The operators are those of New; superfluous values of an operator are
// ignored, as in Karpenter. A MinValues of zero means no minimum.
//
// Keys and values are normalised by v, nil meaning DefaultVocabulary. The error
// joins a *field.Error for every fault, with paths such as [0].values; the Set
// is then empty.
func FromRequirements(reqs []v1.NodeSelectorRequirementWithMinValues, v *Vocabulary) (Set, error) {
	out, errs := fromRequirements(reqs, nil, v)
	if len(errs) > 0 {
		return Set{}, errors.Join(errs...)
	}
	return NewSet(out...), nil
}

func fromRequirements(
	reqs []v1.NodeSelectorRequirementWithMinValues, path *field.Path, v *Vocabulary,
) ([]Requirement, []error) {
	out := make([]Requirement, 0, len(reqs))
	var errs []error
	for i, r := range reqs {
		built, faults := fromEntry(entry{r.Key, r.Operator, r.Values}, nodePoolRules, path, i, v)
		errs = append(errs, faults...)
		if r.MinValues != nil {
			if *r.MinValues < 0 {
				errs = append(errs, field.Invalid(path.Index(i).Child("minValues"), *r.MinValues,
					fmt.Sprintf("label %q: it must not be negative; remove it or use a number from 1 to 50", r.Key)))
			}
			built = built.WithMinValues(*r.MinValues)
		}
		out = append(out, built)
	}
	return out, errs
}

// entry has the fields that the requirement types of the two APIs share.
type entry struct {
	key      string
	operator corev1.NodeSelectorOperator
	values   []string
}

// fromEntry normalises and builds one requirement. Its faults are put at the
// index of path; the path is only spelled out if there are any.
func fromEntry(e entry, by rules, path *field.Path, index int, v *Vocabulary) (Requirement, []error) {
	key := v.NormalizeKey(e.key)
	r, faults := build(key, e.operator, v.normalizeValues(key, e.values), by)
	if len(faults) == 0 {
		return r, nil
	}
	errs := make([]error, len(faults))
	for i, f := range faults {
		at, detail := path.Index(index).Child(f.field), fmt.Sprintf("label %q: %s", e.key, f.detail)
		if values, ok := f.value.([]string); ok {
			errs[i] = badValues(at, values, detail)
		} else {
			errs[i] = field.Invalid(at, f.value, detail)
		}
	}
	return Requirement{}, errs
}

// badValues returns field.Invalid, or field.Required if there are no values to show.
func badValues(path *field.Path, values []string, detail string) *field.Error {
	if len(values) == 0 {
		return field.Required(path, detail)
	}
	return field.Invalid(path, values, detail)
}

// FromNodePool returns the requirements that every node of a pool satisfies: the labels of the
// template, the requirements of the template, the label karpenter.sh/nodepool with the name of the
// pool, and the label of the NodeClass (group, slash, kind in lower case) with the name of the
// NodeClass, if the pool refers to one. Where they contradict each other the Set is Impossible,
// which is not an error.
//
// Keys and values are normalised by v, nil meaning DefaultVocabulary. The error
// names the pool and joins a *field.Error for every fault; the Set is then
// empty. A nil pool is an error.
func FromNodePool(pool *v1.NodePool, v *Vocabulary) (Set, error) {
	if pool == nil {
		return Set{}, errors.New("requirements: the NodePool is nil")
	}
	template := &pool.Spec.Template
	reqs, errs := fromRequirements(template.Spec.Requirements, field.NewPath("spec", "template", "spec", "requirements"), v)
	if len(errs) > 0 {
		return Set{}, fmt.Errorf("NodePool %q: %w", pool.Name, errors.Join(errs...))
	}
	reqs = append(reqs, In(v1.NodePoolLabelKey, pool.Name))
	reqs = appendNodeClass(reqs, template.Spec.NodeClassRef)
	return FromLabels(template.Labels, v).With(reqs...), nil
}

// FromNodeClaim returns the requirements that the node of a claim satisfies: the labels and the
// requirements of the claim, and the label of its NodeClass as in FromNodePool. The labels of a
// claim become labels of the node, so they decide values that its requirements leave open.
//
// Normalisation and errors are as in FromNodePool.
func FromNodeClaim(claim *v1.NodeClaim, v *Vocabulary) (Set, error) {
	if claim == nil {
		return Set{}, errors.New("requirements: the NodeClaim is nil")
	}
	reqs, errs := fromRequirements(claim.Spec.Requirements, field.NewPath("spec", "requirements"), v)
	if len(errs) > 0 {
		return Set{}, fmt.Errorf("NodeClaim %q: %w", claim.Name, errors.Join(errs...))
	}
	reqs = appendNodeClass(reqs, claim.Spec.NodeClassRef)
	return FromLabels(claim.Labels, v).With(reqs...), nil
}

func appendNodeClass(reqs []Requirement, ref *v1.NodeClassReference) []Requirement {
	if ref == nil {
		return reqs
	}
	return append(reqs, In(v1.NodeClassLabelKey(ref.GroupKind()), ref.Name))
}
