package requirements

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nodeNameField is the only field of a node that a pod may select.
const nodeNameField = "metadata.name"

// Pod has the requirements of a pod on the labels and the name of its node.
type Pod struct {
	// Alternatives are ORed: a node must satisfy one of them. They are in the
	// order of the pod's node selector terms, each with the pod's nodeSelector
	// already in it. Without any, no node will do.
	Alternatives []Alternative

	// Preferences are the pod's preferred terms, in the order of the pod. The score of a node is
	// the sum of the weights of the preferences that it satisfies.
	Preferences []Preference
}

// Alternative is a conjunction: of labels, and of node names if NodeNames is
// set.
type Alternative struct {
	// Set has the requirements on labels.
	Set Set

	// NodeNames is the requirement on the name of the node, with the key metadata.name; nil admits
	// every name. Treat it as read-only.
	NodeNames *Requirement
}

// Intersect returns the alternative that admits the nodes that both admit.
func (a Alternative) Intersect(b Alternative) Alternative {
	out := Alternative{Set: a.Set.Intersect(b.Set), NodeNames: a.NodeNames}
	switch {
	case a.NodeNames == nil:
		out.NodeNames = b.NodeNames
	case b.NodeNames != nil:
		names := a.NodeNames.Intersect(*b.NodeNames)
		out.NodeNames = &names
	}
	return out
}

// Preference is an Alternative that is worth something.
type Preference struct {
	// Weight is worth 1 to 100.
	Weight int32
	// Alternative has the requirements of the preference, without the pod's nodeSelector.
	Alternative
}

// FromPod returns the requirements of a pod on its node, as kube-scheduler reads them:
//
//   - without required node affinity there is one alternative, the
//     nodeSelector (which admits everything if it is empty);
//   - with it, each term gives one alternative: the nodeSelector combined with the
//     matchExpressions and matchFields of the term. A term that has neither matches no node and
//     gives no alternative, so that a selector without terms, or with empty ones only, leaves no
//     alternative at all;
//   - each preferred term gives one preference. Terms of weight zero and empty terms give none,
//     because they do not change the score.
//
// The spec.nodeName of the pod is ignored.
//
// Keys and values are normalised by v, nil meaning DefaultVocabulary. The error names the pod and
// joins a *field.Error for every fault. The Pod is still valid then: as in kube-scheduler, a
// required term with a fault matches no node and gives no alternative, and a preferred term with a
// fault is left out. A nil pod is an error, and has no alternative.
func FromPod(pod *corev1.Pod, v *Vocabulary) (Pod, error) {
	if pod == nil {
		return Pod{}, errors.New("requirements: the Pod is nil")
	}
	base := fromNodeSelector(pod.Spec.NodeSelector, v)
	var affinity *corev1.NodeAffinity
	if pod.Spec.Affinity != nil {
		affinity = pod.Spec.Affinity.NodeAffinity
	}
	if affinity == nil {
		return Pod{Alternatives: []Alternative{{Set: base}}}, nil
	}
	path := field.NewPath("spec", "affinity", "nodeAffinity")
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	alternatives, errs := fromSelector(required, path.Child("requiredDuringSchedulingIgnoredDuringExecution"), v)
	for i := range alternatives {
		alternatives[i].Set = base.Intersect(alternatives[i].Set)
	}
	out := Pod{Alternatives: alternatives}
	path = path.Child("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		preferred := &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i]
		if preferred.Weight == 0 || isEmpty(&preferred.Preference) {
			continue
		}
		term, faults := fromTerm(&preferred.Preference, path.Index(i).Child("preference"), v)
		errs = append(errs, faults...)
		if len(faults) == 0 {
			out.Preferences = append(out.Preferences, Preference{Weight: preferred.Weight, Alternative: term})
		}
	}
	if len(errs) > 0 {
		return out, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, errors.Join(errs...))
	}
	return out, nil
}

// fromNodeSelector reads the map form of a selector. Unlike FromLabels it is a
// conjunction: two names of one label must both be satisfied.
func fromNodeSelector(selector map[string]string, v *Vocabulary) Set {
	reqs := make([]Requirement, 0, len(selector))
	for name, value := range selector {
		key := v.NormalizeKey(name)
		reqs = append(reqs, In(key, v.NormalizeValue(key, value)))
	}
	return NewSet(reqs...)
}

// FromNodeSelector returns the alternatives of a node selector, such as the node affinity of a
// persistent volume, by the rules given at FromPod for the required terms of a pod. A nil selector
// gives one alternative that admits everything.
//
// The error joins a *field.Error for every fault. The alternatives are then
// those of the terms without fault.
func FromNodeSelector(selector *corev1.NodeSelector, v *Vocabulary) ([]Alternative, error) {
	out, errs := fromSelector(selector, nil, v)
	return out, errors.Join(errs...)
}

func fromSelector(selector *corev1.NodeSelector, path *field.Path, v *Vocabulary) ([]Alternative, []error) {
	if selector == nil {
		return []Alternative{{}}, nil
	}
	path = path.Child("nodeSelectorTerms")
	var out []Alternative
	var errs []error
	for i := range selector.NodeSelectorTerms {
		term := &selector.NodeSelectorTerms[i]
		if isEmpty(term) {
			continue
		}
		alternative, faults := fromTerm(term, path.Index(i), v)
		errs = append(errs, faults...)
		if len(faults) == 0 {
			out = append(out, alternative)
		}
	}
	return out, errs
}

func isEmpty(term *corev1.NodeSelectorTerm) bool {
	return len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0
}

func fromTerm(term *corev1.NodeSelectorTerm, path *field.Path, v *Vocabulary) (Alternative, []error) {
	reqs, errs := fromExpressions(term.MatchExpressions, path.Child("matchExpressions"), v)
	names, faults := fromFields(term.MatchFields, path.Child("matchFields"))
	errs = append(errs, faults...)
	if len(errs) > 0 {
		return Alternative{}, errs
	}
	return Alternative{Set: NewSet(reqs...), NodeNames: names}, nil
}

// fromFields reads matchFields, of which Kubernetes admits one kind only.
func fromFields(fields []corev1.NodeSelectorRequirement, path *field.Path) (*Requirement, []error) {
	if len(fields) == 0 {
		return nil, nil
	}
	names := NotIn(nodeNameField)
	var errs []error
	for i, f := range fields {
		at := path.Index(i)
		if f.Key != nodeNameField {
			errs = append(errs, field.Invalid(at.Child("key"), f.Key,
				"no node can be selected by this field; use metadata.name"))
		}
		if len(f.Values) != 1 {
			errs = append(errs, badValues(at.Child("values"), f.Values,
				fmt.Sprintf("field %q: exactly one value is needed; use a term for each", f.Key)))
		}
		switch f.Operator {
		case corev1.NodeSelectorOpIn:
			names = names.Intersect(In(nodeNameField, f.Values...))
		case corev1.NodeSelectorOpNotIn:
			names = names.Intersect(NotIn(nodeNameField, f.Values...))
		default:
			errs = append(errs, field.Invalid(at.Child("operator"), f.Operator,
				fmt.Sprintf("field %q: the operator is not known; use In or NotIn", f.Key)))
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return &names, nil
}
